import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.repeats import command
from memruler.compare.repeats import Repeats
from memruler.report.schemas import schema

HEAD = "id,repeat,correct,top,error\n"
BASE = f"{HEAD}q1,1,1,s1 s4,\nq1,2,0,s1 s4,\nq1,3,1,s1 s4,\nq2,1,0,s2,\nq2,2,0,s2,\nq2,3,,,down\n"
CANDIDATE = (
    {"id": "q1", "repeat": 1, "correct": True, "top": ["s1", "s4"]},
    {"id": "q1", "repeat": 2, "correct": True, "top": "s1 s4"},
    {"id": "q2", "repeat": 1, "correct": False, "top": []},
)


@pytest.fixture
def files(tmp_path):
    base, candidate = tmp_path / "base.csv", tmp_path / "cand.jsonl"
    base.write_text(BASE, encoding="utf-8")
    candidate.write_text("\n".join(map(json.dumps, CANDIDATE)), encoding="utf-8")
    return base, candidate


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_one_file(files):
    found = call(files[0])
    assert found.exit_code == 0, found.exception
    assert found.stdout.startswith("correct 0.5000 (1/2)\nfile  base.csv\n")
    assert "flip rate                0.5000 (1/2)" in found.stdout


def test_two_files(files):
    found = call(*files)
    assert found.exit_code == 0, found.exception
    assert found.stdout.startswith("correct 0, 95 % 0 to 0 over 2 of 2 items\n")
    assert max(map(len, found.stdout.splitlines())) <= 80


@pytest.mark.parametrize("sides", [1, 2])
def test_json_fits_its_schema_and_reads_back(files, sides):
    found = call(*files[:sides], "--json")
    assert found.exit_code == 0, found.exception
    jsonschema.validate(
        json.loads(found.stdout),
        json.loads(schema("repeats.schema.json")),
        cls=jsonschema.Draft202012Validator,
    )
    record = msgspec.json.decode(found.stdout, type=Repeats)
    assert (record.side is None, record.pair is None) == (sides == 2, sides == 1)


def test_a_refusal(files):
    for path, reader in zip(files, ("r1", "r2"), strict=True):
        Path(f"{path}.meta.json").write_text(json.dumps({"reader": reader}), encoding="utf-8")
    found = call(*files)
    assert (found.exit_code, found.stdout) == (4, "")
    assert "--changed reader" in found.stderr
    plain = json.loads(call(*files, "--json").stdout)
    assert [reason["code"] for reason in plain["reasons"]] == ["undeclared"]
    assert call(*files, "--changed", "reader").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["base.csv", "--label", "top"], "a meaning of its own"),
        (["base.csv", "--label", "x"], "it has correct"),
        (["none.csv"], "no such file"),
        (["."], "a folder has no repeats"),
        (["bad.csv"], "bad.csv:2"),
    ],
    ids=str,
)
def test_a_wrong_call_is_one_line(files, arguments, message):
    folder = files[0].parent
    (folder / "bad.csv").write_text("id,correct\n1,2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "memruler", "repeats", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
