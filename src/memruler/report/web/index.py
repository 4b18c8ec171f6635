"""The runs below a folder: found by listing it, and read again only when they changed."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock

from memruler.errors import UsageError
from memruler.report.web.listed import Listed, key_of, read_listed
from memruler.store.folder import JOURNAL, MANIFEST, TABLES

__all__ = ["RunIndex"]

_DEEPEST = 3
_SUMMARY = "summary.json"
_OF_A_RUN = (MANIFEST, JOURNAL, *(f"{table}.parquet" for table in TABLES))

_Stamp = tuple[tuple[int, int, int] | None, ...]


class RunIndex:
    """What lies below a folder, as a list that stays in memory.

    A run is read when it is new, or when its folder, manifest or summary changed (time, size or
    file number); otherwise looking costs three `stat` calls. Runs may lie up to three folders
    deep; folders inside a run, those with a dot in front, and links to folders that are no run
    are not looked into.

    Args:
        root: The folder.

    Raises:
        UsageError: There is no such folder, it cannot be listed, or it is itself a run.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = Lock()
        self._known: dict[str, tuple[_Stamp, Listed]] = {}
        _require_folder(root)

    def runs(self) -> Mapping[str, Listed]:
        """Every run by its key, in the order of their names, as the disk is now."""
        with self._lock:
            fresh: dict[str, tuple[_Stamp, Listed]] = {}
            for relative in sorted(_found(self.root, "", 1)):
                key, stamp = key_of(relative), self._stamp(relative)
                known = self._known.get(key)
                # Stamped before it is read: what changes in between is read again next time.
                fresh[key] = (
                    known
                    if known and known[0] == stamp
                    else (stamp, read_listed(self.root, relative))
                )
            self._known = fresh
            return {key: listed for key, (_, listed) in fresh.items()}

    def _stamp(self, relative: str) -> _Stamp:
        folder = self.root / relative
        return tuple(_of(path) for path in (folder, folder / MANIFEST, folder / _SUMMARY))


def _of(path: Path) -> tuple[int, int, int] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size, now.st_ino


def _require_folder(root: Path) -> None:
    try:
        names = set(os.listdir(root))  # noqa: PTH208 - names only
    except OSError as error:
        raise UsageError(
            f"the folder of runs cannot be listed: {error.strerror or error}",
            where=root,
            hint="name a folder that holds run folders, such as runs",
        ) from error
    if names & set(_OF_A_RUN):
        raise UsageError(
            "this is a run itself, not a folder of runs",
            where=root,
            hint="name the folder that holds it",
        )


def _found(folder: Path, below: str, depth: int) -> Iterator[str]:
    """Paths of the runs in a folder, below the root."""
    try:
        with os.scandir(folder) as entries:
            inner = [entry for entry in entries if _may_hold(entry)]
    except OSError:  # gone, or not ours to see
        return
    for entry in inner:
        relative = f"{below}{entry.name}"
        path = folder / entry.name
        if any(os.path.lexists(path / name) for name in _OF_A_RUN):
            yield relative
        elif depth < _DEEPEST and not entry.is_symlink():
            yield from _found(path, f"{relative}/", depth + 1)


def _may_hold(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir()
    except OSError:
        return False
