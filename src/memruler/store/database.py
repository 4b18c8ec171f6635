"""SQLite files that memruler keeps for itself: opened without following a link, judged when broken.

Errors of SQLite and of the operating system pass through here; who keeps the file says what they
mean.
"""

import sqlite3
import stat
from contextlib import suppress
from pathlib import Path

from memruler.errors import UsageError
from memruler.store.safe import open_append

__all__ = ["SIDE_FILES", "is_damage", "open_database"]

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite may append to a file's name for a file of its own."""

_BUSY_SECONDS = 30.0

# SQLite's ERROR among them: our statements are fixed, so it can only mean a foreign schema.
_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_damage(error: BaseException) -> bool:
    """Whether the error says that the file itself is broken or foreign."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.DatabaseError) and (
        code is None or (code & 0xFF) in _DAMAGE  # the rest is SQLite's extended code
    )


def open_database(path: Path, *, mode: int | None = None) -> sqlite3.Connection:
    """Connect to a file, which is made (empty) if it is missing; transactions are explicit.

    Args:
        path: The file, in a folder that exists.
        mode: Permissions that the file gets, such as 0o600; SQLite gives its side files the same.
            None for the system's own.

    Raises:
        UsageError: A link or something else that must not be written to stands at `path`.
        InstrumentError: The folder is read-only or the disk failed.
        OSError: The permissions cannot be set.
        sqlite3.Error: SQLite cannot use the file.
    """
    # Judged and, if need be, made by its open inode. SQLite opens it once more by name, which
    # a link made in between could redirect: see docs/embedding.md.
    open_append(path).close()
    if mode is not None:
        path.chmod(mode)
    for suffix in SIDE_FILES:
        _refuse_link(path.with_name(path.name + suffix))
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def _refuse_link(path: Path) -> None:
    """Refuse a link of either kind where SQLite may write; that nothing is there is fine."""
    with suppress(FileNotFoundError):
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode) or state.st_nlink > 1:
            raise UsageError("refusing a link where a file belongs", where=path, hint="remove it")
