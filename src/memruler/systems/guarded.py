"""A foreign system and its memories, with a guard around everything they do."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from memruler.errors import SystemUnderTestError
from memruler.model.system import (
    Answers,
    CountsTruncated,
    Erases,
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
from memruler.plugins import class_name
from memruler.systems.guard import Guard, missing_methods
from memruler.systems.plain import Unfit, plain

if TYPE_CHECKING:  # numpy, which a foreign system may not need
    from memruler.embedding.usage import EmbedderUsage

__all__ = ["GuardedSystem"]

_LONGEST_ANSWER = 1_000_000

_Record = TypeVar("_Record", bound=msgspec.Struct)


class GuardedSystem:
    """A foreign system; see `MemorySystem`.

    Args:
        system: It.
        guard: Its guard.
        digest: SHA-256 of its source.
        settings: What it was constructed with, in plain form.
    """

    def __init__(
        self, system: MemorySystem, guard: Guard, digest: str, settings: Mapping[str, Any]
    ) -> None:
        self._system = system
        self._guard = guard
        self._digest = digest
        self._settings = dict(settings)
        self._class = class_name(system)

    def identity(self) -> SystemIdentity:
        """What it says of itself, but with the digest of the code that ran.

        Raises:
            SystemUnderTestError: It failed, or is nothing that a manifest can hold.
        """
        what = f"{self._class}.identity"
        with self._guard(what):
            found: Any = self._system.identity()
            own: Any = None
            if isinstance(found, SystemIdentity):
                own = _plain_settings(found.settings, what)
                found = msgspec.structs.replace(found, digest=self._digest, settings={})
            identity = _checked(found, SystemIdentity, what)
        return msgspec.structs.replace(identity, settings={**self._settings, **own})

    def open(self, namespace: Namespace) -> Memory:
        """Its memory, with the abilities that it has and no others."""
        with self._guard(f"{self._class}.open"):
            memory = self._system.open(namespace)
            lacking = missing_methods(memory, Memory)
            if lacking:
                raise SystemUnderTestError(
                    f"{self._class}.open returned {class_name(memory)}, "
                    f"which has no {', '.join(lacking)}",
                    hint="a memory has ingest, settle, search and close",
                )
            abilities = tuple([isinstance(memory, ability) for ability, _ in _ABILITIES])
        return _guarded(abilities)(memory, self._guard)

    def warnings(self) -> tuple[str, ...]:
        """None: a foreign system has no way to tell."""
        return ()

    def embedder_usage(self) -> "EmbedderUsage | None":
        """None: not known."""
        return None


class _Guarded:
    def __init__(self, memory: Any, guard: Guard) -> None:
        self._memory = memory
        self._guard = guard
        self._class = class_name(memory)

    def ingest(self, session: SessionInput) -> None:
        with self._guard(f"{self._class}.ingest"):
            self._memory.ingest(session)

    def settle(self) -> None:
        with self._guard(f"{self._class}.settle"):
            self._memory.settle()

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        what = f"{self._class}.search"
        with self._guard(what):
            return _checked(self._memory.search(text, k, at), Ranking, what)

    def close(self) -> None:
        with self._guard(f"{self._class}.close"):
            self._memory.close()


class _Many(_Guarded):
    def search_many(self, requests: Sequence[SearchRequest]) -> list[Ranking]:
        what = f"{self._class}.search_many"
        with self._guard(what):
            found = self._memory.search_many(requests)
            return [_checked(ranking, Ranking, what) for ranking in found]


class _Answering(_Guarded):
    def answer(self, text: str, at: datetime) -> str | None:
        what = f"{self._class}.answer"
        with self._guard(what):
            found = self._memory.answer(text, at)
            if found is None:
                return None
            if not isinstance(found, str):
                raise SystemUnderTestError(f"{what} returned no text", hint="a str, or None")
            said = str.__str__(found)  # a subclass may say something else of itself
            if len(said) > _LONGEST_ANSWER:
                raise SystemUnderTestError(
                    f"{what} returned {len(said)} characters; at most {_LONGEST_ANSWER} are taken"
                )
            said.encode()  # half a surrogate pair would break a file much later
            return said


class _Exporting(_Guarded):
    def lineage(self) -> Iterable[MemoryItem]:
        what = f"{self._class}.lineage"
        with self._guard(what):
            return [_checked(item, MemoryItem, what) for item in self._memory.lineage()]


class _Erasing(_Guarded):
    def erase(self) -> None:
        with self._guard(f"{self._class}.erase"):
            self._memory.erase()


class _Counting(_Guarded):
    def truncated(self) -> int | None:
        what = f"{self._class}.truncated"
        with self._guard(what):
            found = self._memory.truncated()
            if found is not None and (type(found) is not int or found < 0):
                raise SystemUnderTestError(f"{what} returned no count", hint="an int, or None")
            return found


_ABILITIES: tuple[tuple[type, type[_Guarded]], ...] = (
    (SearchesMany, _Many),
    (Answers, _Answering),
    (ExportsLineage, _Exporting),
    (CountsTruncated, _Counting),
    (Erases, _Erasing),
)


@cache
def _guarded(abilities: tuple[bool, ...]) -> type[_Guarded]:
    """A class with some of the abilities: they are asked for with isinstance, so it has no more."""
    guards = [guard for (_, guard), has in zip(_ABILITIES, abilities, strict=True) if has]
    return type("GuardedMemory", (*guards, _Guarded), {})


def _plain_settings(settings: object, what: str) -> dict[str, Any]:
    try:
        found = plain(settings)
    except Unfit as error:
        fault = str(error)
    else:
        if isinstance(found, dict):
            return found
        fault = "they are no dict"
    raise SystemUnderTestError(
        f"{what} returned settings that a manifest cannot hold: {fault}",
        hint="settings are None, booleans, finite numbers, texts, lists and dicts of these",
    )


def _checked(found: object, kind: type[_Record], what: str) -> _Record:
    """What came back, rebuilt field by field: a constructor checks no type."""
    fault = f"{class_name(found)}, not {kind.__name__}"
    if isinstance(found, kind):
        try:
            record = msgspec.convert(msgspec.to_builtins(found), kind)
            msgspec.json.encode(record)  # half a surrogate pair would break a file much later
        except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
            fault = f"a faulty {kind.__name__}: {error}"
        else:
            return record
    raise SystemUnderTestError(
        f"{what} returned {fault}", hint="the records are in memruler.model.system"
    )
