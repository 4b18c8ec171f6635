"""A real model, small, as the judge: it proves the wire and not the verdicts."""

import json

import pytest
from click.testing import CliRunner

from memruler.cli import answer, grade, judge, retrieval
from memruler.errors import InstrumentError

pytest.importorskip("openai", reason="needs memruler[llm]")


def call(verb, *arguments):
    done = CliRunner().invoke(verb.command, [str(a) for a in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.slow
def test_a_real_model_grades_and_is_calibrated(real_chat_url, tmp_path):
    corpus = ["synthetic", "--instances", 1, "--queries", 3, "--out", tmp_path, "--stem", "r"]
    assert call(retrieval, *corpus).exit_code == 0
    run = tmp_path / "r"
    assert call(answer, run, "-k", 3).exit_code == 0
    options = {"endpoint": real_chat_url, "model": "smollm2", "seed": 1}
    options |= {"extra-body": '{"cache_prompt": false}', "parallel": 1}
    asked = [part for name, value in options.items() for part in (f"--judge-{name}", value)]
    done = call(grade, run, "--grader", "answer:memruler", *asked)
    assert done.exit_code == 0, done.output
    folder = run / "answers" / "extractive" / "grades" / "answer-memruler-smollm2"
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    manifest = json.loads(before["manifest.json"])
    assert manifest["usage"]["requests"] == manifest["counts"]["items"] == 3
    assert manifest["usage"]["prompt_tokens"] > 300
    whole = json.loads(before["summary.json"])["slices"][0]
    assert whole["scored"] + sum(whole["unscored"].values()) == 3
    # All of it again, out of what is kept.
    assert call(grade, run, "--grader", "answer:memruler", *asked).exit_code == 0
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    # This model does not keep to the labels: then it is no judge, and that is what is said.
    words = [str(a) for a in ("calibrate", run, "-n", 1, *asked, "--json")]
    done = CliRunner().invoke(judge.command, words)
    if isinstance(done.exception, InstrumentError):
        assert "no verdict on any of" in str(done.exception)
    else:
        found = json.loads(done.stdout)
        assert done.exit_code == (3 if found["blind"] else 0)
        assert found["judge"]["served"]
