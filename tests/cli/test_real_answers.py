"""From a run to grades with a real model over the real protocol: the wire, never the quality."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("openai", reason="needs memruler[llm]")
pytestmark = pytest.mark.slow

QUERIES = 2
SENT = ["--seed", "1", "--extra-body", '{"cache_prompt": false}', "--timeout", "600"]


def _memruler(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "memruler", *map(str, words)],
        cwd=folder,
        env={**os.environ, "MEMRULER_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_reads_and_judges(tmp_path, real_chat_url):
    words = ["--instances", 1, "--queries", QUERIES, "--stem", "run"]
    _memruler(tmp_path, "retrieval", "synthetic", *words)
    reader = ["--endpoint", real_chat_url, "--model", "smollm2", "-k", 2, *SENT]
    answer = ["answer", "runs/run", "--reader", "llm", *reader, "--json"]
    first = json.loads(_memruler(tmp_path, *answer))
    assert first["counts"]["queries"] == QUERIES
    assert first["counts"]["answered"] + first["counts"]["empty"] == QUERIES
    assert first["usage"]["requests"] == QUERIES
    assert first["usage"]["prompt_tokens"] > 0
    assert first["reader"]["kind"] == "openai-chat"
    assert first["reader"]["served"] == "SmolLM2-135M-Instruct.Q4_1.gguf"

    # The same again is paid for by nobody, and gives the same bytes.
    again = json.loads(_memruler(tmp_path, *answer))
    assert (again["usage"]["requests"], again["usage"]["reused"]) == (0, QUERIES)
    assert again["tables"] == first["tables"]

    judge = [word.replace("--", "--judge-", 1) if word.startswith("--") else word for word in SENT]
    judge += ["--judge-endpoint", real_chat_url, "--judge-model", "smollm2"]
    grade = ["grade", "runs/run", "--grader", "answer:memruler", *judge, "--json"]
    found = json.loads(_memruler(tmp_path, *grade))
    text = json.dumps(found)
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in text
    assert "answer:memruler" in text
    assert str(tmp_path) not in text
    (folder,) = (tmp_path / "runs/run/answers").glob("*/grades/*")
    manifest = json.loads((folder / "manifest.json").read_text())
    # A small model may reply without a label; then the answer is unscored, with the reason.
    assert manifest["counts"]["items"] == QUERIES
    assert sum(manifest["counts"].values()) == 2 * QUERIES
    assert manifest["usage"]["requests"] == QUERIES
