"""Files outside: which were changed since a moment, and what stands in them."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from memruler.store.paths import cache_dir, state_dir

__all__ = ["changed_since", "holders", "known_places"]

_DEEP = 5
_MOST = 20_000
_LARGEST = 64 * 2**20
_STEP = 2**20
_SKIPPED = frozenset({"node_modules", ".git", "site-packages", "__pycache__", "proc", "sys"})


def known_places() -> list[Path]:
    """Where programs put data that nobody told them where to put."""
    home = Path.home()
    named = [
        os.environ.get(name)
        for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
    ]
    found = [Path.cwd(), home, Path(tempfile.gettempdir()), *(Path(one) for one in named if one)]
    return list(dict.fromkeys(place.resolve() for place in found))


def changed_since(moment: float, apart: Path) -> tuple[list[Path], bool]:
    """Files in the known places that were changed since.

    Args:
        moment: Seconds since 1970.
        apart: A folder that is left out, with memruler's own caches.

    Returns:
        The files, and whether there was more than could be looked at.
    """
    walk = _Walk(moment, {apart.resolve(), cache_dir().resolve(), state_dir().resolve()})
    found = {path for place in known_places() for path in walk.changed(place, _DEEP)}
    return sorted(found), walk.left <= 0


class _Walk:
    """A walk through folders that ends after so many entries.

    Args:
        moment: Files that were changed since are told.
        seen: Folders that are left out.
    """

    def __init__(self, moment: float, seen: set[Path]) -> None:
        self._moment = moment
        self._seen = seen
        self.left = _MOST

    def changed(self, folder: Path, deep: int) -> Iterator[Path]:
        """The files, so many levels deep; no link is followed."""
        if folder in self._seen or folder.name in _SKIPPED:
            return
        self._seen.add(folder)
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                self.left -= 1
                if self.left <= 0:
                    return
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        yield from self.changed(Path(entry.path), deep - 1) if deep else ()
                    elif entry.is_file(follow_symlinks=False):
                        when = entry.stat(follow_symlinks=False).st_mtime
                        yield from (Path(entry.path),) if when >= self._moment else ()


def holders(paths: Iterable[Path], word: str) -> list[Path]:
    """Those files in which a word stands as plain bytes, in UTF-8 or UTF-16."""
    wanted = [word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be")]
    return [path for path in paths if _holds(path, wanted)]


def _holds(path: Path, wanted: list[bytes]) -> bool:
    with suppress(OSError):
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return False
        with path.open("rb") as file:
            tail = b""
            while block := file.read(_STEP):
                window = tail + block
                if any(word in window for word in wanted):
                    return True
                tail = window[-64:]
    return False
