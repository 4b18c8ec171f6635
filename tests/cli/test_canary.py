import json

import numpy as np
import pytest
from click.testing import CliRunner

from memruler.cli.canary import command
from memruler.metrics import vectorised


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_the_bundled_corpus_is_seen():
    found = call("--json", "--instances", 2, "--assume-noise", 0.1)
    assert found.exit_code == 0, found.stderr
    plain = json.loads(found.stdout)
    assert plain["outcome"] == "sees"
    assert plain["corpus"]["name"] == "synthetic"
    assert all(check["seen"] for check in plain["checks"])
    assert plain["planted"]["zero"] == plain["planted"]["queries"] == 5
    assert plain["levels"][0]["smallest"] == {"basis": "one-query", "effect": 0.05, "counted": 20}
    assert plain["noisy"]["basis"] == "simulated"


def test_a_page_fits_80_columns():
    found = call("--instances", 1)
    assert found.exit_code == 0
    assert found.stdout.startswith("SEES")
    assert "Synthetic: generated" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_blind_ruler_ends_with_three(monkeypatch, form):
    blind = {**vectorised._FORMULAS, "recall_all": lambda w: np.ones(len(w.gold))}
    monkeypatch.setattr(vectorised, "_FORMULAS", blind)
    found = call("--instances", 1, *form)
    assert found.exit_code == 3
    if form:
        assert json.loads(found.stdout)["outcome"] == "blind"
    else:
        assert found.stdout.startswith("BLIND")
        assert "session: gold out of sight" in " ".join(found.stdout.split())
        assert max(map(len, found.stdout.splitlines())) <= 80


@pytest.mark.parametrize("extra", [["synthetic"], ["--limit", 5], ["--system", "builtin:lexical"]])
def test_a_finished_run_is_not_measured_again(tmp_path, extra):
    found = call("--run", tmp_path, *extra)
    assert "has no meaning beside it" in str(found.exception)


def test_a_finished_run(tmp_path):
    from memruler.cli.retrieval import command as retrieval  # noqa: PLC0415 - a run to ask about

    made = CliRunner().invoke(
        retrieval, ["synthetic", "--instances", "1", "--out", str(tmp_path), "--stem", "a"]
    )
    assert made.exit_code == 0
    found = call("--run", tmp_path / "a", "--json")
    assert found.exit_code == 0, found.exception
    plain = json.loads(found.stdout)
    assert plain["planted"] is None
    assert plain["outcome"] == "sees"
