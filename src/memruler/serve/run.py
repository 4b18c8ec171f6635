"""Runs the server until a signal ends it, then finishes what is under way."""

import sys
from pathlib import Path

import uvicorn

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
        UsageError: The file of tokens is wrong.
    """
    app = application(
        Spaces(system, folder.absolute()),
        tokens=Tokens({}) if tokens is None else Tokens.read(tokens),
        rate=Rate(rate),
        largest=largest or LARGEST_BODY,
    )
    config = uvicorn.Config(
        app, "127.0.0.1", port, log_level="warning", timeout_graceful_shutdown=_GRACE
    )
    sys.stderr.write(f"memruler serves at http://127.0.0.1:{port} (Ctrl-C ends it)\n")
    uvicorn.Server(config).run()
