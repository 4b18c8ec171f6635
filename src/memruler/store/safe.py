"""Reads and writes that a link, a kill or a full disk cannot turn into damage.

Refused: a symbolic link at the final name, one that appears in the way after the path was
resolved, a file with a second hard link, and whatever is no regular file. A file is judged by its
open inode before anything in it is changed; whole files are replaced in one step. The reasons and
the limits are in docs/design/safe-writes.md.
"""

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from memruler.errors import InstrumentError, UsageError
from memruler.store.anchor import Anchor, anchor, resolve
from memruler.store.faults import explained

__all__ = [
    "TEMPORARY",
    "atomic_file",
    "make_dir",
    "open_append",
    "open_read",
    "read_bytes",
    "remove_tree",
    "write_atomic",
]

TEMPORARY = ".memruler-"
"""How the names of temporary files begin; only a kill leaves one behind."""

_TRIES = 5


class _Disk(io.FileIO):
    """A file that writes all it is given, or says which file failed and what to do."""

    def __init__(self, fd: int, mode: str, path: Path) -> None:
        super().__init__(fd, mode)
        self.path = path

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        with explained("write the file", self.path):
            while done < len(view):  # the system may take less than it is given
                done += super().write(view[done:])
        return done

    def truncate(self, size: int | None = None) -> int:
        with explained("shorten the file", self.path):
            return super().truncate(size)


def _judge(path: Path, state: os.stat_result, *, hard_links: bool = False) -> None:
    """Refuse what is not a plain file with one name (or several, with `hard_links`)."""
    mode = state.st_mode
    if stat.S_ISLNK(mode):
        raise UsageError(
            "refusing a symbolic link where a file belongs",
            where=path,
            hint="remove the link, or name the real file",
        )
    if stat.S_ISDIR(mode):
        raise UsageError("it is a folder, not a file", where=path, hint="name a file")
    if not stat.S_ISREG(mode):
        raise UsageError("it is not a regular file", where=path, hint="name a regular file")
    if state.st_nlink > 1 and not hard_links:
        raise UsageError(
            "refusing a file with a second hard link: it may be somebody else's file",
            where=path,
            hint="copy it to a file of its own, or remove it",
        )


@contextmanager
def atomic_file(path: Path, *, resolved: bool = False) -> Iterator[BinaryIO]:
    """Write a whole file by a temporary sibling that takes its name at the end.

    Whatever goes wrong inside, a file that stood at `path` is untouched and no temporary file
    stays behind (a kill can leave one, never half a file at `path`).

    Args:
        path: The file to write or replace; its folder must exist.
        resolved: The folder was resolved before, so that any link on the way is refused.

    Yields:
        The file to write to.

    Raises:
        UsageError: What stands at `path` must not be replaced, or its folder is missing.
        InstrumentError: The disk is full, read-only or broken.
    """
    with anchor(path, resolved=resolved) as place:
        with explained("write the file", path):
            _judge_present(place)
            temporary = f"{TEMPORARY}{secrets.token_hex(8)}.tmp"
            fd = place.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, temporary)
        raw = _Disk(fd, "wb", path)
        file = io.BufferedWriter(raw)
        try:
            yield cast("BinaryIO", file)
            file.flush()
            with explained("write the file", path):
                os.fsync(fd)
                file.close()
                _judge_present(place)
                place.take(temporary)
                place.sync()
        finally:
            if not raw.closed:  # something failed: drop what the buffer still holds
                raw.close()
                with suppress(ValueError):
                    file.close()
            with suppress(OSError):  # gone already after success
                place.unlink(temporary)


def _judge_present(place: Anchor) -> None:
    state = place.stat()
    if state is not None:
        _judge(place.path, state)


def _present(place: Anchor) -> os.stat_result:
    state = place.stat()
    if state is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return state


def write_atomic(path: Path, data: bytes, *, resolved: bool = False) -> None:
    """Write or replace a whole file in one step; see `atomic_file`.

    Raises:
        UsageError: What stands at `path` must not be replaced, or its folder is missing.
        InstrumentError: The disk is full, read-only or broken.
    """
    with atomic_file(path, resolved=resolved) as file:
        file.write(data)


def open_append(path: Path, *, resolved: bool = False) -> BinaryIO:
    """Open a file for appending and reading; it is made if it is missing.

    It is judged by its open inode before anything is changed, and never truncated here. Writes
    are not buffered: each one reaches the operating system whole, or raises.

    Args:
        path: The file; its folder must exist.
        resolved: The folder was resolved before, so that any link on the way is refused.

    Raises:
        UsageError: What stands there must not be written to, or its folder is missing.
        InstrumentError: The disk is read-only or broken.
    """
    with anchor(path, resolved=resolved) as place, explained("open the file", path):
        _judge_present(place)  # a device may act on being opened, so look first
        fd = place.open(os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            _judge(path, os.fstat(fd))
        except BaseException:
            os.close(fd)
            raise
    return cast("BinaryIO", _Disk(fd, "ab+", path))


def open_read(path: Path, *, managed: bool = True, resolved: bool = False) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        path: The file.
        managed: The file is one that memruler itself writes (a run folder, a cache): then links
            of both kinds are refused, since only somebody else can have put them there. False
            for a person's own file, or for one that a package manager installed (those are often
            hard links): links are then resolved.
        resolved: The folder was resolved before, so that any link on the way is refused.

    Raises:
        UsageError: It is missing, not a regular file, or a link that is refused.
        InstrumentError: It cannot be read, or it changes faster than it can be opened.
    """
    target = path if managed or resolved else resolve(path)
    with (
        anchor(target, resolved=resolved or not managed) as place,
        explained("read the file", path),
    ):
        for _ in range(_TRIES):
            before = _present(place)
            _judge(path, before, hard_links=not managed)
            fd = place.open(os.O_RDONLY)
            try:
                after = os.fstat(fd)
                _judge(path, after, hard_links=not managed)
            except BaseException:
                os.close(fd)
                raise
            if os.path.samestat(before, after):
                return cast("BinaryIO", io.BufferedReader(io.FileIO(fd, "rb")))
            os.close(fd)  # replaced between the two looks, as another process may: look again
    raise InstrumentError(
        "the file was replaced each time it was opened", where=path, hint="try again"
    )


def read_bytes(path: Path, *, managed: bool = True, resolved: bool = False) -> bytes:
    """The whole content of a regular file; see `open_read`.

    Raises:
        UsageError: It is missing, not a regular file, or a link that is refused.
        InstrumentError: It cannot be read.
    """
    with (
        open_read(path, managed=managed, resolved=resolved) as file,
        explained("read the file", path),
    ):
        return file.read()


def make_dir(path: Path, *, resolved: bool = False) -> None:
    """Make a folder and its missing parents; that it exists already is no error.

    Raises:
        UsageError: A file or a symbolic link stands there, or a link appeared in the way.
        InstrumentError: It cannot be made.
    """
    with anchor(path, resolved=resolved, make=True) as place, explained("make the folder", path):
        place.make_folder()
        mode = _present(place).st_mode
        if stat.S_ISLNK(mode):
            raise UsageError(
                "refusing a symbolic link where a folder belongs",
                where=path,
                hint="remove the link, or name the real folder",
            )
        if not stat.S_ISDIR(mode):
            raise UsageError(
                "a file stands where a folder belongs", where=path, hint="choose another name"
            )
        place.sync()


def remove_tree(path: Path, *, resolved: bool = False) -> None:
    """Remove a folder with everything in it; that it is gone already is no error.

    Links inside are removed and never followed; a link at `path` itself is refused.

    Raises:
        UsageError: A link or a file stands at `path`.
        InstrumentError: Something in it cannot be removed.
    """
    if not path.parent.exists():
        return
    with anchor(path, resolved=resolved) as place, explained("remove the folder", path):
        state = place.stat()
        if state is None:
            return
        if not stat.S_ISDIR(state.st_mode):
            raise UsageError(
                "refusing to remove what is not a folder", where=path, hint="check the path"
            )
        place.remove_tree()
        place.sync()
