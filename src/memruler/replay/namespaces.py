"""Throwaway namespaces: named, registered before the first write, erased, and found again.

A namespace that lives in a run's own folder goes with that folder. One on a server that outlives
the run would stay for ever if the run were killed, so every namespace is noted on disk before
anything is written to it, and crossed off once its erasure was seen to work.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from memruler.errors import MemrulerError
from memruler.model.system import (
    Erases,
    Memory,
    MemorySystem,
    Namespace,
    RunsElsewhere,
    SearchRequest,
)
from memruler.replay.plan import PlanSpec
from memruler.store.paths import state_dir
from memruler.store.safe import make_dir, read_bytes, write_atomic

__all__ = ["PREFIX", "Ledger", "Note", "Registered", "erase", "fresh_name", "noted", "placed"]

PREFIX = "bench-"
"""How every name of a namespace begins that memruler makes."""


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """A namespace that was, or is about to be, written to.

    Attributes:
        namespace: Its name.
        system: Name of the system, as a person typed it.
        assignments: `key=value` words, likewise.
        folder: Its private folder.
        run: The run folder that it belongs to.
        cwd: Where the name of the system is relative to.
        created: When (UTC).
        kept: Whether it was kept on purpose (`--keep`).
    """

    namespace: str
    system: str
    assignments: tuple[str, ...]
    folder: str
    run: str
    cwd: str
    created: datetime
    kept: bool = False


class Note(msgspec.Struct):
    """A namespace that is held. `stays`: whether it remains noted when the block ends well."""

    stays: bool = False


def fresh_name(position: int) -> str:
    """A name that no run had before, and that tells nothing of the corpus or the arm."""
    return f"{PREFIX}{secrets.token_hex(6)}-{position}"


class Ledger:
    """The notes on disk, one small file a namespace.

    Args:
        folder: Where they lie; the person's state folder without it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_dir() / "namespaces"

    @contextmanager
    def holding(self, entry: Registered) -> Iterator["Note"]:
        """Note a namespace, and cross it off where the block ends without an error.

        One that is kept stays noted, as does one whose block failed: `systems gc` finds it.
        """
        note = Note(stays=entry.kept)
        make_dir(self._folder)
        write_atomic(self._path(entry.namespace), msgspec.json.encode(entry))
        yield note
        if not note.stays:
            self.forget(entry.namespace)

    def entries(self) -> list[Registered]:
        """Every namespace that is noted, oldest first; a damaged note is passed over."""
        found: list[Registered] = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            with suppress(msgspec.MsgspecError, MemrulerError):
                found.append(msgspec.json.decode(read_bytes(path), type=Registered))
        return sorted(found, key=lambda entry: (entry.created, entry.namespace))

    def forget(self, namespace: str) -> None:
        """Cross a namespace off; that it is gone already is no error."""
        self._path(namespace).unlink(missing_ok=True)

    def _path(self, namespace: str) -> Path:
        return self._folder / f"{hashlib.sha256(namespace.encode()).hexdigest()[:32]}.json"


@contextmanager
def noted(
    spec: PlanSpec | None, space: Namespace, run: Path, *, kept: bool = False
) -> Iterator[Note]:
    """Hold a namespace of a run in the person's ledger while it may hold something.

    Args:
        spec: The words that open its system again; without them nobody could, and nothing is noted.
        space: The namespace.
        run: The run's folder.
        kept: Whether it is kept on purpose.
    """
    if spec is None:
        yield Note(stays=kept)
        return
    entry = Registered(
        namespace=space.name,
        system=spec.system,
        assignments=spec.assignments,
        folder=str(space.folder),
        run=str(run),
        cwd=str(Path.cwd()),
        created=datetime.now(UTC).replace(tzinfo=None),
        kept=kept,
    )
    with Ledger().holding(entry) as note:
        try:
            yield note
        except BaseException:
            # Whatever lives in its own folder goes with it; the server of another does not.
            if not kept and spec.system.startswith("builtin:"):
                Ledger().forget(space.name)
            raise


@contextmanager
def placed(system: MemorySystem, data: Path, logs: Path) -> Iterator[None]:
    """Tell a system that runs elsewhere where its data and logs go, and end it afterwards."""
    if not isinstance(system, RunsElsewhere):
        yield
        return
    system.place(data, logs)
    try:
        yield
    finally:
        system.shut()


def erase(memory: Memory, probe: SearchRequest | None) -> str | None:
    """Erase a memory's namespace and see whether a search of it comes back empty.

    Args:
        memory: It; one that does not erase lives in its folder, which goes with the run.
        probe: A search that found something; None where nothing was asked.

    Returns:
        Why it cannot be said that everything is gone; None where it is.
    """
    if not isinstance(memory, Erases):
        return None
    try:
        memory.erase()
        if probe is None:
            return None
        left = memory.search(probe.text, probe.k, probe.at).hits
    except MemrulerError as error:
        return f"erasing it could not be verified: {error}"
    return f"a search after its erasure still returned {len(left)} hits" if left else None
