"""Listens on this machine until a person ends it."""

import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memruler.errors import InstrumentError, UsageError

__all__ = ["serve"]

_LOOPBACK = "127.0.0.1"
_INSTALL = "pip install 'memruler[view]'"
_BACKLOG = 128
_LAST_SECONDS = 2


def serve(root: Path, port: int, ready: Callable[[str], None]) -> None:
    """Show the runs below a folder until an interrupt, which is the way to end it.

    Args:
        root: The folder.
        port: On 127.0.0.1; 0 for any that is free.
        ready: Called with the address, token and all, once connections are taken.

    Raises:
        UsageError: The folder or the port cannot be used, or the extra `view` is not installed.
        InstrumentError: This machine has no loopback address that can be listened on.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from memruler.report.web.app import application  # noqa: PLC0415 - needs starlette
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"starlette", "uvicorn"}:
            raise
        raise UsageError(
            f"the view needs {error.name}, which is not installed", hint=_INSTALL
        ) from None
    with _listening(port) as listener:
        own_port = listener.getsockname()[1]
        guarded = application(root, own_port)
        config = uvicorn.Config(
            guarded,
            access_log=False,  # addresses of a first visit hold the token
            log_level="error",
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        ready(f"http://{_LOOPBACK}:{own_port}/?token={guarded.token}")
        # The server shuts down cleanly and then raises the interrupt anew.
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    """A socket that takes connections on the loopback address only."""
    try:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        raise _refused(port, error) from error
    try:
        if os.name == "posix":  # elsewhere it would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _refused(port, error) from error
    return listener


def _refused(port: int, error: OSError) -> UsageError | InstrumentError:
    where = f"{_LOOPBACK}:{port}"
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            "another program listens on this port",
            where=where,
            hint="choose another --port, or leave it out for one that is free",
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return UsageError(
            "this port may not be used", where=where, hint="choose a --port above 1023"
        )
    return InstrumentError(
        f"cannot listen on this machine: {error.strerror or error}",
        where=where,
        hint="leave out --port for one that is free",
    )
