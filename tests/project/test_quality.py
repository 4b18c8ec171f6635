"""The one test command checks style, types and the layers too."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = {
    "ruff check": ["check", "."],
    "ruff format": ["format", "--check", "."],
    "mypy": [],
    # A cache of its own: both may run at once.
    "mypy benchmarks": ["--cache-dir", ".mypy_cache/benchmarks", "benchmarks"],
    "lint-imports": [],
}


@pytest.mark.parametrize("name", TOOLS)
def test_tool_finds_nothing(name):
    program = name.split()[0]
    # Beside the running Python, never from PATH: the versions are those of this environment.
    found = shutil.which(program, path=str(Path(sys.executable).parent))
    assert found, f"{program} is not installed; it belongs to the dev extra"
    done = subprocess.run(
        [found, *TOOLS[name]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
