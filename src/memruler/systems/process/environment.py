"""The environment and the port of a started server."""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["accepts", "environment", "free_port"]

LOOPBACK = "127.0.0.1"

_PASSED = ("PATH", "LANG", "LC_ALL", "TZ")
"""All that a server gets of the caller's variables unless its file names more."""


def environment(folder: Path, own: Mapping[str, str], passed: Sequence[str]) -> dict[str, str]:
    """Variables of a server: a scrubbed set, a home and a temporary folder of its own.

    Args:
        folder: Where the server's data lies.
        own: What its file sets; wins over everything else.
        passed: Names of the caller's variables that it may see.
    """
    here = {name: os.environ[name] for name in (*_PASSED, *passed) if name in os.environ}
    home = {"HOME": str(folder), "TMPDIR": str(folder), "XDG_CACHE_HOME": str(folder / ".cache")}
    # No child of ours looks a telemetry host up at start.
    quiet = {"ORT_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "ANONYMIZED_TELEMETRY": "False"}
    # Its output is a file: a line that were folded for a terminal could cut a secret in two.
    plain = {"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"}
    return {**quiet, **plain, **home, **here, **own}


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def accepts(host: str, port: int, seconds: float = 0.5) -> bool:
    """Whether anything listens there."""
    with suppress(OSError), socket.create_connection((host, port), timeout=seconds):
        return True
    return False
