"""What a server prints: kept in a file, bounded, and without secrets."""

import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from memruler.store.safe import open_append

__all__ = ["ServerLog"]

_LARGEST = 10 * 2**20
_LONGEST_LINE = 8192
_SHORTEST_SECRET = 4
_TAIL = 12


class ServerLog:
    """Copies a pipe into a file, line by line, in a thread of its own.

    Args:
        pipe: What the server writes to; read to its end.
        path: The file; appended to, at most 10 MiB in this life, the rest is read and dropped.
        secrets: Texts that are replaced by `***`.
    """

    def __init__(self, pipe: IO[bytes], path: Path, secrets: Sequence[str]) -> None:
        self._pipe = pipe
        self._path = path
        words = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len, reverse=True)
        self._secrets = [word.encode() for word in words]
        self._tail: deque[str] = deque(maxlen=_TAIL)
        self._lock = threading.Lock()
        self._wanted: str | None = None
        self._found = threading.Event()
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def expect(self, text: str) -> threading.Event:
        """An event that is set once `text` stands in a line; ask before the server starts."""
        with self._lock:
            self._wanted = text
            if any(text in line for line in self._tail):
                self._found.set()
        return self._found

    def tail(self) -> list[str]:
        """The last lines, without secrets."""
        with self._lock:
            return list(self._tail)

    def join(self, seconds: float) -> None:
        """Wait until everything that was printed is in the file."""
        self._thread.join(seconds)

    def _copy(self) -> None:
        with open_append(self._path) as file, self._pipe:
            written = 0
            while line := self._pipe.readline(_LONGEST_LINE):
                for secret in self._secrets:
                    line = line.replace(secret, b"***")
                if written < _LARGEST:
                    file.write(line)
                    file.flush()
                    written += len(line)
                self._see(line.decode("utf-8", "replace").rstrip())

    def _see(self, line: str) -> None:
        with self._lock:
            if line:
                self._tail.append(line)
            if self._wanted is not None and self._wanted in line:
                self._found.set()
