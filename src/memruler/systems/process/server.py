"""One started server: begun on a fresh folder, waited for, watched, and ended."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self, cast
from urllib.parse import urlsplit

import httpx2

from memruler.errors import InstrumentError, UsageError
from memruler.net.client import Client
from memruler.net.errors import HttpError
from memruler.systems.process import keeper
from memruler.systems.process.environment import accepts
from memruler.systems.process.logs import ServerLog
from memruler.systems.process.secrets import Secrets
from memruler.systems.remote.spec import Ready

__all__ = ["ServerProcess", "kept"]

_LOOK = 0.05
_SERVER_ERROR = 500
_IMPATIENT = httpx2.Timeout(2.0)


def kept(command: Sequence[str], grace: float, remove: str = "") -> list[str]:
    """A command with the keeper before it, so that it ends when this process does.

    Raises:
        UsageError: On a system without process groups.
    """
    if os.name != "posix":
        raise UsageError(
            "starting a server needs a POSIX system",
            hint="start it yourself, and leave [server] out of its file",
        )
    # -I: neither the caller's variables nor its folder shape what runs.
    return [
        sys.executable, "-I", str(Path(keeper.__file__)), str(os.getpid()), str(grace), remove,
        *command,
    ]  # fmt: skip


class ServerProcess:
    """A server that was started and is ended by `stop`; also a context manager.

    Args:
        command: Program and arguments; no shell.
        env: All variables that it gets.
        cwd: Where it runs.
        log: The file that keeps what it prints.
        grace: Seconds between asking and killing.
        secrets: What never reaches the log.

    Raises:
        UsageError: On a system without process groups.
        InstrumentError: It cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        grace: float = 5.0,
        secrets: Secrets | None = None,
    ) -> None:
        self._name = Path(command[0]).name
        self._grace = grace
        try:
            self._process = subprocess.Popen(  # noqa: S603 - as its file says, no shell
                kept(command, grace),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal is ours to pass on
            )
        except OSError as error:
            raise InstrumentError(
                f"the server cannot be started: {error.strerror}", where=self._name
            ) from error
        self._log = ServerLog(cast("IO[bytes]", self._process.stdout), log, secrets or Secrets())
        self._dead = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Process id of the keeper; it lives as long as the server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as is known; death shows within a second."""
        return not self._dead.is_set()

    def require_alive(self, within: float = 0.0) -> None:
        """Raise where the server is gone.

        Args:
            within: Seconds to wait for news of its death, after a connection broke.

        Raises:
            InstrumentError: With its exit code and its last lines.
        """
        if self._dead.wait(within):
            raise self._gone("the server ended")

    def until_ready(self, ready: Ready, url: str | None) -> None:
        """Wait until it answers.

        Args:
            ready: What to wait for.
            url: Its base URL, for a path or a port.

        Raises:
            InstrumentError: It ended, or the time is over.
        """
        end = time.monotonic() + ready.timeout
        said = None if ready.log is None else self._log.expect(ready.log)
        while not self._answers(ready, url, said):
            self.require_alive(_LOOK)
            if time.monotonic() >= end:
                tail = self._log.last_words()
                self.stop()
                raise InstrumentError(
                    f"the server was not ready after {ready.timeout:g} s{tail}",
                    where=self._name,
                    hint="raise `ready.timeout`, or look at its log",
                )
        self.require_alive(_LOOK)  # whoever answered, it must be this one

    def stop(self) -> None:
        """End it and all it started; twice is no error."""
        if self._process.poll() is None:
            with suppress(OSError):
                self._process.terminate()
            try:
                self._process.wait(self._grace + 5)
            except subprocess.TimeoutExpired:  # the keeper itself hangs
                self._process.kill()
                self._process.wait()
        self._dead.set()
        self._log.join(2)

    def _wait(self) -> None:
        self._process.wait()
        self._dead.set()

    def _answers(self, ready: Ready, url: str | None, said: threading.Event | None) -> bool:
        checks: list[bool] = []
        if said is not None:
            checks.append(said.is_set())
        if url is not None and (ready.port or ready.path is not None):
            split = urlsplit(url)
            checks.append(accepts(split.hostname or "", split.port or 80))
        if url is not None and ready.path is not None and all(checks):
            checks.append(_page(url + ready.path))
        return all(checks)

    def _gone(self, what: str) -> InstrumentError:
        self._log.join(1)
        return InstrumentError(
            f"{what} with code {self._process.returncode}{self._log.last_words()}",
            where=self._name,
            hint="mend the server; finished instances are kept, and the same --stem goes on",
        )


def _page(url: str) -> bool:
    """Whether a page answers with anything but a server error."""
    try:
        with Client(retries=0, timeout=_IMPATIENT) as client, client.open("GET", url):
            return True
    except HttpError as error:
        return error.status is not None and error.status < _SERVER_ERROR
