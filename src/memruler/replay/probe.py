"""Measures whether a system is deterministic: some instances again, in another process.

A second replay in the same process proves little: order by hash seed, by memory address or by
state left behind is the same there. So a new process with another hash seed opens the corpus and
the system from the words that a person typed, replays instances in fresh stores, asks one by one
even where the run asked in batches, and leaves its rankings in a file. It asks for no answers.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from memruler.errors import MemrulerError
from memruler.model.corpus import Instance
from memruler.model.run import ItemRecord, TraceRecord
from memruler.model.system import Namespace
from memruler.replay.instance import replay_instance
from memruler.replay.namespaces import fresh_name, noted, placed
from memruler.replay.plan import Plan, PlanSpec, plan_run
from memruler.replay.timeline import instance_clock
from memruler.store.safe import make_dir, read_bytes, remove_tree, write_atomic

__all__ = ["ProbeFailed", "Seen", "replay_again", "replay_elsewhere", "seen"]

_RESULT = "again.json"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One ranking in a form that two stores can be held against each other by.

    Neither a system's ids nor row numbers will do: a store may issue ids at random, and rows of
    an unexported lineage are numbered by the rankings themselves.

    Attributes:
        query: Position of the query.
        hits: Digest of origin and text, and score, of each hit, best first.
        error: Of a failed search.
    """

    query: int
    hits: tuple[tuple[str, float | None], ...]
    error: str | None


def seen(items: Sequence[ItemRecord], traces: Sequence[TraceRecord]) -> tuple[Seen, ...]:
    """The rankings of one instance, in query order."""
    named = [
        hashlib.sha256(msgspec.json.encode((i.sessions, i.turns, i.text))).hexdigest()[:16]
        for i in items
    ]
    return tuple(
        Seen(
            query=trace.query,
            hits=tuple(
                (named[row], score) for row, score in zip(trace.items, trace.scores, strict=True)
            ),
            error=trace.error,
        )
        for trace in traces
    )


_Found = dict[int, tuple[Seen, ...]]


class ProbeFailed(Exception):  # noqa: N818 - it is told as a warning, not raised to a person
    """The second process could not do what the first did; its last line says why."""


class _Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the second process is told."""

    spec: PlanSpec
    clock: datetime
    instances: tuple[int, ...]
    folder: str


def replay_again(
    plan: Plan, instances: Sequence[Instance], clock: datetime, folder: Path
) -> _Found:
    """Replay instances in this process; position to their rankings.

    Args:
        plan: What the run does.
        instances: Those to be replayed.
        clock: The run's.
        folder: Where stores may be made; removed afterwards.
    """
    found: _Found = {}
    # Answers are not compared: only rankings are, and an answer may cost money.
    settings = msgspec.structs.replace(plan.settings, one_by_one=True, answers=False, keep=False)
    for instance in instances:
        store = folder / f"{instance.position:06d}"
        make_dir(store)
        space = Namespace(fresh_name(instance.position), store)
        try:
            with noted(plan.spec, space, folder) as note:
                result = replay_instance(
                    plan.system,
                    space,
                    instance,
                    queries=instance.queries[: settings.queries],
                    clock=instance_clock(instance, settings.timeline, clock),
                    settings=settings,
                    tick=lambda *_: None,
                )
                note.stays = result.left is not None
        finally:
            remove_tree(store)
        found[instance.position] = seen(result.items, result.traces)
    return found


def replay_elsewhere(
    spec: PlanSpec, positions: Sequence[int], clock: datetime, folder: Path
) -> _Found:
    """The same in another process with another hash seed.

    Raises:
        ProbeFailed: It failed.
    """
    task = _Task(spec=spec, clock=clock, instances=tuple(positions), folder=str(folder))
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        try:
            _tell(process, task)
            code = process.wait()
        finally:
            process.kill()
            process.communicate()
        if code != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise ProbeFailed(lines[-1] if lines else f"exit {code}")
    return msgspec.json.decode(read_bytes(folder / _RESULT), type=_Found)


def _tell(process: subprocess.Popen[bytes], task: _Task) -> None:
    if process.stdin is None:
        raise ProbeFailed("no pipe to the second process")
    # The pipe stays open until it is done: its end tells the child that nobody waits.
    with suppress(BrokenPipeError):
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        process.stdin.flush()


def _serve(line: bytes) -> None:
    task = msgspec.json.decode(line, type=_Task)
    spec = task.spec
    plan = plan_run(spec)
    wanted = set(task.instances)
    folder = Path(task.folder)
    found: _Found = {}
    with placed(plan.system, folder / "server", folder / "logs"):
        for instance in plan.corpus:
            if instance.position in wanted:
                found |= replay_again(plan, [instance], task.clock, folder)
                wanted.discard(instance.position)
            if not wanted:
                break
    write_atomic(folder / _RESULT, msgspec.json.encode(found))


def _leave_with_parent() -> None:
    # Nothing else ever comes through the pipe: reading ends when the first process does. Not
    # through sys.stdin, whose lock a daemon thread must not hold when the interpreter ends.
    os.read(0, 1)
    os._exit(1)


def _main() -> int:
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        _serve(line)
    except MemrulerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
