"""A system that loses what it is told to lose: the difference that a canary knows to exist."""

from collections.abc import Mapping
from typing import Any

import msgspec

from memruler.errors import InstrumentError
from memruler.model.system import (
    CountsEmbedding,
    CountsTruncated,
    ExportsLineage,
    Memory,
    MemorySystem,
    Namespace,
    SearchesMany,
    SessionInput,
    SystemIdentity,
    Warns,
)

__all__ = ["LossySystem"]


class LossySystem:
    """Another system, to which some turns are never given. It sees no label: only less text.

    Args:
        system: It.
        lost: Position of an instance to the keys of the turns that it never sees.
    """

    def __init__(self, system: MemorySystem, lost: Mapping[int, frozenset[str]]) -> None:
        self._system = system
        self._lost = lost
        # What is asked for with isinstance is there exactly where the system itself has it.
        if isinstance(system, Warns):
            self.warnings = system.warnings
        if isinstance(system, CountsEmbedding):
            self.embedder_usage = system.embedder_usage

    def identity(self) -> SystemIdentity:
        """The system's own, with the loss among its settings: it is under test."""
        own = self._system.identity()
        lost = sum(map(len, self._lost.values()))
        return msgspec.structs.replace(own, settings={**own.settings, "canary_lost_turns": lost})

    def open(self, namespace: Namespace) -> Memory:
        """A memory of the system that lacks the lost turns."""
        position = namespace.name.rpartition("-")[2]
        if not position.isdecimal():
            raise InstrumentError(
                "a namespace does not end with its instance", where=namespace.name
            )
        return _Lossy(self._system.open(namespace), self._lost.get(int(position), frozenset()))


class _Lossy:
    def __init__(self, memory: Any, lost: frozenset[str]) -> None:
        self._memory = memory
        self._lost = lost
        self.settle = memory.settle
        self.search = memory.search
        self.close = memory.close
        if isinstance(memory, SearchesMany):
            self.search_many = memory.search_many
        if isinstance(memory, ExportsLineage):
            self.lineage = memory.lineage
        if isinstance(memory, CountsTruncated):
            self.truncated = memory.truncated

    def ingest(self, session: SessionInput) -> None:
        kept = tuple([turn for turn in session.turns if turn.key not in self._lost])
        if kept:
            self._memory.ingest(msgspec.structs.replace(session, turns=kept))
