"""Checks a system in processes of their own, and puts the card together."""

import secrets
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from memruler import __version__
from memruler.errors import (
    InstrumentError,
    MemrulerError,
    SystemUnderTestError,
    UsageError,
)
from memruler.model.card import Card, CardIdentity, Probe, fitness_of
from memruler.replay.namespaces import Ledger
from memruler.replay.plan import parse_assignments
from memruler.store.lock import lock_folder
from memruler.store.safe import make_dir, write_atomic
from memruler.studies.check.claims import claims_of, judged
from memruler.studies.check.declared import network
from memruler.studies.check.families import FAMILIES, NETWORK, family
from memruler.studies.check.process import Ended, Worker
from memruler.studies.check.question import Asked
from memruler.studies.check.repeating import REPEATS, Seen, elsewhere
from memruler.studies.check.subject import remote_file
from memruler.studies.check.worker import RANKINGS, Event, Task

__all__ = ["check_system"]

_ERRORS = {one.__name__: one for one in (UsageError, InstrumentError, SystemUnderTestError)}
_CARD = "card.json"

Told = Callable[[str, int, int], None]
"""Told which family is asked, how many are done, and of how many."""


def check_system(
    system: str,
    assignments: Sequence[str] = (),
    *,
    timeout: float = 120.0,
    tick: Told = lambda *_: None,
    logs: Path | None = None,
) -> Card:
    """Probe a system on fresh stores in throwaway namespaces.

    It runs in a process of its own, which is started again where it breaks: a crash or a hang
    costs the family of probes that it happened in, and no other.

    Args:
        system: As `--system` takes it.
        assignments: `key=value` words.
        timeout: Seconds that one answer may take.
        tick: Told about progress.
        logs: Where the logs of servers are copied; nowhere without it.

    Raises:
        UsageError: The name or a setting is wrong, or something that it needs is not installed.
        InstrumentError: It cannot be started.
        SystemUnderTestError: Likewise.
    """
    parse_assignments(assignments)
    remote_file(system)
    with tempfile.TemporaryDirectory(prefix="memruler-check-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        lock = lock_folder(root, named="the check's folder", busy="at it", option="folder")
        try:
            found = _Check(system, tuple(assignments), root, timeout, tick)
            found.run()
            card = found.card()
            if logs is not None:
                _copy(root, logs)
            return card
        finally:
            lock.release()
            _cross_off(system, root)


class _Check:
    """One check while it goes on."""

    def __init__(
        self, system: str, assignments: tuple[str, ...], root: Path, timeout: float, tick: Told
    ) -> None:
        self._system = system
        self._assignments = assignments
        self._root = root
        self._timeout = timeout
        self._tick = tick
        self._seed = secrets.token_hex(8)
        self._part = 0
        self._identity: CardIdentity | None = None
        self._probes: dict[str, Probe] = {}
        self._seen: list[tuple[Seen, ...]] = []
        self._peers: set[str] = set()
        self._left = 0
        self._done = 0

    def run(self) -> None:
        """Ask everything, in as many processes as it takes."""
        todo = [one.name for one in FAMILIES] + [RANKINGS]
        while todo:
            todo = self._worker(todo, hash_seed=1)
        if self._seen:
            self._worker([RANKINGS], hash_seed=2)

    def card(self) -> Card:
        """What was found."""
        if self._identity is None:
            raise InstrumentError("the worker of the check said nothing", where=self._system)
        answers = {**self._probes, f"{REPEATS.name}.process": REPEATS.probe(self._elsewhere())}
        answers["network.declared"] = NETWORK.probe(
            network(self._system, self._assignments, self._peers)
        )
        order = [f"{one.name}.{q.name}" for one in (*FAMILIES, NETWORK) for q in one.questions]
        probes = tuple(answers[name] for name in order if name in answers)
        file, short = remote_file(self._system), judged(probes)
        claims = claims_of(file, probes)
        return Card(
            system=self._system,
            assignments=self._assignments,
            identity=self._identity,
            fitness=fitness_of(probes, claims, self._left),
            probes=probes,
            reads_change=short.reads_change,
            deterministic=short.deterministic,
            event_time=short.event_time,
            erases=short.erases,
            claims=claims,
            quiet_reads=None if file is None else file.capabilities.quiet_reads,
            left=self._left,
            memruler=__version__,
        )

    def _elsewhere(self) -> Asked:
        if len(self._seen) < 2:  # noqa: PLR2004 - one of each process
            return Asked("process", "unknown", "one of the two processes came to no rankings")
        return elsewhere(*self._seen[:2])

    def _worker(self, todo: list[str], *, hash_seed: int) -> list[str]:
        """Let one process do what it can; what is left to do."""
        task = Task(
            system=self._system,
            assignments=self._assignments,
            root=str(self._root),
            part=self._part,
            seed=self._seed,
            families=tuple(todo),
        )
        self._part += 1
        current, before = "", self._left
        with Worker(task, self._timeout, hash_seed) as worker:
            try:
                for event in worker.events():
                    self._hear(event)
                    if event.kind == "begin":
                        current = event.family
                        self._tick(current, 0, 0)
                    if event.kind == "end":
                        todo = todo[1:]
                        self._done += 1
                        self._tick("instance", self._done, len(FAMILIES) + 2)
                        current = ""
                    self._left = (
                        before + event.left if event.kind in {"end", "done"} else self._left
                    )
            except Ended as how:
                if self._identity is None:
                    raise InstrumentError(
                        f"the system could not be opened: {how}",
                        where=self._system,
                        hint=" / ".join(worker.tail()) or None,
                    ) from None
                if not current:
                    return todo[1:] if not todo or todo[0] == RANKINGS else todo
                self._crash(current, str(how), worker.tail())
                return todo[1:]
        return []

    def _hear(self, event: Event) -> None:
        if event.error is not None:
            name, what, where, hint = event.error
            kind = _ERRORS.get(name, SystemUnderTestError)
            raise kind(what, where=where, hint=hint)
        self._identity = event.identity or self._identity
        if event.probe is not None:
            self._probes[event.probe.name] = event.probe
        if event.seen is not None:
            self._seen.append(event.seen)
        self._peers.update(event.peers or ())

    def _crash(self, name: str, how: str, log: tuple[str, ...]) -> None:
        """Say that what was not answered of a family has crashed."""
        if name == RANKINGS:
            return
        broken = family(name)
        for question in broken.questions:
            key = f"{name}.{question.name}"
            if key not in self._probes and key != f"{REPEATS.name}.process":
                self._probes[key] = broken.crashed(question.name, how, log)


def _copy(root: Path, logs: Path) -> None:
    make_dir(logs)
    for number, path in enumerate(sorted(root.glob("part-*/logs/*.log"))):
        write_atomic(logs / f"server-{number:04d}.log", path.read_bytes())


def _cross_off(system: str, root: Path) -> None:
    """Forget what lived in the check's folder and went with it, though nobody could say so."""
    try:
        file = remote_file(system)
    except MemrulerError:
        return
    if file is not None and file.server is None:
        return  # `systems gc` erases it where it lives
    ledger = Ledger()
    for entry in ledger.entries():
        if Path(entry.run).is_relative_to(root):
            ledger.forget(entry.namespace)
