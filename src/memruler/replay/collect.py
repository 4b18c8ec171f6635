"""Finds and erases namespaces that aborted runs left behind."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from memruler.errors import MemrulerError, UsageError
from memruler.model.system import MemorySystem, Namespace, RunsElsewhere, SearchRequest
from memruler.replay.namespaces import Ledger, Registered, erase, placed
from memruler.store.lock import lock_folder
from memruler.store.safe import make_dir, remove_tree
from memruler.systems.registry import open_system

__all__ = ["Collected", "collect"]

Outcome = Literal["erased", "in use", "kept", "failed"]

_PROBE = SearchRequest(text="the", k=1, at=datetime(2000, 1, 1))  # noqa: DTZ001 - naive by design


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one namespace.

    Attributes:
        namespace, system, run: As it was noted.
        outcome: `in use` belongs to a run that goes on now; `kept` was kept with `--keep`.
        why: Why it failed; None otherwise.
    """

    namespace: str
    system: str
    run: str
    outcome: Outcome
    why: str | None = None


def collect(
    *, kept: bool = False, dry: bool = False, ledger: Ledger | None = None
) -> Iterator[Collected]:
    """Erase what is noted and belongs to no run that goes on, oldest first.

    Args:
        kept: Also what was kept on purpose.
        dry: Say what would be done and do nothing; what would be erased is told as `erased`.
        ledger: Where namespaces are noted; the person's own without it.
    """
    notes = ledger or Ledger()
    for entry in notes.entries():
        if entry.kept and not kept:
            yield _told(entry, "kept")
            continue
        with ExitStack() as stack:
            run = Path(entry.run)
            if run.is_dir():
                try:
                    lock = lock_folder(run, named="the run folder", busy="at it", option="--stem")
                except UsageError:
                    yield _told(entry, "in use")
                    continue
                stack.callback(lock.release)
            if dry:
                yield _told(entry, "erased")
                continue
            try:
                why = _erase(entry)
            except MemrulerError as error:
                why = str(error)
            if why is None:
                notes.forget(entry.namespace)
        yield _told(entry, "erased" if why is None else "failed", why)


def _told(entry: Registered, outcome: Outcome, why: str | None = None) -> Collected:
    return Collected(
        namespace=entry.namespace, system=entry.system, run=entry.run, outcome=outcome, why=why
    )


def _erase(entry: Registered) -> str | None:
    """Erase it where it lives; what lives in the run's own folder goes with that."""
    folder, run = Path(entry.folder), Path(entry.run)
    system = _open(entry)
    if isinstance(system, RunsElsewhere) and system.outlives():
        with tempfile.TemporaryDirectory(prefix="memruler-gc-") as name:
            place = Path(name).resolve()
            make_dir(place / "space")
            with placed(system, place / "data", place / "logs"):
                memory = system.open(Namespace(entry.namespace, place / "space"))
                try:
                    why = erase(memory, _PROBE)
                finally:
                    memory.close()
        if why is not None:
            return why
    # Never anything but a folder below the run's own.
    if folder.resolve().is_relative_to(run.resolve()) and folder.resolve() != run.resolve():
        remove_tree(folder)
    return None


def _open(entry: Registered) -> MemorySystem:
    name = entry.system
    file = name.rpartition(":")[0] if ".py:" in name else name
    if file.endswith((".py", ".toml")):
        name = str(Path(entry.cwd) / file) + name[len(file) :]
    words = [word.partition("=") for word in entry.assignments]
    settings = {key.strip(): value.strip() for key, _, value in words}
    own = {key: value for key, value in settings.items() if not key.startswith("text.")}
    return open_system(name, own).system
