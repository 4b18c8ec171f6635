"""Keeps what foreign code prints apart from what memruler prints.

While foreign code runs, `sys.stdout` is a stand-in that writes to standard error, and so is file
descriptor 1, which a C library or a started program writes to. Afterwards both are what they were,
whatever the code did to them.

The swap is made for the whole process, since there is but one standard output: what another
thread of the program prints meanwhile goes to standard error too. What foreign code prints later,
from a thread of its own, at exit or out of a buffer of a C library, is out of reach.
"""

import io
import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO

__all__ = ["Aside"]

_STDOUT, _STDERR = 1, 2


class _ToStderr(io.RawIOBase):
    """Bytes for the standard error of the moment it was made."""

    def __init__(self) -> None:
        self._stream = sys.stderr

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        # Where standard error is gone or full, that is no failure of the code that prints.
        with suppress(OSError, ValueError, AttributeError):
            self._stream.write(bytes(data).decode(errors="backslashreplace"))
        return len(data)


class _StandIn(io.TextIOWrapper):
    """Like a standard output that cannot be closed."""

    def __init__(self) -> None:
        super().__init__(
            _ToStderr(),  # type: ignore[arg-type] # it writes; no more is asked of it
            encoding="utf-8",
            errors="backslashreplace",
            write_through=True,
        )

    def close(self) -> None:
        """Do nothing: a `print` after it must still work."""


class _Kept:
    """Both standard streams as they were."""

    def __init__(self) -> None:
        self._out, self._err = sys.stdout, sys.stderr
        with suppress(OSError, ValueError, AttributeError):
            self._out.flush()
        self._fd: int | None = None
        with suppress(OSError):  # closed, or too many open files: what is printed still goes aside
            self._fd = os.dup(_STDOUT)
            os.dup2(_STDERR, _STDOUT)
        sys.stdout = _StandIn()

    def restore(self) -> None:
        if self._fd is not None:
            with suppress(OSError):  # closed with all others, as a program that hides itself does
                os.dup2(self._fd, _STDOUT)
                os.close(self._fd)
        sys.stdout = _open(self._out, _STDOUT)
        sys.stderr = _open(self._err, _STDERR)


def _open(stream: TextIO, fd: int) -> TextIO:
    """The stream, or a new one where it was closed: Python leaves the descriptor open."""
    if not getattr(stream, "closed", False):
        return stream
    try:
        return open(fd, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)
    except OSError:
        return stream


class Aside:
    """Sends everything that is written to standard output inside to standard error.

    May be nested and entered by several threads: the first in swaps, the last out restores. A
    class and no generator, since it stands around every search.
    """

    __slots__ = ()

    _lock = threading.Lock()
    _inside = 0
    _kept: _Kept | None = None

    def __enter__(self) -> None:
        with Aside._lock:
            if Aside._kept is None:
                Aside._kept = _Kept()
            Aside._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with Aside._lock:
            Aside._inside -= 1
            if Aside._inside == 0 and Aside._kept is not None:
                Aside._kept.restore()
                Aside._kept = None
