"""A real model reads what a real run found: the wire from end to end, never its quality."""

import json

import pytest
from click.testing import CliRunner

from memruler.cli.answer import command
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.scoring.answer_load import load_items
from memruler.store.folder import RunFolder

pytest.importorskip("openai", reason="needs memruler[llm]")
pytestmark = pytest.mark.slow


def test_a_real_model_answers_and_the_second_call_asks_nobody(real_chat_url, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    settings = {"instances": 1, "queries": 3, "limit": 5}
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan_run(PlanSpec(corpus="synthetic", settings=settings)), folder, lambda *_: None)
    words = [str(tmp_path / "r"), "--reader", "llm", "--endpoint", real_chat_url]
    words += ["--model", "smollm2", "-k", "3", "--seed", "1", "--max-tokens", "24", "--json"]
    words += ["--parallel", "1", "--timeout", "600", "--extra-body", '{"cache_prompt": false}']

    def call(*more):
        result = CliRunner().invoke(command, [*words, *more], catch_exceptions=False)
        return json.loads(result.stdout)

    first = call()
    assert first["counts"]["answered"] + first["counts"]["empty"] == 3
    assert first["counts"]["answered"] > 0
    assert (first["usage"]["requests"], first["usage"]["uncounted"]) == (3, 0)
    assert first["usage"]["prompt_tokens"] > 300
    assert first["reader"]["served"]
    table = tmp_path / "r" / "answers" / "smollm2" / "answers.parquet"
    before = table.read_bytes()
    again = call()
    assert (again["usage"]["requests"], again["usage"]["reused"]) == (0, 3)
    assert table.read_bytes() == before
    assert again["usage_total"] == first["usage_total"]
    # Asked anew, greedy decoding without the server's prompt cache says the same.
    fresh = call("--draw", "fresh", "--name", "fresh")
    assert fresh["usage"]["requests"] == 3
    run = RunFolder.open(tmp_path / "r")
    said = [[item.response for item in load_items(run, name)] for name in ("smollm2", "fresh")]
    assert said[0] == said[1]
