"""A worker as its parent sees it: what it tells, in time or not."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from memruler.errors import printable
from memruler.studies.check.worker import Event, Task

__all__ = ["Ended", "Worker"]

_GRACE = 10.0
_BLOCK = 2**16
_LINES = 8


class Ended(Exception):  # noqa: N818 - it is told on the card, not raised to a person
    """The worker ended, or was ended, before it was done; its message says how."""


class Worker:
    """A process that does one task; also a context manager, which ends it.

    Args:
        task: What it is to do.
        timeout: Seconds between two things that it tells.
        hash_seed: Of Python, so that two workers order a set differently.
    """

    def __init__(self, task: Task, timeout: float, hash_seed: int) -> None:
        self._timeout = timeout
        self._log = Path(task.root) / f"worker-{task.part}.log"
        self._read, write = os.pipe()
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 - this program, no shell
                    [sys.executable, "-m", "memruler.studies.check.worker", str(write)],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=(write,),
                    env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
                    start_new_session=True,  # a Ctrl-C in the terminal is ours to pass on
                )
        finally:
            os.close(write)
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - a pipe was asked for
        with suppress(BrokenPipeError):
            stdin.write(msgspec.json.encode(task) + b"\n")
            stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del error, trace
        self.end(wait=kind is None)

    def events(self) -> Iterator[Event]:
        """What it tells, up to and with `done` or `failed`.

        Raises:
            Ended: It ended before that, or told nothing for too long.
        """
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            end = time.monotonic() + self._timeout
            while True:
                if not selector.select(max(end - time.monotonic(), 0)):
                    self.end(wait=False)
                    raise Ended(f"it was not done after {self._timeout:g} s")
                block = os.read(self._read, _BLOCK)
                if not block:
                    raise Ended(self._how())
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    event = msgspec.json.decode(line, type=Event)
                    yield event
                    if event.kind in {"done", "failed"}:
                        return
                if lines:
                    end = time.monotonic() + self._timeout

    def tail(self) -> tuple[str, ...]:
        """The last lines that it printed."""
        with suppress(OSError):
            text = self._log.read_bytes()[-8192:].decode("utf-8", "replace")
            return tuple(printable(line) for line in text.splitlines()[-_LINES:])
        return ()

    def end(self, *, wait: bool) -> None:
        """End it and its group; twice is no error.

        Args:
            wait: Let it come to its own end; otherwise it is interrupted, so that it erases what
                it wrote, and killed where it does not listen.
        """
        if self._process.poll() is None:
            if not wait:
                with suppress(OSError):
                    self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        if self._read >= 0:
            os.close(self._read)
            self._read = -1

    def _how(self) -> str:
        code = self._process.wait()
        if code < 0:
            with suppress(ValueError):
                return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with code {code}"
