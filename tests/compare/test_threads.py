"""A comparison leaves no thread behind: one that still runs when the program ends aborts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")

PROGRAM = """
import os, sys
from pathlib import Path
import pyarrow.parquet
from memruler.compare.load import load
def threads():
    return len(os.listdir("/proc/self/task"))
before = threads()
load(Path(sys.argv[1]), "run")
assert threads() == before, (before, threads())
"""


@pytest.mark.skipif(not TASKS.is_dir(), reason="needs /proc to count threads")
def test_reading_a_run_starts_no_thread(make_run):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(make_run("base"))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
