"""Standard output and error as a command line needs them: patient, and never a traceback.

A reader that leaves (`memruler list | head -1`) ends nobody's work: what is written afterwards goes
nowhere, and a verb ends with the exit code that it would have had.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["standard_streams"]

_OUTLIVES = (OSError, ValueError)
"""What a stream that leads nowhere may raise: it failed, was closed, or has no descriptor."""


@contextmanager
def standard_streams() -> Iterator[None]:
    """Inside, stdout and stderr take whatever is written to them.

    - A closed stream (`>&-`) is the null device. It is opened at once, so that no file of a run
      gets its descriptor.
    - A pipe that nobody reads becomes the null device.
    - A character that the encoding lacks is written as an escape.

    A full disk still raises an OSError. What is left in a buffer then is dropped, or the
    interpreter would complain about it at the end.
    """
    outer = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_patient(stream) for stream in outer)
    inner = sys.stdout, sys.stderr
    try:
        yield
    finally:
        for stream in inner:
            try:
                stream.flush()
            except _OUTLIVES:
                _lead_nowhere(stream)
        sys.stdout, sys.stderr = (
            own if stream is None else stream for stream, own in zip(outer, inner, strict=True)
        )


def _patient(stream: Any) -> Any:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the end
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return _Patient(stream)


def _lead_nowhere(stream: Any) -> None:
    with suppress(*_OUTLIVES):
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, stream.fileno())
        os.close(number)


class _Patient:
    """A stream, or its `buffer`, whose reader may leave."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> "_Patient":
        """The binary stream below, where there is one."""
        return _Patient(self._stream.buffer)

    def write(self, data: Any) -> int:
        """Write, or drop what nobody will read."""
        with self._patience():
            self._stream.write(data)
        return len(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write each of `lines`."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush, or drop what nobody will read."""
        with self._patience():
            self._stream.flush()

    @contextmanager
    def _patience(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _lead_nowhere(self._stream)
