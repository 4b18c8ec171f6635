"""Kill -9 at random moments, resume, and compare bytes with a run that was left alone."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

TABLES = ("queries", "lineage", "trace", "scores")
IDENTICAL = (*(f"{table}.parquet" for table in TABLES), "summary.json")


def start(out, stem):
    words = ["retrieval", "synthetic", "--out", str(out), "--stem", stem, "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "memruler", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
@pytest.mark.parametrize(
    "kills", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_killed_at_random_points_the_result_is_the_same(tmp_path, kills):
    begun = time.monotonic()
    finish(start(tmp_path, "whole"))
    took = time.monotonic() - begun
    rng = random.Random(kills)
    killed = 0
    for attempt in range(kills):
        stem = f"cut{attempt}"
        for _ in range(rng.randint(1, 3)):
            process = start(tmp_path, stem)
            try:
                process.wait(timeout=rng.uniform(0.2, 1.0) * took)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed += 1
            process.communicate()
        if not (tmp_path / stem / "report.json").exists():
            finish(start(tmp_path, stem))
        for name in IDENTICAL:
            whole, cut = (tmp_path / s / name for s in ("whole", stem))
            assert whole.read_bytes() == cut.read_bytes(), (attempt, name)
        left = {path.name for path in (tmp_path / stem).iterdir()}
        assert left == {path.name for path in (tmp_path / "whole").iterdir()}
    assert killed, "no run was long enough to be killed"
