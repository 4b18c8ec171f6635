import json

import pytest
from click.testing import CliRunner

from memruler.cli.band import command
from memruler.cli.gate import command as gate


def call(*arguments, verb=command):
    return CliRunner().invoke(verb, [str(a) for a in arguments])


@pytest.fixture
def files(tmp_path):
    def build(wins, ties, losses, meta=None):
        labels = [(0, 1)] * wins + [(1, 1)] * ties + [(1, 0)] * losses
        paths = tmp_path / "one.csv", tmp_path / "other.csv"
        for side, path in enumerate(paths):
            rows = [f"{i},{pair[side]},c{i // 10}" for i, pair in enumerate(labels)]
            path.write_text("\n".join(["id,score,conv", *rows]), encoding="utf-8")
            if meta is not None:
                beside = path.with_name(f"{path.name}.meta.json")
                beside.write_text(json.dumps(meta[side]), encoding="utf-8")
        return paths

    return build


def test_the_wider_side(files):
    for row in ((6, 52, 2), (2, 52, 6)):
        found = call(*files(*row))
        assert (found.exit_code, found.stderr) == (0, "")
        assert found.stdout.startswith("band 0.1667  score ")


def test_what_it_says_next_works(files):
    sides = files(6, 52, 2)
    last = call(*sides).stdout.splitlines()[-1].split()
    assert last[:3] == ["next", "memruler", "gate"]
    found = call(*sides, *last[5:], "--json", verb=gate)
    assert found.exit_code == 5
    plain = json.loads(found.stdout)
    assert (plain["band"], plain["why"]) == (0.1667, "noise_floor")


def test_json(files):
    found = call(*files(6, 52, 2), "--json", "--cluster", "conv", "--metric", "score")
    plain = json.loads(found.stdout)
    assert plain["band"] == max(-plain["interval"]["low"], plain["interval"]["high"])
    assert (plain["cluster"], plain["interval"]["clusters"]) == ("conv", 6)


def test_a_band_is_of_one_configuration(files):
    sides = files(6, 52, 2, ({"reader": "r1"}, {"reader": "r2"}))
    found = call(*sides)
    assert (found.exit_code, found.stdout) == (4, "")
    assert "--changed" not in found.stderr
    plain = json.loads(call(*sides, "--json").stdout)
    assert [reason["code"] for reason in plain["reasons"]] == ["undeclared"]


def test_a_fact_has_none(files):
    found = call(*files(6, 52, 2, ({"deterministic": True},) * 2))
    assert found.exit_code != 0
    assert "no noise, and no band" in str(found.exception)


def test_shared(files):
    sides = files(6, 52, 2)
    text = sides[1].read_text(encoding="utf-8").replace("\n0,1,", "\n0,,")
    sides[1].write_text(text, encoding="utf-8")
    assert call(*sides).exit_code == 4
    found = call(*sides, "--shared")
    assert found.exit_code == 0
    assert "shared items only: 1" in " ".join(found.stdout.split())
