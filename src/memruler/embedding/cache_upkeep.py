"""Looking after the files of vectors: what they hold, whether it is sound, and making room."""

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from memruler.embedding.cache_file import CacheFile
from memruler.embedding.cache_folder import VectorFile, vector_files
from memruler.errors import InstrumentError, MemrulerError

__all__ = ["Evicted", "FileReport", "clear", "evict", "reports"]

_SLACK = 16 * 1024
_ASIDE = "set aside, since it was damaged or its vectors were not the embedder's"

_T = TypeVar("_T")
_Label = dict[str, str | int | float | bool | None]
"""Flat, as it was written: what somebody else nested deeply would exhaust whoever shows it."""


class Evicted(NamedTuple):
    """What an eviction removed, and the bytes in use after it."""

    rows: int
    bytes_left: int


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
    embedder: _Label | None
    vectors: int | None
    bytes: int
    broken: int | None = None
    problem: str | None = None


class _Age(NamedTuple):
    """Rows of one file that were last used in the same hour."""

    hour: int
    path: Path
    rows: int
    bytes_a_row: float


def evict(folder: Path, limit: int) -> Evicted:
    """Remove vectors by least recent use, over all embedders, until `limit` bytes hold the rest.

    Files that were set aside go first. A file that cannot be opened is left alone and not counted.

    Raises:
        OSError: A file that was set aside cannot be removed.
        UsageError, InstrumentError: The folder cannot be read; see `vector_files`.
    """
    for file in vector_files(folder):
        if file.aside:
            file.remove()
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
    for path, _, _, aside in vector_files(folder):
        if aside:
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
    return [_report(file, check=check) for file in vector_files(folder)]


def _report(file: VectorFile, *, check: bool) -> FileReport:
    blank = FileReport(file=file.path.name, embedder=None, vectors=None, bytes=file.bytes)
    if file.aside:
        return msgspec.structs.replace(blank, problem=_ASIDE)
    try:
        with _opened(file.path) as rows:
            label = rows.embedder()
            count, broken = rows.check() if check else (rows.count(), None)
    except (sqlite3.Error, MemrulerError) as error:
        return msgspec.structs.replace(blank, problem=str(error))
    return msgspec.structs.replace(blank, embedder=_decoded(label), vectors=count, broken=broken)


def _decoded(label: str | None) -> _Label | None:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(label or "null", type=_Label)
    return None


def clear(folder: Path) -> int:
    """Remove all vectors and damaged files; how many vectors went.

    A file that another process has open is emptied and stays.

    Raises:
        InstrumentError: A file cannot be removed.
    """
    removed = 0
    for file in vector_files(folder):
        try:
            if not file.aside and not file.path.is_symlink():
                count, alone = _emptied(file.path)
                removed += count
                if not alone:
                    continue
            file.remove()
        except OSError as error:
            raise InstrumentError(
                f"cannot remove a cache file: {error.strerror}",
                where=file.path,
                hint="remove it by hand",
            ) from error
    return removed


def _emptied(path: Path) -> tuple[int, bool]:
    """Empty a file: how many rows went, and whether nobody else has it open."""
    try:
        with _opened(path) as file:
            count = file.count()
            file.remove_oldest(count)
            return count, file.alone()
    except (sqlite3.Error, MemrulerError):  # unreadable, or a link: nothing to empty
        return 0, True


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
