"""One process on a folder: the operating system frees the lock when the process ends."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from memruler.errors import UsageError
from memruler.store.faults import explained
from memruler.store.safe import open_append

if TYPE_CHECKING:  # reading needs no lock, and should not wait for it
    import filelock

__all__ = ["LOCK", "lock_folder"]

LOCK: Final = ".lock"


def lock_folder(path: Path, *, named: str, busy: str, option: str) -> "filelock.BaseFileLock":
    """Lock a folder that is there.

    Args:
        path: The folder, every link in its path resolved.
        named: What it is, where the disk fails.
        busy: What another process is doing, where it holds the lock.
        option: By which a person chooses another folder.

    Raises:
        UsageError: Another process holds it.
        InstrumentError: The disk failed.
    """
    import filelock  # noqa: PLC0415 - see above

    open_append(path / LOCK, resolved=True).close()  # judged before it is locked
    lock = filelock.FileLock(path / LOCK, timeout=0, thread_local=False)
    with explained(f"lock {named}", path):
        try:
            lock.acquire()
        except filelock.Timeout:  # it is an OSError too
            raise UsageError(
                f"another process is {busy}",
                where=path,
                hint=f"wait for it, or choose another {option}",
            ) from None
    return lock
