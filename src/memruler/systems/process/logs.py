"""What a server prints: kept in a file, bounded, and without secrets."""

import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from memruler.errors import printable
from memruler.store.safe import open_append
from memruler.systems.process.secrets import Secrets

__all__ = ["ServerLog"]

_LARGEST = 10 * 2**20
_LONGEST_LINE = 8192
_TAIL = 12
_SHOWN, _SHOWN_LINE = 250, 160
"""Characters of the last lines, and of each, that an error shows."""


class ServerLog:
    """Copies a pipe into a file, line by line, in a thread of its own.

    Args:
        pipe: What the server writes to; read to its end.
        path: The file; appended to, at most 10 MiB in this life, the rest is read and dropped.
        secrets: Replaced by `***`.
    """

    def __init__(self, pipe: IO[bytes], path: Path, secrets: Secrets) -> None:
        self._pipe = pipe
        self._path = path
        self._secrets = secrets
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

    def last_words(self) -> str:
        """`; its last lines: ...` for an error, without secrets; empty where it printed nothing.

        What came last stands whole: the cause is mostly there.
        """
        with self._lock:
            lines = [printable(line, _SHOWN_LINE) for line in self._tail]
        while len(lines) > 1 and sum(map(len, lines)) > _SHOWN:
            lines.pop(0)
        return "; its last lines: " + " / ".join(lines) if lines else ""

    def join(self, seconds: float) -> None:
        """Wait until everything that was printed is in the file."""
        self._thread.join(seconds)

    def _copy(self) -> None:
        with open_append(self._path) as file, self._pipe:
            written = 0
            for line in self._lines():
                if written < _LARGEST:
                    file.write(line)
                    file.flush()
                    written += len(line)
                self._see(line.decode("utf-8", "replace").rstrip())

    def _lines(self) -> Iterator[bytes]:
        """Lines without secrets; one that is too long comes in pieces."""
        overlap = max(0, self._secrets.longest() - 1)
        held = b""
        while read := self._pipe.readline(_LONGEST_LINE + overlap):
            ended = read.endswith(b"\n")
            line = self._secrets.line(held + read) if ended else self._secrets.part(held + read)
            # What may be the beginning of a secret waits for its rest.
            whole = len(line) if ended else max(0, len(line) - overlap)
            held = line[whole:]
            yield line[:whole]
        yield self._secrets.line(held)

    def _see(self, line: str) -> None:
        with self._lock:
            if line:
                self._tail.append(line)
            if self._wanted is not None and self._wanted in line:
                self._found.set()
