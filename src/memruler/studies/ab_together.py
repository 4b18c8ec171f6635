"""Remembers which instances two runs went through in turns, across an interruption."""

from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from memruler.store.safe import read_bytes, write_atomic

__all__ = ["TURNS", "Together"]

TURNS: Final = "turns.json"
"""Beside the two run folders."""


class _Kept(msgspec.Struct, frozen=True):
    started: tuple[datetime, datetime]
    instances: tuple[int, ...]


class Together:
    """The instances that both runs went through in turns.

    Args:
        out: Where the two run folders lie.
        started: When each run began; what other runs left there does not count.
    """

    def __init__(self, out: Path, started: tuple[datetime, datetime]) -> None:
        self._path, self._started = out / TURNS, started
        self.instances: set[int] = set()
        if self._path.exists():
            try:
                found = msgspec.json.decode(read_bytes(self._path), type=_Kept)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return  # nobody can say any more which they were, so none is claimed
            if found.started == started:
                self.instances.update(found.instances)

    def add(self, instance: int) -> None:
        """Note an instance that counts in both runs."""
        self.instances.add(instance)
        kept = _Kept(self._started, tuple(sorted(self.instances)))
        write_atomic(self._path, msgspec.json.encode(kept))
