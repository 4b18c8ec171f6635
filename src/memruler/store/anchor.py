"""A name inside a folder that is held open, so that swapping a parent cannot redirect it.

The folder's path is resolved once. Its parts are then opened one by one from the root, none of
them through a symbolic link, and every later step is relative to the open folder. Where the
operating system cannot do that (Windows), the same methods work on the resolved path, and only
what was checked beforehand is known: see docs/design/safe-writes.md.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memruler.errors import UsageError
from memruler.store.faults import explained

__all__ = ["Anchor", "anchor", "resolve"]

# A flag and not a call, so that a test can force the other branch on any machine.
ANCHORED = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a fifo or a device must not hang before it can be judged.
_ALWAYS = _CLOEXEC | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# O_PATH needs only the right to pass through, which is all that `/home` gives on many machines.
_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC | _NOFOLLOW

_FILE_MODE = 0o644
_FOLDER_MODE = 0o755


class Anchor:
    """One name in one folder; made by `anchor`.

    Attributes:
        folder: The resolved folder.
        name: The last part of the path; it may not exist.
        fd: The open folder, or None where only paths can be used.
    """

    def __init__(self, folder: Path, name: str, fd: int | None) -> None:
        self.folder = folder
        self.name = name
        self.fd = fd

    @property
    def path(self) -> Path:
        """The whole path, for messages."""
        return self.folder / self.name

    def _at(self, name: str) -> str:
        return name if self.fd is not None else str(self.folder / name)

    def stat(self) -> os.stat_result | None:
        """What stands at the name itself, never what a link there points to; None if nothing."""
        try:
            return os.stat(self._at(self.name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, flags: int, name: str | None = None) -> int:
        """Open the name (or a sibling) without following a link; new files are 0o644 & ~umask."""
        target = self._at(name or self.name)
        return os.open(target, flags | _ALWAYS, _FILE_MODE, dir_fd=self.fd)

    def make_folder(self) -> None:
        """Make a folder of that name; that it exists already is no error."""
        with suppress(FileExistsError):
            os.mkdir(self._at(self.name), _FOLDER_MODE, dir_fd=self.fd)

    def take(self, temporary: str) -> None:
        """Give the sibling `temporary` this name, in one step."""
        os.replace(self._at(temporary), self._at(self.name), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def unlink(self, name: str | None = None) -> None:
        """Remove the name (or a sibling); that it is gone already is no error."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name or self.name), dir_fd=self.fd)

    def remove_tree(self) -> None:
        """Remove the folder of that name with everything in it; links are removed, not followed."""
        shutil.rmtree(self._at(self.name), dir_fd=self.fd)

    def sync(self) -> None:
        """Make the folder's entries durable, where the file system can."""
        if self.fd is None:
            return
        try:
            fd = os.open(".", os.O_RDONLY | _CLOEXEC, dir_fd=self.fd)
        except PermissionError:  # a folder that may be written but not listed
            return
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # it cannot sync folders
                raise
        finally:
            os.close(fd)


def resolve(path: Path) -> Path:
    """The absolute path with every symbolic link of today resolved; parts may be missing.

    Raises:
        UsageError: The path cannot name anything (a NUL byte, a loop of links).
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise UsageError(
            f"a path cannot hold this: {error}", where=path, hint="check the path"
        ) from error


@contextmanager
def anchor(path: Path, *, resolved: bool = False, make: bool = False) -> Iterator[Anchor]:
    """Hold the folder of `path` open.

    Args:
        path: The file or folder that is meant; its last part is not resolved.
        resolved: The parents were resolved before, so that any link on the way is refused.
        make: Make missing parents.

    Raises:
        UsageError: The path is no name, a parent is missing, or a link appeared in the way.
        InstrumentError: A parent cannot be opened or made.
    """
    if path.name in {"", ".", ".."} or "\0" in path.name:
        raise UsageError("the path does not name a file", where=path, hint="check the path")
    folder = path.parent if resolved else resolve(path.parent)
    if not ANCHORED:
        _check_parents(folder, make=make)
        yield Anchor(folder, path.name, None)
        return
    fd = _walk(folder, make=make)
    try:
        yield Anchor(folder, path.name, fd)
    finally:
        os.close(fd)


def _walk(folder: Path, *, make: bool) -> int:
    """Open the parts of `folder` from the root, none through a link; the caller closes."""
    with explained("open the folder", folder):
        fd = os.open(folder.anchor, _FOLDER)
    for part in folder.parts[1:]:
        try:
            with explained("open the folder", folder):
                try:
                    step = os.open(part, _FOLDER, dir_fd=fd)
                except FileNotFoundError:
                    if not make:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(part, _FOLDER_MODE, dir_fd=fd)
                    step = os.open(part, _FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = step
    return fd


def _check_parents(folder: Path, *, make: bool) -> None:
    """The best that can be done with paths alone: look first, and act a moment later."""
    with explained("open the folder", folder):
        if make:
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        for part in (folder, *folder.parents):
            if part.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not folder.is_dir():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
