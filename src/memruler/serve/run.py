"""Runs the server until a signal ends it, then finishes what is under way."""

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from memruler.errors import UsageError
from memruler.model.system import MemorySystem
from memruler.serve.app import application
from memruler.serve.limits import Rate, Tokens
from memruler.serve.spaces import Spaces
from memruler.serve.words import LARGEST_BODY

__all__ = ["serve"]

_GRACE = 5


def serve(
    system: MemorySystem,
    folder: Path,
    *,
    port: int,
    tokens: Path | None = None,
    rate: float | None = None,
    largest: int | None = None,
) -> None:
    """Serve on 127.0.0.1; returns when it is told to stop and has finished.

    Args:
        system: Whose memories are served.
        folder: Where their data lies.
        port: 0 takes a free one; which, is printed.
        tokens: File of tokens; None lets every local program in.
        rate: Requests a second for each workspace; None for no limit.
        largest: Bytes of a request.

    Raises:
        UsageError: The file of tokens is wrong, or the port is taken.
    """
    app = application(
        Spaces(system, folder.absolute()),
        tokens=Tokens({}) if tokens is None else Tokens.read(tokens),
        rate=Rate(rate),
        largest=largest or LARGEST_BODY,
    )
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE)
    with _bound(port) as bound, _ended_by_signals():
        taken = bound.getsockname()[1]
        sys.stderr.write(f"memruler serves at http://127.0.0.1:{taken} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        uvicorn.Server(config).run(sockets=[bound])


def _bound(port: int) -> socket.socket:
    """A socket on the loopback address; nobody else can reach it."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"the port cannot be used: {error.strerror}",
            where=f"127.0.0.1:{port}",
            hint="choose another --port; 0 takes a free one",
        ) from error


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Being told to stop is how a server ends, and no failure.

    uvicorn finishes what is under way and then raises the signal again, for whoever handled it
    before: here nobody.
    """
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    pass
