"""The cache of vectors as an embedder sees it: it may save work, and it never breaks a run.

Rows are keyed by the digest of the embedder (identity and runtime) and the SHA-256 of the text,
so that a text is embedded once however many instances, arms and runs repeat it. Whatever goes
wrong with the cache is said in `warnings`, once, and costs time alone.
"""

import sqlite3
import time
import weakref
from collections.abc import Callable, Sequence
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
from memruler.errors import MemrulerError, printable
from memruler.model.system import EmbedderIdentity

__all__ = ["VectorCache"]

_T = TypeVar("_T")

_TROUBLE = (sqlite3.Error, OSError, MemrulerError)
_LONGEST = 600
"""Characters of a warning."""
_HOUR = 3600
_NOTE_AFTER = 4096
"""Uses that are kept in memory before they are written, so that a read is not a write."""
_EVICT_TO = 0.9
"""Share of the limit that an eviction leaves, so that it does not run at every write."""
_LAST = 2**40
"""An hour so late that an eviction takes the proof after everything else."""


class VectorCache:
    """The vectors of one embedder, shared with other processes through one file.

    Args:
        identity: What makes the vectors.
        runtime: What it runs on.
        folder: Where the files are; None for `vectors` in the cache folder.
        limit: Bytes that all files together may use; None for `MEMRULER_CACHE_MAX` or 2 GiB.
        clock: Seconds since the epoch; decides on eviction and nothing else.

    Attributes:
        warnings: What went wrong with the cache, one sentence each, said once.
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
        self._proof: tuple[CachedVector, ...] = ()
        self._exact = False
        self._readable = self._writable = True
        self.warnings: list[str] = []
        self.broken = 0

    def get(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """The rows that are there; a key that is not is simply missing.

        Args:
            keys: SHA-256 digests of texts.
        """
        hour = self._hour()

        def look(file: CacheFile) -> tuple[dict[bytes, CachedVector], int]:
            got = file.get(keys, hour)
            self._refuse_another(file)  # after it: rows are written after the proof
            return got

        got = self._read(look)
        if got is None:
            return {}
        rows, broken = got
        self.broken += broken
        if self._file is not None and self._file.unnoted >= _NOTE_AFTER:
            self.put(())
        return rows

    def empty(self) -> bool | None:
        """Whether there is no row at all; None if the cache cannot be read."""
        return self._read(CacheFile.empty)

    def keep_proof(self, rows: Sequence[CachedVector], *, exact: bool) -> None:
        """Have these rows wherever others are, so that the next start can tell whose they are.

        They are written before any other row, and evicted last. Nothing is written now.

        Args:
            rows: Vectors of texts that every start embeds.
            exact: A file that holds other bits for them, since another process begins it at the
                same time, is set aside.
        """
        self._proof, self._exact = tuple(rows), exact

    def put(self, rows: Sequence[CachedVector]) -> None:
        """Store rows; older ones make room when the limit is reached."""
        if not self._writable:
            return
        hour = self._hour()

        def store(file: CacheFile) -> int:
            with file.transaction():
                if self._proof:  # each time, since another process may have emptied the file
                    self._refuse_another(file)
                    file.put(self._proof, _LAST)
                file.put(rows, hour)
            return file.live_bytes() + other_bytes(self._folder, file.path)

        try:
            size = self._attempt(store)
            if size > self._limit:
                evict(self._folder, int(self._limit * _EVICT_TO))
        except _TROUBLE as error:
            if self._file is None:
                self.give_up(error)
            elif self._readable:
                # What is there can still be read: on a full disk, for instance.
                self._writable = False
                self._tell("the cache of vectors keeps nothing new", error)

    def set_aside(self, reason: str) -> None:
        """Use the rows that are there no more, and begin anew.

        Args:
            reason: What is wrong with them, as it follows "a cache file was set aside, since".
        """
        self.close()
        try:
            if self._path is not None and self._readable:
                set_aside(self._path)
                self._note(
                    f"a cache file was set aside and begun anew, since {reason} [{self._path.name}]"
                )
        except _TROUBLE as error:
            self.give_up(error)

    def give_up(self, reason: object) -> None:
        """Neither read nor write from now on."""
        if self._readable:
            self._tell("working without the cache of vectors", reason)
        self._readable = self._writable = False

    def close(self) -> None:
        """Let go of the file; the next use opens it again. Also done at exit."""
        if self._closer is not None:
            self._closer()
        self._file = self._closer = None

    def _hour(self) -> int:
        return int(self._clock() // _HOUR)

    def _read(self, action: Callable[[CacheFile], _T]) -> _T | None:
        """What `action` reads from the file; None if the cache cannot be read (any more)."""
        if not self._readable:
            return None
        try:
            return self._attempt(action)
        except _TROUBLE as error:
            self.give_up(error)
            return None

    def _attempt(self, action: Callable[[CacheFile], _T]) -> _T:
        """What `action` makes of the file; a damaged file is replaced, once."""
        try:
            return action(self._opened())
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self.set_aside(f"it cannot be used: {error}")
            if not self._readable:
                raise
        return action(self._opened())

    def _tell(self, consequence: str, reason: object) -> None:
        if isinstance(reason, OSError):
            reason = f"{reason.strerror or type(reason).__name__} [{self._folder}]"
        self._note(f"{consequence}: {reason}")

    def _note(self, sentence: str) -> None:
        sentence = printable(sentence, _LONGEST)
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def _opened(self) -> CacheFile:
        if self._file is None or self._file.forked:
            self.close()
            self._path = current_file(self._folder, self._digest)
            self._file = CacheFile(self._path, self._label)
            self._closer = weakref.finalize(self, self._file.close)
        return self._file

    def _refuse_another(self, file: CacheFile) -> None:
        """Refuse a file that another process began anew with vectors of another model."""
        if not self._exact:
            return
        found, _ = file.get([row.key for row in self._proof], self._hour())
        if any(found.get(row.key, row) != row for row in self._proof):
            raise sqlite3.DatabaseError("another process keeps vectors of another model in it")
