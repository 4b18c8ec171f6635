"""Where memruler keeps what it can make or fetch again."""

import os
from pathlib import Path

import platformdirs

__all__ = ["cache_dir"]


def cache_dir() -> Path:
    """The cache folder: `MEMRULER_CACHE` if set and not empty, else the platform's own.

    The folder is not created here; whoever writes into it makes it.
    """
    named = os.environ.get("MEMRULER_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("memruler", appauthor=False))
