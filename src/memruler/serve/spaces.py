"""The workspaces of a server: one memory each, all used from one thread."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from memruler.errors import MemrulerError
from memruler.model.system import (
    ExportsLineage,
    Hit,
    Memory,
    MemorySystem,
    Namespace,
    SessionInput,
    TurnInput,
)
from memruler.store.safe import make_dir, remove_tree

__all__ = ["Space", "Spaces"]

_T = TypeVar("_T")


class Space:
    """One workspace: its memory, the events it took, and the texts that hits are shown with."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.taken: set[str] = set()
        self.texts: dict[str, tuple[str, str | None]] = {}
        if isinstance(memory, ExportsLineage):
            for item in memory.lineage():
                self.taken.update(item.sources)
                for key in item.sources:
                    self.texts[key] = (item.text, None)

    def write(self, session: str, turns: tuple[TurnInput, ...], time: datetime | None) -> None:
        """Write what a batch says of one session."""
        self.memory.ingest(SessionInput(key=session, turns=turns, time=time))
        for turn in turns:
            stamp = None if turn.time is None else turn.time.isoformat()
            self.texts[turn.key] = (turn.text, stamp)

    def shown(self, hit: Hit) -> dict[str, Any]:
        """A hit as the server returns it."""
        # What came in as one event goes out under its id, which the sender knows.
        key = hit.sources[0] if hit.sources is not None and len(hit.sources) == 1 else None
        text, stamp = self.texts.get(key or "", (hit.text or "", None))
        item = hit.item if key is None else key
        return {"id": item, "source": key, "text": text, "score": hit.score, "time": stamp}


class Spaces:
    """Opens workspaces when they are first written to; everything runs in one worker thread.

    Args:
        system: Whose memories they are.
        folder: Where their data lies.
    """

    def __init__(self, system: MemorySystem, folder: Path) -> None:
        self._system = system
        self._folder = folder
        self._open: dict[str, Space] = {}
        # SQLite connections stay in the thread that made them.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="memories")

    def run(self, work: Callable[[], _T]) -> "Any":
        """Do something with memories; a future of its result."""
        return self._worker.submit(work)

    def space(self, workspace: str) -> Space:
        """The workspace, made if it is new; only inside `run`."""
        if workspace not in self._open:
            folder = self._place(workspace)
            make_dir(folder)
            self._open[workspace] = Space(self._system.open(Namespace(workspace, folder)))
        return self._open[workspace]

    def known(self, workspace: str) -> bool:
        """Whether anything was ever written to it; only inside `run`."""
        return workspace in self._open or self._place(workspace).is_dir()

    def search(
        self, workspace: str, query: str, limit: int, at: datetime | None
    ) -> list[dict[str, Any]]:
        """Hits of a workspace, best first; none of one that was never written to."""
        if not self.known(workspace):
            return []
        space = self.space(workspace)
        now = at or datetime.now(UTC).replace(tzinfo=None)
        return [space.shown(hit) for hit in space.memory.search(query, limit, now).hits]

    def erase(self, workspace: str) -> bool:
        """Remove a workspace; whether there was one."""
        there = self.known(workspace)
        space = self._open.pop(workspace, None)
        if space is not None:
            space.memory.close()
        if there:
            remove_tree(self._place(workspace))
        return there

    def close(self) -> None:
        """Finish what is under way and close every memory."""
        for space in self._open.values():
            with suppress(MemrulerError):
                self._worker.submit(space.memory.close).result()
        self._open.clear()
        self._worker.shutdown()

    def _place(self, workspace: str) -> Path:
        # A digest: the name of a workspace comes over the network and is no path.
        return self._folder / hashlib.sha256(workspace.encode()).hexdigest()[:32]
