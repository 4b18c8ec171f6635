"""Determinism is measured where order by hash seed or by process can show."""

import os
import subprocess
import sys
import textwrap

import pytest

from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.folder import RunFolder

SETTINGS = {"limit": 20, "instances": 2, "queries": 12}

SYSTEM = """
from memruler.model.system import Hit, Ranking, SystemIdentity


class Mine:
    def identity(self):
        return SystemIdentity(name="mine", version="1", digest="")

    def open(self, namespace):
        return Store()


class Store:
    def __init__(self):
        self.kept = {}

    def ingest(self, session):
        self.kept.update((turn.key, turn.text) for turn in session.turns)

    def settle(self):
        pass

    def search(self, text, k, at):
        return Ranking(tuple(self.hits(text)[:k]))

    def hits(self, text):
        ORDER

    def close(self):
        pass
"""


def measured(tmp_path, order, extra=""):
    file = tmp_path / "mine.py"
    body = textwrap.indent(textwrap.dedent(order).strip(), " " * 8).strip()
    file.write_text(SYSTEM.replace("ORDER", body) + extra, encoding="utf-8")
    plan = plan_run(PlanSpec(corpus="synthetic", system=f"{file}:Mine", settings=SETTINGS))
    with RunFolder.claim(tmp_path / "runs", "r") as folder:
        return measure(plan, folder, lambda *_: None)


STEADY = "return [Hit(item=key, sources=(key,)) for key in sorted(self.kept)]"


def test_a_steady_system_is_the_same_in_another_process(tmp_path):
    found = measured(tmp_path, STEADY)
    assert found.determinism.other_process
    assert found.determinism.identical == found.determinism.queries == 24
    assert found.determinism.of == 24
    assert found.warnings == ()


def test_order_by_hash_is_found_out(tmp_path):
    found = measured(tmp_path, "return [Hit(item=k, sources=(k,)) for k in set(self.kept)]")
    assert found.determinism.identical < found.determinism.queries
    assert "not deterministic" in found.warnings[0]


def test_a_batch_that_differs_from_one_by_one_is_found_out(tmp_path):
    batch = """
    def search_many(self, requests):
        return [Ranking(tuple(reversed(self.hits(r.text)))[: r.k]) for r in requests]
"""
    found = measured(tmp_path, STEADY, batch)
    assert found.determinism.identical == 0


def test_a_system_that_fails_the_second_time_leaves_determinism_unmeasured(tmp_path):
    marker = tmp_path / "been"
    order = f"""
        import pathlib
        been = pathlib.Path({str(marker)!r})
        if namespace_is_again(been, self):
            raise RuntimeError("only once")
        {STEADY}
    """
    extra = """

_PROCESS = __import__("os").getpid()


def namespace_is_again(been, store):
    if not been.exists():
        been.write_text(str(_PROCESS))
    return been.read_text() != str(_PROCESS)
"""
    found = measured(tmp_path, order, extra)
    # Every search of the second process fails, and none of them is a ranking of the first.
    assert found.determinism is None or found.determinism.identical == 0
    assert found.warnings


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and processes of POSIX")
def test_the_second_process_leaves_with_the_first():
    child = subprocess.Popen(
        [sys.executable, "-c", _WAITS],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.stdin.close()
    assert child.wait(timeout=60) == 1


_WAITS = """
import sys, threading, time
from memruler.replay.probe import _leave_with_parent
sys.stdin.buffer.readline()
threading.Thread(target=_leave_with_parent, daemon=True).start()
time.sleep(600)
"""
