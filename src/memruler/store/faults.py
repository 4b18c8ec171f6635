"""What the operating system reports, in one line for people."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memruler.errors import InstrumentError, MemrulerError, UsageError

__all__ = ["explained", "fault"]

_KEPT = "what was complete before is unchanged"

# errno to (what happened, what to do next): the ruler broke, the call was right.
_DISK = {
    errno.ENOSPC: ("the disk is full", f"free some space and run the same command again; {_KEPT}"),
    errno.EDQUOT: (
        "the disk quota is used up",
        f"free some space or raise the quota, then run the same command again; {_KEPT}",
    ),
    errno.EFBIG: (
        "the file would exceed the size this account may write",
        f"raise the limit (`ulimit -f`) or the file system's; {_KEPT}",
    ),
    errno.EROFS: ("the folder is on a read-only file system", "choose another folder"),
    errno.EACCES: (
        "permission denied",
        "allow this account to use the file and its folder, or choose another place",
    ),
    errno.EPERM: (
        "the operating system does not permit it",
        "allow this account to use the file and its folder, or choose another place",
    ),
    errno.EIO: ("the disk reports an input/output error", "check the disk before you run again"),
}

# The call names something that is not there, or not what it should be.
_CALL = {
    errno.ENOENT: ("no such file or folder", "check the path"),
    errno.ENOTDIR: ("a part of the path is not a folder", "check the path"),
    errno.EISDIR: ("it is a folder, not a file", "name a file"),
    errno.ELOOP: ("a symbolic link stands in the path", "name the real file or folder"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
}


def fault(action: str, path: Path, error: OSError) -> MemrulerError:
    """The error to raise for `error`.

    Args:
        action: What was attempted, as it follows `cannot` (`write the file`).
        path: What it was attempted on.
        error: What the operating system said.

    Returns:
        A `UsageError` where the path is to blame, an `InstrumentError` otherwise.
    """
    number = error.errno or 0
    if number in _CALL:
        what, hint = _CALL[number]
        return UsageError(f"cannot {action}: {what}", where=path, hint=hint)
    what, hint = _DISK.get(number, (error.strerror or type(error).__name__, _KEPT))
    return InstrumentError(f"cannot {action}: {what}", where=path, hint=hint)


@contextmanager
def explained(action: str, path: Path) -> Iterator[None]:
    """Turn what the operating system raises inside into an error for people.

    Args:
        action: What is attempted, as it follows `cannot`.
        path: What it is attempted on.

    Raises:
        InstrumentError: The disk or its permissions failed.
        UsageError: The path is to blame.
    """
    try:
        yield
    except OSError as error:
        raise fault(action, path, error) from error
