"""The benchmarks' scales; never how long anything takes."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs a Unix kernel's counters")


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("measure")


def test_peak_memory_is_the_childs():
    # From a small process: a child's peak starts at its parent's, and a test runner is large.
    code = f"""
import sys
sys.path.insert(0, {str(BENCHMARKS)!r})
from measure import cost
print(*(cost([sys.executable, "-c", f"x = bytearray({{size}} << 20)"]).peak for size in (0, 300)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    small, large = map(float, done.stdout.split())
    assert 250 < large - small < 350


def test_processor_time_counts_what_a_child_started(measure):
    busy = "sum(i * i for i in range(3_000_000))"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}], check=True)"
    idle = measure.cost([sys.executable, "-c", "import subprocess"])
    assert measure.cost([sys.executable, "-c", code]).cpu > idle.cpu


def test_a_failing_program_stops_the_benchmark(measure):
    with pytest.raises(SystemExit, match=r"ended with 3:\nbecause"):
        measure.cost([sys.executable, "-c", "print('because'); raise SystemExit(3)"])


def test_environment_is_added_to(measure, tmp_path):
    code = "import os; assert os.environ['ADDED'] == 'x' and os.environ['PATH']"
    measure.cost([sys.executable, "-c", code], env={"ADDED": "x"}, cwd=tmp_path)


def test_table_is_aligned(measure):
    assert measure.table(["a", "long"], [["123", "4"]]) == (
        "|   a | long |\n| --- | ---- |\n| 123 |    4 |"
    )
