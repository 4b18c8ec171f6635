"""The process that the system under check runs in: whatever happens to it, the card is written.

It is told what to do in one line on standard input, and tells what it finds line by line through
a pipe. The input stays open; its end means that nobody waits any more.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from memruler.errors import InstrumentError, MemrulerError
from memruler.model.card import CardIdentity, Probe, Spoken
from memruler.model.system import SystemIdentity
from memruler.plugins import class_name, described
from memruler.studies.check.connections import Watch
from memruler.studies.check.families import family
from memruler.studies.check.question import Family
from memruler.studies.check.repeating import Seen, rankings
from memruler.studies.check.subject import Subject

__all__ = ["RANKINGS", "Event", "Task", "work"]

RANKINGS = "rankings"
"""Stands among the families for a look at the rankings of one store, to be held against another
process's."""

_LINES = 8


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is told.

    Attributes:
        system, assignments: As a person typed them.
        root: A folder of this check.
        part: Which worker of the check it is; each has a folder of its own in `root`.
        seed: Hexadecimal; makes the words that stand nowhere else.
        families: Names, in order.
    """

    system: str
    assignments: tuple[str, ...]
    root: str
    part: int
    seed: str
    families: tuple[str, ...]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker tells.

    Attributes:
        kind: `identity`, then for each family `begin`, a `probe` for each question and `end`;
            `rankings`; `failed` where the system cannot be opened; `done` at the end.
        family: Name of it.
        identity, probe, seen: Of the kinds that have one.
        peers: So far, whom the process spoke to; None where nobody watches.
        left: Namespaces of which it cannot be said that they are gone.
        error: Name of the class, what, where and hint, of an error that ends the check.
    """

    kind: Literal["identity", "begin", "probe", "end", "rankings", "failed", "done"]
    family: str = ""
    identity: CardIdentity | None = None
    probe: Probe | None = None
    seen: tuple[Seen, ...] | None = None
    peers: tuple[str, ...] | None = None
    left: int = 0
    error: tuple[str, str, str | None, str | None] | None = None


def work(task: Task, watch: Watch | None = None) -> Iterator[Event]:
    """Do what a task says.

    Args:
        task: It.
        watch: Notes connections; None where nobody may watch.

    Yields:
        What was found, as soon as it was.
    """
    root = Path(task.root) / f"part-{task.part}"
    root.mkdir()
    with Subject(task.system, task.assignments, root, task.seed) as subject:
        try:
            yield Event(kind="identity", identity=_identity(subject.system().identity()))
            with subject.store():
                pass  # what keeps it from being opened is no finding of a probe
        except MemrulerError as error:
            where = None if error.where is None else str(error.where)
            told = (class_name(error), error.what, where, error.hint)
            yield Event(kind="failed", error=told)
            return
        for name in task.families:
            yield Event(kind="begin", family=name)
            if name == RANKINGS:
                with suppress(MemrulerError):  # what fails here failed among the probes before
                    yield Event(kind="rankings", seen=tuple(rankings(subject)[0]))
            else:
                for probe in _asked(family(name), subject):
                    yield Event(kind="probe", family=name, probe=probe)
            peers = None if watch is None else tuple(watch.seen())
            yield Event(kind="end", family=name, peers=peers, left=subject.left)
    peers = None if watch is None else tuple(watch.seen())
    yield Event(kind="done", peers=peers, left=subject.left)


def _asked(asking: Family, subject: Subject) -> Iterator[Probe]:
    """The answers of a family; where the system breaks, the rest of it is said to have crashed."""
    left = {question.name for question in asking.questions}
    if asking.name == "repeats":
        left.discard("process")  # takes two processes
    try:
        for asked in asking.ask(subject):
            left.discard(asked.name)
            yield asking.probe(asked)
    except MemrulerError as error:
        why, broke = str(error), isinstance(error, InstrumentError)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other families are asked
        why, broke = described(error), True
    else:
        return
    for question in asking.questions:
        if question.name in left:
            yield asking.crashed(question.name, why, _tail(subject.logs) if broke else ())
    subject.end()


def _tail(logs: Path) -> tuple[str, ...]:
    """The last lines of the server that was started last."""
    files = sorted(logs.glob("*.log")) if logs.is_dir() else []
    if not files:
        return ()
    with suppress(OSError):
        return tuple(
            files[-1].read_bytes()[-8192:].decode("utf-8", "replace").splitlines()[-_LINES:]
        )
    return ()


def _identity(own: SystemIdentity) -> CardIdentity:
    said = own.settings.get("server")
    server = None
    if isinstance(said, dict) and said.keys() == {"name", "version", "protocol"}:
        server = Spoken(**{key: str(value) for key, value in said.items()})
    model = None
    if own.embedder is not None:
        model = f"{own.embedder.model} {own.embedder.model_sha256 or 'of unknown digest'}"
    return CardIdentity(
        name=own.name,
        version=own.version,
        digest=own.digest,
        settings=own.settings,
        degraded=own.degraded,
        embedder=model,
        server=server,
    )


def _leave_with_parent() -> None:
    # As in memruler.replay.probe: nothing else ever comes through the pipe.
    os.read(0, 1)
    os._exit(1)


def _main() -> int:
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    watch = Watch()
    watch.start()
    tell: Callable[[Event], int] = lambda event: os.write(  # noqa: E731 - one line
        int(sys.argv[1]), msgspec.json.encode(event) + b"\n"
    )
    for event in work(task, watch):
        tell(event)
    watch.stop()
    return 0


if __name__ == "__main__":
    sys.exit(_main())
