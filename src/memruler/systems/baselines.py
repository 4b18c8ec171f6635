"""What every memory must beat: the newest turns, chance, and the whole history."""

import hashlib
from datetime import datetime

from memruler import __version__
from memruler.errors import UsageError
from memruler.model.system import (
    Hit,
    Memory,
    MemoryItem,
    Namespace,
    Ranking,
    SessionInput,
    SystemIdentity,
    TurnInput,
)

__all__ = ["Chance", "Recency", "Whole"]


class Recency:
    """Returns the units that were written last, newest first, whatever was asked."""

    def identity(self) -> SystemIdentity:
        """What it is."""
        return SystemIdentity(name="baseline:recency", version=__version__, digest="")

    def open(self, namespace: Namespace) -> Memory:
        """An empty memory."""
        del namespace
        return _Newest()


class Chance:
    """Returns units in an order drawn from the question and a seed.

    Args:
        seed: Another seed gives another order; the same gives the same in every process.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def identity(self) -> SystemIdentity:
        """What it is."""
        return SystemIdentity(name="baseline:random", version=__version__, digest="")

    def open(self, namespace: Namespace) -> Memory:
        """An empty memory; its name must not shape the order."""
        del namespace
        return _Drawn(self._seed)


class Whole:
    """Returns one hit: the whole history as it would be put into a prompt.

    Only targets that credit what descends from the evidence admit it (`source`); what it is for is
    the size of its context, and the answers of a reader that is given everything.
    """

    def identity(self) -> SystemIdentity:
        """What it is."""
        return SystemIdentity(name="baseline:whole", version=__version__, digest="")

    def open(self, namespace: Namespace) -> Memory:
        """An empty memory."""
        del namespace
        return _Everything()


class _Kept:
    """Keeps what it is given, in order."""

    def __init__(self) -> None:
        self._turns: list[TurnInput] = []

    def ingest(self, session: SessionInput) -> None:
        self._turns += session.turns

    def settle(self) -> None:
        pass

    def lineage(self) -> list[MemoryItem]:
        return [
            MemoryItem(id=turn.key, kind="turn", sources=(turn.key,), text=turn.text)
            for turn in self._turns
        ]

    def close(self) -> None:
        self._turns.clear()


def _require(k: int) -> None:
    if k < 1:
        raise UsageError("a search asks for at least 1 hit", where=f"k={k}")


class _Newest(_Kept):
    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del text, at
        _require(k)
        return Ranking(
            tuple(Hit(item=turn.key, sources=(turn.key,)) for turn in self._turns[: -k - 1 : -1])
        )


class _Drawn(_Kept):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del at
        _require(k)
        asked = f"{self._seed}\0{text}\0".encode("utf-8", "replace")

        def draw(turn: TurnInput) -> bytes:
            return hashlib.sha256(asked + turn.key.encode()).digest()

        chosen = sorted(self._turns, key=draw)[:k]
        return Ranking(tuple(Hit(item=turn.key, sources=(turn.key,)) for turn in chosen))


class _Everything(_Kept):
    def lineage(self) -> list[MemoryItem]:
        keys = tuple(turn.key for turn in self._turns)
        text = "\n".join(turn.text for turn in self._turns)
        return [MemoryItem(id="history", kind="history", sources=keys, text=text)] if keys else []

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del text, at
        _require(k)
        return Ranking(
            tuple(
                Hit(item=item.id, sources=item.sources, kind=item.kind) for item in self.lineage()
            )
        )
