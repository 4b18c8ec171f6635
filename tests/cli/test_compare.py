import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from click.testing import CliRunner

from memruler.cli.compare import command

_spec = spec_from_file_location(
    "run_folders", Path(__file__).parents[1] / "compare" / "conftest.py"
)
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run = _folders.make_run
CHANGE = {"system.settings.decay_rate": 0.0}


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def pair(make_run):
    better = (*_folders.QUERIES_A[:3], _folders.QUERIES_A[3]._replace(session="x...."))
    return make_run("base"), make_run("cand", (*better, _folders.QUERIES_A[4]), changes=CHANGE)


@pytest.mark.parametrize("swap", [False, True])
def test_better_and_worse_both_end_with_nought(pair, swap):
    found = call(*(reversed(pair) if swap else pair), "--changed", "decay_rate")
    assert found.exit_code == 0
    assert found.stdout.startswith("WORSE" if swap else "BETTER")
    assert found.stderr == ""


def test_json(pair):
    found = call(*pair, "--changed", "decay_rate", "--json")
    assert found.exit_code == 0
    plain = json.loads(found.stdout)
    assert (plain["outcome"], plain["verdict"]) == ("compared", "better")
    assert plain["headline"]["delta"] == 0.25


def test_a_refusal_goes_to_stderr_with_four(pair):
    found = call(*pair)
    assert found.exit_code == 4
    assert found.stdout == ""
    assert found.stderr.startswith("refused:")
    assert "--changed system.settings.decay_rate" in " ".join(found.stderr.split())


def test_a_refusal_as_json_goes_to_stdout_with_four(pair):
    found = call(*pair, "--json", "-k", "1,9")
    assert found.exit_code == 4
    plain = json.loads(found.stdout)
    assert (plain["outcome"], plain["verdict"]) == ("refused", "incomparable")
    assert [reason["code"] for reason in plain["reasons"]] == ["undeclared", "cutoff"]


def test_choices_reach_the_comparison(pair):
    found = call(
        *pair, "--changed", "system", "-k", "1,3", "--level", "turn", "--metric", "mrr@3", "--json"
    )
    plain = json.loads(found.stdout)
    assert {(d["level"], d["k"]) for d in plain["deltas"]} == {("turn", 1), ("turn", 3)}
    assert (plain["headline"]["metric"], plain["headline"]["level"]) == ("mrr", "turn")


def test_common_is_understood(pair):
    assert call(*pair, "--changed", "system", "-k", "common").exit_code == 0


@pytest.fixture
def uneven(make_run):
    """Two runs that do not count the same queries at 3 and 5."""
    short = (*_folders.QUERIES_A[:3], _folders.QUERIES_A[3]._replace(session=".."))
    return make_run("base"), make_run("cand", (*short, _folders.QUERIES_A[4]), changes=CHANGE)


def test_a_refusal_points_to_shared_queries_and_these_then_compare(uneven):
    plain = call(*uneven, "--changed", "system")
    assert plain.exit_code == 4
    assert "--shared" in plain.stderr
    found = call(*uneven, "--changed", "system", "--shared")
    assert found.exit_code == 0
    assert found.stdout.startswith("UNCHANGED (shared queries only)  recall_all@5")


def test_a_verdict_that_hangs_on_silence_ends_with_four(make_run):
    queries = _folders.QUERIES_A
    silent = (*queries[:2], queries[2]._replace(session="x."), *queries[3:])
    runs = make_run("base"), make_run("cand", silent, changes=CHANGE)
    found = call(*runs, "--changed", "system", "--shared", "--json")
    assert found.exit_code == 4
    plain = json.loads(found.stdout)
    assert [reason["code"] for reason in plain["reasons"]] == ["shared_and_floor_disagree"]
    assert call(*runs, "--changed", "system", "--shared", "-k", "1").exit_code == 0


def test_the_page_is_written(pair, tmp_path):
    page = tmp_path / "page.md"
    found = call(*pair, "--changed", "system", "--markdown", page)
    assert found.exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("# `base` against `cand`")


def test_a_refusal_writes_no_page(pair, tmp_path):
    assert call(*pair, "--markdown", tmp_path / "page.md").exit_code == 4
    assert not (tmp_path / "page.md").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-k", "x"],
        ["--metric", "recal_all@5"],
        ["--changed", "nonsense"],
        ["--shared", "-k", "common"],
    ],
)
def test_a_wrong_call_through_the_whole_program(pair, arguments):
    program = "from memruler.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "compare", *map(str, pair), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("memruler: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_what_cannot_be_encoded_becomes_an_escape(make_run):
    foreign = tuple(q._replace(text="caf\u00e9 \u65e5\u672c") for q in _folders.QUERIES_A)
    moved = (*foreign[:3], foreign[3]._replace(session="x...."), foreign[4])
    runs = make_run("base", foreign), make_run("cand", moved, changes=CHANGE)
    done = subprocess.run(
        [sys.executable, "-m", "memruler", "compare", *map(str, runs), "--changed", "system"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"caf\xe9 \u65e5\u672c" in done.stdout


def test_the_help_imports_nothing_heavy():
    program = (
        "import sys; from memruler.cli.compare import command\n"
        "try: command.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'rich', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
