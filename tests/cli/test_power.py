import json

import pytest
from click.testing import CliRunner

from memruler.cli.power import command
from memruler.cli.retrieval import command as retrieval


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for stem, setting in (("a", "text.speaker=true"), ("b", "text.speaker=false")):
        made = CliRunner().invoke(
            retrieval, ["synthetic", "--out", str(root), "--stem", stem, "--set", setting]
        )
        assert made.exit_code == 0
    return root / "a", root / "b"


def test_deterministic_runs(pair):
    found = call(*pair, "--effect", "2pp")
    assert found.exit_code == 0
    assert found.stdout.startswith("smallest effect 2.5 pp  one query of the 40")
    assert "2 pp needs 50 queries" in found.stdout


@pytest.mark.parametrize("more", [[], ["--cluster", "conversation"], ["--metric", "ndcg@5"]])
def test_as_a_sample(pair, more):
    found = call(*pair, "--effect", "5pp", "--sample", "--simulations", 200, *more)
    assert found.exit_code == 0, found.exception
    assert "5 pp needs" in found.stdout
    assert "false alarms" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80


def test_json(pair):
    found = call(*pair, "--effect", "0.05", "--sample", "--simulations", 200, "--json")
    plain = json.loads(found.stdout)
    assert plain["effect"] == 0.05
    assert plain["smallest"]["basis"] == "simulated"
    assert plain["needed"]["at"]["power"] >= 0.8


@pytest.mark.parametrize("effect", ["2%", "two", "", "pp"])
def test_an_effect_that_cannot_be_read(pair, effect):
    found = call(*pair, "--effect", effect)
    assert found.exit_code == 2
    assert "is no size" in found.stderr


def test_two_sides(pair):
    assert "both sides are the same" in str(call(pair[0], pair[0]).exception)
