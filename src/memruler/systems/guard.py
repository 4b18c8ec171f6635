"""Stands between memruler and someone else's code: what fails there is named, never scored."""

import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import msgspec

from memruler.errors import MemrulerError, SystemUnderTestError
from memruler.model.system import (
    ExportsLineage,
    Memory,
    MemoryItem,
    MemorySystem,
    Namespace,
    Ranking,
    SearchesMany,
    SearchRequest,
    SessionInput,
    SystemIdentity,
)

__all__ = ["Guard", "GuardedSystem", "missing_methods"]


def missing_methods(thing: object, protocol: type) -> list[str]:
    """The protocol's methods that a thing lacks, in the protocol's order."""
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    return [name for name in wanted if not callable(getattr(thing, name, None))]


class Guard:
    """Turns whatever foreign code raises into one line that says which code it was.

    Args:
        file: The foreign file, to find the line at fault.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        """Watch over one call.

        Args:
            what: `Class.method`.

        Raises:
            SystemUnderTestError: The call raised or tried to exit. memruler's own errors and an
                interrupt pass through.
        """
        try:
            yield
        except (MemrulerError, KeyboardInterrupt):
            raise
        except (Exception, SystemExit) as error:
            said = f": {error}" if str(error) else ""
            raise SystemUnderTestError(
                f"{what} raised {type(error).__name__}{said}", where=self._place(error)
            ) from error

    def _place(self, error: BaseException) -> str:
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return f"{self._file}:{error.lineno}"
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self._file]
        return f"{self._file}:{lines[-1]}" if lines else self._file


class GuardedSystem:
    """A foreign system; see `MemorySystem`.

    Args:
        system: It.
        guard: Its guard.
        digest: SHA-256 of its source.
        settings: What it was constructed with.
    """

    def __init__(
        self, system: MemorySystem, guard: Guard, digest: str, settings: Mapping[str, Any]
    ) -> None:
        self._system = system
        self._guard = guard
        self._digest = digest
        self._settings = dict(settings)
        self._class = type(system).__name__

    def identity(self) -> SystemIdentity:
        """What it says of itself, but with the digest of the code that ran."""
        what = f"{self._class}.identity"
        with self._guard(what):
            found = self._system.identity()
        _expect(found, SystemIdentity, what)
        settings = {**self._settings, **found.settings}
        return msgspec.structs.replace(found, digest=self._digest, settings=settings)

    def open(self, namespace: Namespace) -> Memory:
        """Its memory, with the abilities that it has and no others."""
        with self._guard(f"{self._class}.open"):
            memory = self._system.open(namespace)
        lacking = missing_methods(memory, Memory)
        if lacking:
            raise SystemUnderTestError(
                f"{self._class}.open returned {type(memory).__name__}, "
                f"which has no {', '.join(lacking)}",
                hint="a memory has ingest, settle, search and close",
            )
        guarded = _GUARDED[isinstance(memory, SearchesMany), isinstance(memory, ExportsLineage)]
        return guarded(memory, self._guard)


class _Guarded:
    def __init__(self, memory: Any, guard: Guard) -> None:
        self._memory = memory
        self._guard = guard
        self._class = type(memory).__name__

    def ingest(self, session: SessionInput) -> None:
        with self._guard(f"{self._class}.ingest"):
            self._memory.ingest(session)

    def settle(self) -> None:
        with self._guard(f"{self._class}.settle"):
            self._memory.settle()

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        what = f"{self._class}.search"
        with self._guard(what):
            found: Ranking = self._memory.search(text, k, at)
        _expect(found, Ranking, what)
        return found

    def close(self) -> None:
        with self._guard(f"{self._class}.close"):
            self._memory.close()


class _Many(_Guarded):
    def search_many(self, requests: Sequence[SearchRequest]) -> list[Ranking]:
        what = f"{self._class}.search_many"
        with self._guard(what):
            found: list[Ranking] = list(self._memory.search_many(requests))
        for ranking in found:
            _expect(ranking, Ranking, what)
        return found


class _Exporting(_Guarded):
    def lineage(self) -> Iterable[MemoryItem]:
        what = f"{self._class}.lineage"
        with self._guard(what):
            found: list[MemoryItem] = list(self._memory.lineage())
        for item in found:
            _expect(item, MemoryItem, what)
        return found


class _ManyExporting(_Many, _Exporting):
    pass


# An ability is asked for with isinstance, so a guard must have exactly those of what it guards.
_GUARDED: dict[tuple[bool, bool], type[_Guarded]] = {
    (False, False): _Guarded,
    (True, False): _Many,
    (False, True): _Exporting,
    (True, True): _ManyExporting,
}


def _expect(found: object, kind: type[msgspec.Struct], what: str) -> None:
    """Hold what came back against its record, field by field: a constructor checks no type."""
    fault = f"{type(found).__name__}, not {kind.__name__}"
    if isinstance(found, kind):
        try:
            msgspec.convert(msgspec.to_builtins(found), kind)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            fault = f"a faulty {kind.__name__}: {error}"
        else:
            return
    raise SystemUnderTestError(
        f"{what} returned {fault}", hint="the records are in memruler.model.system"
    )
