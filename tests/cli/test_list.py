import json

import pytest
from click.testing import CliRunner

from memruler.cli.list import command, human_size
from memruler.corpora.cached import cached_path
from memruler.corpora.pins import pins


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))


def run(*arguments):
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


def test_every_corpus_has_a_row_that_fits_80_columns():
    lines = run().splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[1 : len(pins()) + 1]] == list(pins())
    locomo = next(line for line in lines if line.startswith("locomo "))
    assert locomo.split() == ["locomo", "3eb6f2c5", "2.8", "MB", "CC-BY-NC-4.0", "upstream", "no"]


def test_it_tells_what_is_there():
    for name, file in [
        ("locomo", "locomo10.json"),
        ("longmemeval-s", "longmemeval_s_cleaned.json.part"),
    ]:
        cached_path(name).parent.mkdir(parents=True)
        (cached_path(name).parent / file).write_bytes(b"[]")
    lines = run().splitlines()
    assert next(line for line in lines if line.startswith("locomo ")).endswith(" to check")
    assert next(line for line in lines if line.startswith("longmemeval-s ")).endswith(" in part")
    assert max(map(len, lines)) <= 80


def test_json():
    rows = json.loads(run("--json"))
    assert [row["name"] for row in rows] == list(pins())
    by_name = {row["name"]: row for row in rows}
    assert by_name["locomo"]["size"] == 2805274
    assert by_name["locomo"]["sha256"] == pins()["locomo"].sha256
    assert by_name["locomo"]["state"] == "absent"
    assert by_name["locomo"]["path"] is None
    assert by_name["jsonl"]["state"] is None
    assert by_name["synthetic"]["tier"] == "bundled"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (2805274, "2.8 MB"),
        (277383467, "277.4 MB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2_745_274_681, "2.7 GB"),
    ],
)
def test_sizes_for_people(count, text):
    assert human_size(count) == text
