"""The cache of vectors as an embedder sees it: it may save work, and it never breaks a run.

Rows are keyed by the digest of the embedder (identity and runtime) and the SHA-256 of the text,
so that a text is embedded once however many instances, arms and runs repeat it. Whatever goes
wrong with the cache is said once, in `warnings`, and costs time alone.
"""

import sqlite3
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from memruler.embedding.base import embedder_digest
from memruler.embedding.cache_file import CachedVector, CacheFile, is_damage
from memruler.embedding.cache_folder import (
    cache_limit,
    current_file,
    other_bytes,
    set_aside,
    vectors_dir,
)
from memruler.embedding.cache_upkeep import evict
from memruler.errors import MemrulerError
from memruler.model.system import EmbedderIdentity

__all__ = ["VectorCache"]

_T = TypeVar("_T")

_HOUR = 3600
_NOTE_AFTER = 4096
"""Uses that are kept in memory before they are written, so that a read is not a write."""
_EVICT_TO = 0.9
"""Share of the limit that an eviction leaves, so that it does not run at every write."""


class VectorCache:
    """The vectors of one embedder, shared with other processes through one file.

    Args:
        identity: What makes the vectors.
        runtime: What it runs on.
        folder: Where the files are; None for `vectors` in the cache folder.
        limit: Bytes that all files together may use; None for `MEMRULER_CACHE_MAX` or 2 GiB.
        clock: Seconds since the epoch; decides on eviction and nothing else.

    Attributes:
        warnings: What went wrong with the cache, one sentence each.
        broken: Rows whose seal did not fit; they were embedded again and replaced.

    Raises:
        UsageError: `MEMRULER_CACHE_MAX` holds no size.
    """

    def __init__(
        self,
        identity: EmbedderIdentity,
        runtime: str,
        *,
        folder: Path | None = None,
        limit: int | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._digest = embedder_digest(identity, runtime)
        label = {**msgspec.to_builtins(identity), "runtime": runtime}
        self._label = msgspec.json.encode(label).decode()
        self._folder = folder or vectors_dir()
        self._limit = cache_limit() if limit is None else limit
        self._clock = clock
        self._path: Path | None = None
        self._file: CacheFile | None = None
        self._closer: weakref.finalize[..., VectorCache] | None = None
        self._readable = self._writable = True
        self._given_up = False
        self.warnings: list[str] = []
        self.broken = 0

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """The rows that are there; a key that is not is simply missing.

        Args:
            keys: SHA-256 digests of texts.
        """
        if not self._readable:
            return {}
        hour = self._hour()
        got = self._attempt(lambda file: file.get(keys, hour))
        if got is None:
            self._readable = self._writable = False
            return {}
        rows, broken = got
        self.broken += broken
        if self._file is not None and self._file.unnoted >= _NOTE_AFTER:
            self.put(())
        return rows

    def put(self, rows: Sequence[CachedVector]) -> None:
        """Store rows; older ones make room when the limit is reached."""
        if not self._writable:
            return
        hour = self._hour()

        def store(file: CacheFile) -> int:
            file.put(rows, hour)
            return file.live_bytes() + other_bytes(self._folder, file.path)

        size = self._attempt(store)
        if size is None:
            # What is there can still be read: on a full disk, for instance.
            self._writable = False
        elif size > self._limit:
            with suppress(OSError):
                evict(self._folder, int(self._limit * _EVICT_TO))

    def close(self) -> None:
        """Let go of the file; the next use opens it again. Also done at exit."""
        if self._closer is not None:
            self._closer()
        self._file = self._closer = None

    def _hour(self) -> int:
        return int(self._clock() // _HOUR)

    def _attempt(self, action: Callable[[CacheFile], _T]) -> _T | None:
        """What `action` makes of the file, or None and a warning. A damaged file is replaced."""
        problem: Exception | None = None
        for _ in range(2):
            try:
                return action(self._opened())
            except (sqlite3.Error, OSError, MemrulerError) as error:
                problem = error
                if not is_damage(error) or not self._replaced(error):
                    break
        if not self._given_up:
            self.warnings.append(f"working without the cache of vectors: {problem}")
            self._given_up = True
        return None

    def _opened(self) -> CacheFile:
        if self._file is None or self._file.forked:
            self.close()
            self._path = current_file(self._folder, self._digest)
            self._file = CacheFile(self._path, self._label)
            self._closer = weakref.finalize(self, self._file.close)
        return self._file

    def _replaced(self, error: Exception) -> bool:
        """Set a damaged file aside; False if that cannot be done."""
        self.close()
        if self._path is None:
            return False
        try:
            set_aside(self._path)
        except OSError:
            return False
        self.warnings.append(
            f"a damaged cache file was set aside and begun anew: {error} [{self._path.name}]"
        )
        return True
