"""The benchmarks' scales; never how long anything takes."""

import importlib
import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs a Unix kernel's counters")


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("measure")


def test_peak_memory_is_the_childs(measure):
    small = measure.cost([sys.executable, "-c", ""])
    large = measure.cost([sys.executable, "-c", "x = bytearray(300 * 2**20)"])
    assert large.peak - small.peak > 200
    assert large.peak < 300 + small.peak + 50


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
