"""Where memruler keeps what it can make or fetch again, and what it must remember."""

import os
from pathlib import Path

import platformdirs

__all__ = ["cache_dir", "state_dir"]


def cache_dir() -> Path:
    """The cache folder: `MEMRULER_CACHE` if set and not empty, else the platform's own.

    The folder is not created here; whoever writes into it makes it.
    """
    named = os.environ.get("MEMRULER_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("memruler", appauthor=False))


def state_dir() -> Path:
    """The folder of what must be remembered: `MEMRULER_STATE` if set, else the platform's own.

    The folder is not created here; whoever writes into it makes it.
    """
    named = os.environ.get("MEMRULER_STATE")
    return Path(named) if named else Path(platformdirs.user_state_dir("memruler", appauthor=False))
