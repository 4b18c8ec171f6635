"""The folder of vector files: their names, sizes, eviction, checks, and how they are cleared.

A file is called `<embedder digest>.<generation>.sqlite`. A damaged one is renamed and the next
generation takes its place: names are never used twice, so a process that still has the old file
open cannot tidy up the new one's side files.
"""

import math
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from memruler.embedding.cache_file import CacheFile
from memruler.errors import InstrumentError, MemrulerError, UsageError
from memruler.store.paths import cache_dir
from memruler.store.safe import make_dir

__all__ = [
    "Evicted",
    "FileReport",
    "cache_limit",
    "clear",
    "current_file",
    "evict",
    "other_bytes",
    "parse_size",
    "reports",
    "set_aside",
    "vectors_dir",
]

_DEFAULT_LIMIT = 2 * 1024**3
_LIMIT_VARIABLE = "MEMRULER_CACHE_MAX"
_NAME = re.compile(
    r"(?P<stem>[0-9a-f]{32})\.(?P<generation>[0-9]{1,9})\.sqlite(?P<aside>\.damaged)?"
)
_SIZE = re.compile(
    r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[kmgt]?)(?P<binary>i?)b?\s*", re.IGNORECASE
)
_STEM_DIGITS = 32
_SLACK = 16 * 1024

_T = TypeVar("_T")


class Evicted(NamedTuple):
    """What an eviction removed, and the bytes in use after it."""

    rows: int
    bytes_left: int


class _Age(NamedTuple):
    """Rows of one file that were last used in the same hour."""

    hour: int
    path: Path
    rows: int
    bytes_a_row: float


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    """One file of vectors.

    Attributes:
        file: Its name.
        embedder: What the file says made it; None when it cannot be read.
        vectors: Rows; None when the file cannot be read.
        bytes: Size on disk, with side files.
        broken: Rows whose seal does not fit; None when not looked for.
        problem: Why the file cannot be used; None when it can.
    """

    file: str
    embedder: dict[str, Any] | None
    vectors: int | None
    bytes: int
    broken: int | None = None
    problem: str | None = None


def vectors_dir() -> Path:
    """Where the files are; it may not exist."""
    return cache_dir() / "vectors"


def parse_size(text: str) -> int:
    """Bytes from `500MB`, `2GiB`, `0`: decimal units, or binary ones with an `i`.

    Raises:
        UsageError: It is no size.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"not a size: {text!r}", hint="write it like 500MB or 2GiB")
    base = 1024 if match["binary"] else 1000
    return int(float(match["number"]) * base ** " kmgt".index(match["unit"].lower() or " "))


def cache_limit() -> int:
    """Bytes that all files together may use: `MEMRULER_CACHE_MAX`, else 2 GiB.

    Raises:
        UsageError: The variable holds no size.
    """
    named = os.environ.get(_LIMIT_VARIABLE)
    return parse_size(named) if named else _DEFAULT_LIMIT


def current_file(folder: Path, digest: str) -> Path:
    """The file that now serves the embedder of this digest; the folder is made if missing.

    Raises:
        UsageError: A link or a file stands where the folder belongs.
        InstrumentError: The folder cannot be made or read.
    """
    new = not folder.exists()
    make_dir(folder)
    if new:
        folder.chmod(0o700)  # vectors tell something about their texts
    stem = digest[:_STEM_DIGITS]
    used = [match for _, match in _files(folder) if match["stem"] == stem]
    latest = max((int(match["generation"]) for match in used), default=1)
    if any(match["aside"] and int(match["generation"]) == latest for match in used):
        latest += 1
    return folder / f"{stem}.{latest}.sqlite"


def set_aside(path: Path) -> None:
    """Rename a damaged file, so that the next generation takes its place; only one is kept.

    Raises:
        OSError: It cannot be renamed.
    """
    with suppress(FileNotFoundError):  # another process was first
        path.rename(path.with_name(path.name + ".damaged"))
    _remove_sides(path)
    stem = path.name[:_STEM_DIGITS]
    aside = [(int(m["generation"]), p) for p, m in _files(path.parent) if m["aside"]]
    for _, old in sorted((g, p) for g, p in aside if p.name.startswith(stem))[:-1]:
        old.unlink(missing_ok=True)


def other_bytes(folder: Path, path: Path) -> int:
    """Bytes on disk of all files of vectors but `path`; side files, soon emptied, apart."""
    sizes = 0
    for other, _ in _files(folder):
        with suppress(OSError):  # removed meanwhile
            sizes += other.lstat().st_size if other != path else 0
    return sizes


def evict(folder: Path, limit: int) -> Evicted:
    """Remove vectors by least recent use, over all embedders, until `limit` bytes hold the rest.

    Damaged files go first. A file that cannot be opened is left alone and not counted.
    """
    for path, match in _files(folder):
        if match["aside"]:
            path.unlink(missing_ok=True)
    removed, slack = 0, 0
    while True:
        ages, used = _ages(folder)
        doomed = _oldest(ages, used - limit + slack) if used > limit else {}
        if not doomed:
            return Evicted(removed, used)
        for path, rows in doomed.items():
            if _tried(path, partial(CacheFile.remove_oldest, count=rows)) is None:
                return Evicted(removed, used)
            removed += rows
        # Pages are freed whole, so a round may fall short by a few rows: ask for more each time.
        slack = 2 * slack + _SLACK


def _ages(folder: Path) -> tuple[list[_Age], int]:
    """The rows of all usable files by their last use, and the bytes they take."""
    ages: list[_Age] = []
    used = 0
    for path, match in _files(folder):
        if match["aside"]:
            continue
        state = _tried(path, lambda file: (file.live_bytes(), file.count(), file.ages()))
        if state is not None:
            live, rows, hours = state
            ages += [_Age(hour, path, count, live / rows) for hour, count in hours]
            used += live
    return ages, used


def _oldest(ages: list[_Age], excess: int) -> dict[Path, int]:
    """How many of each file's oldest rows hold `excess` bytes together."""
    doomed: dict[Path, int] = {}
    for age in sorted(ages):
        if excess <= 0:
            break
        rows = min(age.rows, math.ceil(excess / age.bytes_a_row))
        doomed[age.path] = doomed.get(age.path, 0) + rows
        excess -= int(rows * age.bytes_a_row)
    return doomed


def reports(folder: Path, *, check: bool = False) -> list[FileReport]:
    """One report a file, by name.

    Args:
        folder: Where the files are.
        check: Read every row and compare it with its seal.
    """
    return [_report(path, match, check=check) for path, match in _files(folder)]


def clear(folder: Path) -> int:
    """Remove all vectors and damaged files; how many vectors went.

    A file that another process has open is emptied and stays.

    Raises:
        InstrumentError: A file cannot be removed.
    """
    removed = 0
    for path, match in _files(folder):
        try:
            if not match["aside"] and not path.is_symlink():
                count, removable = _emptied(path)
                removed += count
                if not removable:
                    continue
            path.unlink(missing_ok=True)
            _remove_sides(path)
        except OSError as error:
            raise InstrumentError(
                f"cannot remove a cache file: {error.strerror}", where=path, hint="remove it"
            ) from error
    return removed


def _emptied(path: Path) -> tuple[int, bool]:
    """Empty a file: how many rows went, and whether nobody else has it open."""
    try:
        with _opened(path) as file:
            count = file.count()
            file.remove_oldest(count)
            return count, file.alone()
    except sqlite3.DatabaseError:  # unreadable: nothing to empty
        return 0, True


def _report(path: Path, match: re.Match[str], *, check: bool) -> FileReport:
    size = _bytes(path)
    if match["aside"]:
        problem = "set aside, since it was damaged"
        return FileReport(file=path.name, embedder=None, vectors=None, bytes=size, problem=problem)
    try:
        with _opened(path) as file:
            label = file.embedder()
            rows, broken = file.check() if check else (file.count(), None)
    except (sqlite3.Error, MemrulerError) as error:
        return FileReport(
            file=path.name, embedder=None, vectors=None, bytes=size, problem=str(error)
        )
    return FileReport(
        file=path.name, embedder=_decoded(label), vectors=rows, bytes=size, broken=broken
    )


def _decoded(label: str | None) -> dict[str, Any] | None:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(label or "null", type=dict[str, Any])
    return None


def _files(folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    """Every file of vectors, by name; nothing if the folder is missing or a link."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match is not None:
            yield path, match


@contextmanager
def _opened(path: Path) -> Iterator[CacheFile]:
    with closing(CacheFile(path, None)) as file:
        yield file


def _tried(path: Path, action: Callable[[CacheFile], _T]) -> _T | None:
    """What `action` makes of the file; None if something is wrong with the file."""
    try:
        with _opened(path) as file:
            return action(file)
    except (sqlite3.Error, MemrulerError):
        return None


def _sides(path: Path) -> Iterator[Path]:
    for suffix in ("-wal", "-shm", "-journal"):
        yield path.with_name(path.name + suffix)


def _bytes(path: Path) -> int:
    total = 0
    for part in (path, *_sides(path)):
        with suppress(OSError):
            total += part.lstat().st_size
    return total


def _remove_sides(path: Path) -> None:
    for side in _sides(path):
        side.unlink(missing_ok=True)
