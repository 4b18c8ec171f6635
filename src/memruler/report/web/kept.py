"""Keeps the last few things that are slow to make, as long as the files they are made from stay."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Kept", "stamp_of"]

_Made = TypeVar("_Made")


class Kept(Generic[_Made]):
    """A few values by key, each with a stamp of what it was made from; the oldest use goes first.

    One caller makes a value, others who want the same wait for it. An error is not kept.

    Args:
        size: Most values kept, at least 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._making: dict[Hashable, Lock] = {}
        self._values: OrderedDict[Hashable, tuple[Hashable, _Made]] = OrderedDict()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], _Made]) -> _Made:
        """The value of `key` as of `stamp`: the one kept, or a new one.

        Args:
            key: What is wanted.
            stamp: Equal as long as a value made before is still right.
            make: Makes it; what it raises goes to the caller.
        """
        with self._lock:
            making = self._making.setdefault(key, Lock())
        try:
            with making:
                found = self._values.get(key)
                if found is None or found[0] != stamp:
                    found = (stamp, make())
                with self._lock:
                    self._values[key] = found
                    self._values.move_to_end(key)
                    while len(self._values) > self._size:
                        self._values.popitem(last=False)
                return found[1]
        finally:
            with self._lock:
                if not making.locked():
                    self._making.pop(key, None)


def stamp_of(folders: Iterable[Path]) -> Hashable:
    """What changes with any file of some run folders: names, times, sizes and file numbers.

    Args:
        folders: Run folders, some tens of files each; links are looked at and not followed.
    """
    return tuple(
        (path, now.st_mtime_ns, now.st_size, now.st_ino)
        for folder in folders
        for path, now in _files(str(folder))
    )


def _files(folder: str) -> list[tuple[str, os.stat_result]]:
    found: list[tuple[str, os.stat_result]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found += _files(entry.path)
                else:
                    found.append((entry.path, entry.stat(follow_symlinks=False)))
    except OSError:  # it goes away while we look; whoever reads it next will tell
        pass
    return sorted(found, key=lambda pair: pair[0])
