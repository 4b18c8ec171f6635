"""The caches and the corpora on this machine: how large, writable, and as they were pinned?"""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memruler.corpora.cached import locate, state
from memruler.corpora.pins import pins
from memruler.corpora.registry import BUNDLED
from memruler.embedding.cache_folder import cache_limit, vectors_dir
from memruler.embedding.cache_upkeep import reports
from memruler.errors import MemrulerError, UsageError
from memruler.judges.replies import replies_path, replies_report
from memruler.store.paths import cache_dir
from memruler.studies.doctor_record import Finding

__all__ = ["caches", "corpora"]

_READ_AT_ONCE = 500_000_000
"""Bytes of vectors that are all read and checked; with more, their number is enough here."""
_MB = 1_000_000


def caches(own: str) -> Iterator[Finding]:
    """The cache's folder, the vectors in it, and the replies that were paid for.

    Args:
        own: The command line that calls memruler.
    """
    folder = cache_dir()
    fault = _unwritable(folder)
    yield Finding(
        area="cache",
        name="folder",
        state="broken" if fault else "ok",
        found=f"{folder}: {fault or ('writable' if folder.is_dir() else 'made when needed')}",
        do="mend its permissions, or name another folder in MEMRULER_CACHE" if fault else None,
    )
    yield _vectors(own)
    yield _replies()


def _vectors(own: str) -> Finding:
    try:
        limit = cache_limit()
    except UsageError:  # its message quotes the value
        return Finding(
            area="cache",
            name="vectors",
            state="broken",
            found="MEMRULER_CACHE_MAX holds no size",
            do="write it like 500MB or 2GiB, or unset it",
        )
    try:
        seen = reports(vectors_dir())
    except MemrulerError as error:
        return Finding(
            area="cache", name="vectors", state="broken", found=str(error), do=error.hint
        )
    size = sum(file.bytes for file in seen)
    check = size <= _READ_AT_ONCE
    if check:
        seen = reports(vectors_dir(), check=True)
    broken = sum(file.broken or 0 for file in seen)
    unusable = sum(file.problem is not None for file in seen)
    rows = sum(file.vectors or 0 for file in seen)
    told = f"{rows:,} vectors, {size / _MB:,.1f} MB of {limit / _MB:,.0f} MB"
    if broken or unusable:
        return Finding(
            area="cache",
            name="vectors",
            state="broken",
            found=f"{told}; {broken} broken vectors and {unusable} unusable files; once removed, "
            "they are computed again",
            do=f"{own} cache clear",
        )
    read = "every one as it was sealed" if check else "not all read"
    return Finding(
        area="cache",
        name="vectors",
        state="ok",
        found=f"{told}; {read}" if rows else told,
        do=None if check else f"{own} cache verify reads them all",
    )


def _replies() -> Finding:
    try:
        held = replies_report()
        fault = _quick_check(replies_path()) if held.bytes else None
    except (MemrulerError, sqlite3.Error) as error:
        held, fault = None, str(error)
    if held is None or fault is not None:
        return Finding(
            area="cache",
            name="replies",
            state="broken",
            found=f"the file of replies is not sound: {fault}",
            do=f"move {replies_path()} away (replies are paid for anew), or restore a copy",
        )
    told = f"{held.replies:,} replies of models, {held.bytes / _MB:,.1f} MB"
    return Finding(area="cache", name="replies", state="ok", found=told)


def _quick_check(path: Path) -> str | None:
    """What SQLite finds wrong with a file; None for nothing."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        said = file.execute("PRAGMA quick_check(1)").fetchone()[0]
    return None if said == "ok" else str(said)


def _unwritable(folder: Path) -> str | None:
    """Why nothing can be written below a folder that may not exist yet; None where it can."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is no folder"
    try:
        with tempfile.TemporaryFile(dir=there):
            return None
    except OSError as error:
        return f"cannot be written to ({error.strerror})"


def corpora(own: str) -> Iterator[Finding]:
    """The bundled corpus, those that are cached, held against their pins, and those that are not.

    Args:
        own: The command line that calls memruler.
    """
    bundled = BUNDLED.is_file()
    yield Finding(
        area="corpora",
        name="synthetic",
        state="ok" if bundled else "broken",
        found="bundled" if bundled else "its file is not in the package",
        do=None if bundled else "reinstall memruler",
    )
    absent = []
    for name, pin in pins().items():
        if pin.url is None:
            continue
        there = state(name)
        if there == "absent":
            absent.append(name)
        elif there == "partial":
            yield Finding(
                area="corpora",
                name=name,
                state="missing",
                found="a download was broken off; it goes on where it stopped",
                do=f"{own} fetch {name}",
            )
        else:
            yield _cached(name, own)
    if absent:
        yield Finding(
            area="corpora",
            name="others",
            state="missing",
            found=f"not fetched: {', '.join(absent)}",
            do=f"{own} fetch NAME",
        )


def _cached(name: str, own: str) -> Finding:
    try:
        found = locate(name)
    except MemrulerError as error:
        return Finding(
            area="corpora",
            name=name,
            state="broken",
            found=error.what,
            do=f"{own} fetch {name} --force",
        )
    told = f"cached, SHA-256 {found.sha256[:12]} as pinned ({found.tier})"
    return Finding(area="corpora", name=name, state="ok", found=told)
