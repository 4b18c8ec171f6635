import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from click.testing import CliRunner

from memruler.cli.gate import command

_spec = spec_from_file_location(
    "run_folders", Path(__file__).parents[1] / "compare" / "conftest.py"
)
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run = _folders.make_run
CHANGE = {"system.settings.decay_rate": 0.0}


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def program(*arguments, verb="gate"):
    return subprocess.run(
        [sys.executable, "-m", "memruler", verb, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def files(tmp_path):
    def build(wins, ties, losses, *, meta=None, column="score", ids="{}"):
        labels = [(0, 1)] * wins + [(1, 1)] * ties + [(1, 0)] * losses
        paths = tmp_path / "base.csv", tmp_path / "cand.jsonl"
        rows = [f'"{ids.format(i)}",{left}' for i, (left, _) in enumerate(labels)]
        paths[0].write_text("\n".join([f'id,"{column}"', *rows]), encoding="utf-8")
        rows = [
            json.dumps({"id": ids.format(i), column: right}) for i, (_, right) in enumerate(labels)
        ]
        paths[1].write_text("\n".join(rows), encoding="utf-8")
        for path, side in zip(paths, meta or (), strict=False):
            beside = path.with_name(f"{path.name}.meta.json")
            beside.write_text(json.dumps(side), encoding="utf-8")
        return paths

    return build


@pytest.mark.parametrize(
    ("row", "more", "code", "start"),
    [
        ((40, 440, 20), [], 0, "PASS  score +0.0400, 95 % +0.0100 to +0.0700"),
        ((40, 440, 20), ["--min-delta", "2pp"], 5, "UNRESOLVED  score +0.0400"),
        ((40, 440, 20), ["--min-delta", "0.02"], 5, "UNRESOLVED  score +0.0400"),
        ((40, 440, 20), ["--min-delta", "8pp"], 1, "FAIL  score +0.0400"),
        ((20, 440, 40), [], 1, "FAIL  score -0.0400, 95 % -0.0700 to -0.0100"),
        ((20, 440, 40), ["--min-delta", "-8pp"], 0, "PASS  score -0.0400"),
        ((6, 52, 2), [], 5, "UNRESOLVED  score +0.0667, 95 % -0.0167 to +0.1667"),
    ],
)
def test_exit_codes(files, row, more, code, start):
    found = call(*files(*row), "--metric", "score", *more)
    assert (found.exit_code, found.stderr) == (code, "")
    assert found.stdout.startswith(start)


def test_both_whys(files):
    sides = files(6, 52, 2)
    assert "more items or clusters" in " ".join(call(*sides).stdout.split())
    assert "noise_floor" in call(*sides, "--band", "10pp", "--json").stdout
    assert "under_powered" in call(*sides, "--band", "6pp", "--json").stdout


def test_json(files):
    found = call(*files(6, 52, 2), "--json", "--min-delta", "2pp", "--band", "0.05")
    assert found.exit_code == 5
    plain = json.loads(found.stdout)
    assert (plain["outcome"], plain["why"]) == ("unresolved", "under_powered")
    assert (plain["threshold"], plain["band"], plain["interval"]["clusters"]) == (0.02, 0.05, 60)
    assert plain["interval"]["method"] == "exact"
    assert plain["interval"]["resamples"] is plain["interval"]["seed"] is None
    assert plain["schema_version"] == 1


def test_exact_files(files):
    exact = {"deterministic": True}
    sides = files(3, 96, 1, meta=(exact, exact))
    assert call(*sides).stdout.startswith("PASS  score +0.0200 (exact)")
    assert call(*sides, "--min-delta", "2pp").exit_code == 1
    done = program(*sides, "--band", "4pp")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("memruler: refused: both sides are deterministic")


def test_a_refusal(files):
    sides = files(6, 52, 2, meta=({"axis": "accuracy"}, {"axis": "retrieval"}))
    found = call(*sides, "--changed", "axis")
    assert (found.exit_code, found.stdout) == (4, "")
    assert found.stderr.startswith("refused: base.csv and cand.jsonl do not compare")
    plain = json.loads(call(*sides, "--json").stdout)
    assert [reason["code"] for reason in plain["reasons"]] == ["ruler"]


def test_a_declared_change(files):
    sides = files(40, 440, 20, meta=({"reader": "r1"}, {"reader": "r2"}))
    assert call(*sides).exit_code == 4
    found = call(*sides, "--changed", "reader")
    assert found.exit_code == 0
    assert 'reader: "r1" -> "r2"' in found.stdout


def test_runs(make_run):
    queries = _folders.QUERIES_A
    better = (*queries[:3], queries[3]._replace(session="x...."), queries[4])
    runs = make_run("base"), make_run("cand", better, changes=CHANGE)
    assert call(*runs).exit_code == 4
    found = call(*runs, "--changed", "decay_rate")
    assert found.exit_code == 0
    assert found.stdout.startswith("PASS  session:recall_all@5 +0.2500 (exact)")
    assert call(*reversed(runs), "--changed", "decay_rate").exit_code == 1
    assert call(*runs, "--changed", "decay_rate", "--metric", "turn:mrr@1").exit_code == 1
    draws = [make_run(s, fields={"determinism": None}) for s in ("one", "other")]
    assert call(*draws, "--cluster", "conversation").exit_code == 5


@pytest.mark.parametrize(
    "more",
    [
        ["--metric", "scor"],
        ["--cluster", "nothing"],
        ["--changed", "nothing"],
        ["--min-delta", "2%"],
        ["--min-delta", "nan"],
        ["--min-delta", "inf"],
        ["--min-delta", "pp"],
        ["--band", "-1pp"],
        ["--band", ""],
        ["--resamples", "999"],
        ["--seed", "-1"],
    ],
)
def test_a_wrong_call_through_the_whole_program(files, more):
    done = program(*files(6, 52, 2), *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


@pytest.mark.parametrize(
    "content",
    [b"", b"id,score\n", b"\xff", b"id,score\n1,\0\n", b"id,score\n1,nan\n", b"id\n1,2\n"],
)
def test_a_file_that_cannot_be_read(files, content):
    base, candidate = files(6, 52, 2)
    base.write_bytes(content)
    done = program(base, candidate)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_one_item(files):
    done = program(*files(1, 0, 0))
    assert done.returncode == 4
    assert "1 items in 1 cluster" in done.stderr


def test_hostile_ids_and_columns(files):
    evil = "\x1b[2J\u202e[red]x[/red]\x07:smile:" + "w" * 90
    sides = files(6, 52, 2, column=evil, ids=evil + "{}")
    for done in (program(*sides), program(sides[0], sides[1], "--metric", "x" + evil)):
        assert all(c.isprintable() or c == "\n" for c in done.stdout + done.stderr)
        assert all(len(line) <= 80 for line in done.stdout.splitlines())
    sides[1].write_text(sides[1].read_text(encoding="utf-8").replace(":smile:", ":s:"))
    done = program(*sides, "--metric", evil)
    assert all(c.isprintable() or c == "\n" for c in done.stdout + done.stderr)


def test_the_help_imports_nothing_heavy():
    source = (
        "import sys; from memruler.cli.{} import command\n"
        "try: command.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {{'numpy', 'pyarrow', 'rich', 'jinja2'}} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    for verb in ("gate", "band"):
        done = subprocess.run(
            [sys.executable, "-c", source.format(verb)], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
