"""A real model, small, as the judge: it proves the wire and not the verdicts."""

import json

import pytest
from click.testing import CliRunner

from memruler.cli import answer, grade, judge, retrieval

pytest.importorskip("openai", reason="needs memruler[llm]")


def call(verb, *arguments):
    done = CliRunner().invoke(verb.command, [str(a) for a in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.slow
def test_a_real_model_grades_and_is_calibrated(real_chat_url, tmp_path):
    corpus = ["synthetic", "--instances", 1, "--queries", 6, "--out", tmp_path, "--stem", "r"]
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
    assert manifest["usage"]["requests"] == manifest["counts"]["items"] == 6
    assert manifest["usage"]["prompt_tokens"] > 600
    whole = json.loads(before["summary.json"])["slices"][0]
    assert whole["scored"] + sum(whole["unscored"].values()) == 6
    # All of it again, out of what is kept.
    assert call(grade, run, "--grader", "answer:memruler", *asked).exit_code == 0
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    done = call(judge, "calibrate", run, "-n", 3, *asked, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == (3 if found["blind"] else 0)
    assert sum(row["probes"] for row in found["rows"] if row["style"] is None) > 9
    assert found["judge"]["served"]
