"""`memruler systems list`, whatever other packages declare."""

import json
import os
import subprocess
import sys

import pytest

PACKAGES = {
    "sound": ("fine = sound_code:Fine", "class Fine:\n    pass\n"),
    "raises": ("raises = raises_code:X", "raise SystemExit(9)\n"),
    "nowhere": ("nowhere = not a place at all!", ""),
    "taken": ("mem0 = taken_code:X", "X = 1\n"),
}


@pytest.fixture
def call(tmp_path):
    """Calls memruler where these packages are installed."""
    for name, (line, code) in PACKAGES.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[memruler.systems]\n{line}\n")
        (tmp_path / f"{name}_code.py").write_text(code)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "memruler", *arguments],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_broken_plug_in_is_told_once_and_the_rest_is_listed(call):
    done = call("systems", "list")
    assert done.returncode == 0
    assert "fine" in done.stdout
    assert "builtin:lexical" in done.stdout
    assert "recipe:server-memory" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if "nowhere" in line]
    assert len(told) == 1


def test_no_plug_in_breaks_the_help(call):
    done = call("--help")
    assert (done.returncode, done.stderr) == (0, "")
    done = call("systems", "--help")
    assert (done.returncode, done.stderr) == (0, "")


def test_one_that_leaves_while_it_is_imported_is_an_error_of_its_own(call, tmp_path):
    done = call("retrieval", "synthetic", "--system", "raises", "--out", str(tmp_path / "runs"))
    assert done.returncode in {2, 3}  # not its own 9
    assert "SystemExit" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_names_as_json(call):
    found = json.loads(call("systems", "list", "--json").stdout)
    names = [one["name"] for one in found]
    assert len(names) == len(set(names))
    assert {"builtin:hybrid", "chroma", "mem0", "fine", "recipe:supermemory"} <= set(names)
