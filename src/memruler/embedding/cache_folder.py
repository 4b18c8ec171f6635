"""The folder of vector files: where it is, how large it may be, and how its files are called.

A file is called `<embedder digest>.<generation>.sqlite`. One that is damaged, or whose vectors are
not the embedder's, is renamed and the next generation takes its place: names are never used twice,
so a process that still has the old file open cannot tidy up the new one's side files.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from memruler.embedding.cache_file import SIDE_FILES
from memruler.errors import UsageError
from memruler.store.faults import explained, fault
from memruler.store.paths import cache_dir
from memruler.store.safe import make_dir

__all__ = [
    "VectorFile",
    "cache_limit",
    "current_file",
    "fresh_vectors",
    "other_bytes",
    "parse_size",
    "set_aside",
    "vector_files",
    "vectors_dir",
]

_DEFAULT_LIMIT = 2 * 1024**3
_LIMIT_VARIABLE = "MEMRULER_CACHE_MAX"
_FOLDER_VARIABLE = "MEMRULER_VECTORS"
_STEM_DIGITS = 32
_NAME = re.compile(
    r"(?P<stem>[0-9a-f]{32})\.(?P<generation>[0-9]{1,9})\.sqlite(?P<aside>\.damaged)?"
)
_SIZE = re.compile(
    r"\s*(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<unit>[kmgt]?)(?P<binary>i?)b?\s*",
    re.IGNORECASE,
)
"""15 digits are exact in a float, and more bytes than any disk has."""


class VectorFile(NamedTuple):
    """A file by its name; nothing is known of what is in it.

    Attributes:
        path: Where it is.
        stem: First digits of its embedder's digest.
        generation: From 1; one more each time a file was set aside.
        aside: Whether it was set aside.
    """

    path: Path
    stem: str
    generation: int
    aside: bool

    @property
    def sides(self) -> list[Path]:
        """The files that SQLite may keep beside it."""
        return [self.path.with_name(self.path.name + suffix) for suffix in SIDE_FILES]

    @property
    def bytes(self) -> int:
        """Its size on disk, side files included."""
        return sum(_size(path) for path in (self.path, *self.sides))

    def remove(self) -> None:
        """Remove it with its side files; that it is gone already is no error.

        Raises:
            OSError: It cannot be removed.
        """
        for path in (self.path, *self.sides):
            path.unlink(missing_ok=True)


def vectors_dir() -> Path:
    """Where the files are: `MEMRULER_VECTORS`, else `vectors` in the cache folder.

    It may not exist.
    """
    named = os.environ.get(_FOLDER_VARIABLE)
    return Path(named) if named else cache_dir() / "vectors"


@contextmanager
def fresh_vectors() -> Iterator[None]:
    """Keep vectors in an empty folder of its own inside, here and in processes started here.

    What is timed inside embeds every text that it did not embed itself. Not for threads: the
    environment is one for all of them.
    """
    before = os.environ.get(_FOLDER_VARIABLE)
    with TemporaryDirectory(prefix="memruler-vectors-") as folder:
        os.environ[_FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[_FOLDER_VARIABLE]
            else:
                os.environ[_FOLDER_VARIABLE] = before


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


def vector_files(folder: Path) -> Iterator[VectorFile]:
    """Every file of vectors, by name; none if the folder is missing.

    Raises:
        UsageError: A link or a file stands in the path, or it is too long.
        InstrumentError: The folder cannot be read.
    """
    try:
        if folder.is_symlink():
            raise UsageError(
                "refusing a symbolic link where the folder of vectors belongs",
                where=folder,
                hint="remove the link",
            )
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise fault("read the cache folder", folder, error) from error
    for path in paths:
        match = _NAME.fullmatch(path.name)
        if match is not None:
            yield VectorFile(path, match["stem"], int(match["generation"]), bool(match["aside"]))


def current_file(folder: Path, digest: str) -> Path:
    """The file that now serves the embedder of this digest; the folder is made if missing.

    Raises:
        UsageError: A link or a file stands where the folder belongs.
        InstrumentError: The folder cannot be made or read.
    """
    with explained("read the cache folder", folder):
        new = not folder.exists()
    make_dir(folder)
    if new:
        folder.chmod(0o700)  # vectors tell something about their texts
    stem = digest[:_STEM_DIGITS]
    used = [(file.generation, file.aside) for file in vector_files(folder) if file.stem == stem]
    generation, aside = max(used, default=(1, False))
    return folder / f"{stem}.{generation + aside}.sqlite"


def set_aside(path: Path) -> None:
    """Rename a file that must not be used; the next generation takes its place.

    Only one such file is kept for an embedder.

    Raises:
        OSError: It cannot be renamed.
    """
    with suppress(FileNotFoundError):  # another process was first
        path.rename(path.with_name(path.name + ".damaged"))
    for suffix in SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    stem = path.name[:_STEM_DIGITS]
    aside = [file for file in vector_files(path.parent) if file.aside and file.stem == stem]
    for old in sorted(aside, key=lambda file: file.generation)[:-1]:
        old.remove()


def other_bytes(folder: Path, path: Path) -> int:
    """Bytes on disk of all files of vectors but `path`; not their side files, soon emptied."""
    return sum(_size(file.path) for file in vector_files(folder) if file.path != path)


def _size(path: Path) -> int:
    with suppress(OSError):  # not there, or removed meanwhile
        return path.lstat().st_size
    return 0
