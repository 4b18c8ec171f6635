"""Completion: the scripts, what they are told, and that a shell need not wait for numpy."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from memruler.cli.completing import SYSTEM_NAMES
from memruler.cli.main import VERBS
from memruler.systems.builtin.settings import PRESETS
from memruler.systems.derived.settings import NAME as DERIVED

PROGRAM = [sys.executable, "-m", "memruler"]
HEAVY = ("numpy", "pyarrow", "rich", "jinja2", "httpx2", "sqlite3")
PROBE = """
import sys
from memruler.cli.main import main
try:
    main([])
except SystemExit:
    pass
print(*(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""


def complete(*words, cwd):
    """What bash would be told after these words, the last one unfinished."""
    env = {
        **os.environ,
        "_MEMRULER_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["memruler", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(heavy=HEAVY)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""  # nothing heavy was imported
    return [tuple(line.split(",", 1)) for line in done.stdout.splitlines() if line]


@pytest.fixture
def folder(tmp_path):
    for name in ("base", "base-2", "other", "bad name", "$(touch x)", "no-run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        if name != "no-run":
            (tmp_path / "runs" / name / "manifest.json").write_text("{}")
    return tmp_path


def test_verbs_and_options(folder):
    assert [value for _, value in complete("", cwd=folder)] == list(VERBS)
    assert complete("comple", cwd=folder) == [("plain", "completion")]
    assert ("plain", "--shared") in complete("compare", "--sh", cwd=folder)
    assert complete("completion", "z", cwd=folder) == [("plain", "zsh")]
    assert ("plain", "replies") in complete("cache", "re", cwd=folder)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["retrieval", "synth"], ["synthetic"]),
        (["retrieval", "loc"], ["locomo"]),
        (["fetch", "synth"], []),
        (["fetch", "loc"], ["locomo"]),
        (["canary", "jso"], ["jsonl"]),
        (["time", "builtin:le"], ["builtin:lexical"]),
        (
            ["retrieval", "synthetic", "--system", "builtin:de"],
            ["builtin:dense", "builtin:derived"],
        ),
        (["retrieval", "synthetic", "--stem", "ba"], ["base", "base-2"]),
        (["score", "ru"], ["runs/base", "runs/base-2", "runs/other"]),
        (["compare", "runs/base", "runs/o"], ["runs/other"]),
        (["compare", "runs/b"], ["runs/base", "runs/base-2"]),
        (["grade", "runs/base-"], ["runs/base-2"]),
    ],
    ids=" ".join,
)
def test_names(folder, words, found):
    assert complete(*words, cwd=folder) == [("plain", name) for name in found]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["score", "else"], "file"),
        (["retrieval", "synthetic", "--system", "my"], "file"),
        (["sweep", "spec"], "file"),
    ],
    ids=" ".join,
)
def test_what_else_is_left_to_the_shell(folder, words, kind):
    ((found, _),) = complete(*words, cwd=folder)
    assert found == kind


def test_a_folder_without_runs(tmp_path):
    assert complete("score", "runs/", cwd=tmp_path)[0][0] == "file"
    assert complete("retrieval", "synthetic", "--stem", "", cwd=tmp_path) == []


def test_the_names_of_systems_are_all_there():
    assert set(SYSTEM_NAMES) == {*(f"builtin:{preset}" for preset in PRESETS), DERIVED}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_that_shell(shell):
    plain = subprocess.run(
        [*PROGRAM, "completion", shell], capture_output=True, text=True, check=True
    ).stdout
    assert f"_MEMRULER_COMPLETE={shell}_complete" in plain
    as_json = subprocess.run(
        [*PROGRAM, "completion", shell, "--json"], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(as_json)["script"].strip() == plain.strip()
    found = shutil.which(shell)
    if found is not None:
        flag = "--no-execute" if shell == "fish" else "-n"
        subprocess.run([found, flag], input=plain, text=True, check=True)


def test_another_shell_is_refused():
    done = subprocess.run(
        [*PROGRAM, "completion", "tcsh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_a_real_bash(folder):
    """The function that the script defines fills COMPREPLY, and runs nothing from a name."""
    own = folder / "bin" / "memruler"
    own.parent.mkdir()
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memruler "$@"\n')
    own.chmod(0o755)
    script = (
        'eval "$(memruler completion bash)"\n'
        "COMP_WORDS=(memruler compare runs/ba); COMP_CWORD=2\n"
        "_memruler_completion memruler\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [shutil.which("bash"), "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["runs/base", "runs/base-2"], done.stderr
    assert not (folder / "x").exists()
