"""One file of vectors: SQLite in WAL mode, every row sealed, recency apart from the payload.

Two processes may write at once; both would write the same bits. Errors of SQLite and of the
operating system pass through here: `cache.py` decides what they mean.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from memruler.store.database import SIDE_FILES, is_damage, open_database

__all__ = ["SIDE_FILES", "CacheFile", "CachedVector", "is_damage"]

# "mrvc" (memruler vector cache), so that a foreign SQLite file is never taken for ours.
_APPLICATION_ID = 0x6D727663
_KEYS_A_QUERY = 500
_SEAL_BYTES = 8

# 8 KiB holds five vectors of 384 float32 almost without a gap; 4 KiB would waste a quarter.
# auto_vacuum must be set before anything is read, or an eviction could not shrink the file.
_NEW_FILE = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL;"
# trusted_schema and cell_size_check: the file may have been prepared by somebody else.
# NORMAL: a power cut may cost the last commits, never the file.
_EVERY_TIME = (
    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL;"
)
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS about (embedder TEXT NOT NULL)",
    (
        "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, text BLOB NOT NULL UNIQUE,"
        " vector BLOB NOT NULL, truncated INTEGER, seal BLOB NOT NULL)"
    ),
    # Apart, so that noting a use rewrites a few bytes and not the vector.
    "CREATE TABLE IF NOT EXISTS recency (id INTEGER PRIMARY KEY, used INTEGER NOT NULL)",
)
# Cast, since SQLite lets any column hold any type and somebody else may have written it.
_GET = (
    "SELECT v.id, v.text, v.vector, v.truncated, v.seal, CAST(r.used AS INTEGER)"
    " FROM vectors v LEFT JOIN recency r USING (id) WHERE v.text IN ({})"
)
_PUT = (
    "INSERT INTO vectors (text, vector, truncated, seal) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (text) DO UPDATE SET vector = excluded.vector,"
    " truncated = excluded.truncated, seal = excluded.seal RETURNING id"
)
_USE = (
    "INSERT INTO recency (id, used) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET used = max(used, excluded.used)"
)
_OLDEST = (
    "SELECT v.id FROM vectors v LEFT JOIN recency r USING (id)"
    " ORDER BY CAST(coalesce(r.used, 0) AS INTEGER), v.id LIMIT ?"
)


class CachedVector(NamedTuple):
    """One row.

    Attributes:
        key: SHA-256 of the text's UTF-8 bytes, 32 bytes.
        vector: float32, little-endian, as the model gave it.
        truncated: Whether the model read only the text's beginning; None when not known.
    """

    key: bytes
    vector: bytes
    truncated: bool | None

    def seal(self) -> bytes:
        """Digest over everything in the row."""
        flag = {None: b"?", False: b"0", True: b"1"}[self.truncated]
        return hashlib.blake2b(self.key + flag + self.vector, digest_size=_SEAL_BYTES).digest()


class CacheFile:
    """The file, open; made if it is missing. One process, one thread at a time.

    Args:
        path: The file, in a folder that exists.
        embedder: What made the vectors, as JSON, kept for people; None to open what is there.

    Raises:
        UsageError: A link or something else that must not be written to stands at `path`.
        InstrumentError: The folder is read-only or the disk failed.
        sqlite3.Error: SQLite cannot use the file; see `is_damage`.
    """

    def __init__(self, path: Path, embedder: str | None) -> None:
        self.path = path
        self._pid = os.getpid()
        self._used: dict[int, int] = {}
        self._db = open_database(path)
        try:
            self._prepare(embedder)
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, embedder: str | None) -> None:
        self._db.executescript(_NEW_FILE + _EVERY_TIME)
        if self._number("PRAGMA application_id") != _APPLICATION_ID:
            self._create(embedder)
        # Refused while another process is in the file; it is as safe without, and the next
        # opener tries again.
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA journal_mode = WAL").fetchone()

    def _create(self, embedder: str | None) -> None:
        with self.transaction():
            # Asked again inside: another process may just have made it.
            if self._number("PRAGMA application_id") == _APPLICATION_ID:
                return
            if self._number("SELECT count(*) FROM sqlite_master"):
                raise sqlite3.DatabaseError("it is an SQLite file of another program")
            for statement in _SCHEMA:
                self._db.execute(statement)
            self._db.execute("INSERT INTO about VALUES (?)", (embedder or "null",))
            self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")

    def _number(self, statement: str) -> int:
        (number,) = self._db.execute(statement).fetchone()
        return int(number)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is read and written inside is one step to other processes; may be nested."""
        if self._inside():
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._inside():  # some errors have rolled it back already
                self._db.execute("ROLLBACK")
            raise

    def _inside(self) -> bool:
        return self._db.in_transaction

    def get(self, keys: Sequence[bytes], hour: int) -> tuple[dict[bytes, CachedVector], int]:
        """What is there of `keys`, and how many rows were there but broken (and left out).

        Args:
            keys: SHA-256 digests of texts.
            hour: The hour now, since the epoch; noted with the next write as their last use.
        """
        found: dict[bytes, CachedVector] = {}
        broken = 0
        for start in range(0, len(keys), _KEYS_A_QUERY):
            part = keys[start : start + _KEYS_A_QUERY]
            statement = _GET.format(",".join("?" * len(part)))
            for number, key, vector, flag, seal, used in self._db.execute(statement, part):
                row = _row(key, vector, flag)
                if row is None or row.seal() != seal:
                    broken += 1
                    continue
                found[row.key] = row
                if used is None or used < hour:
                    self._used[number] = hour
        return found, broken

    def put(self, rows: Iterable[CachedVector], hour: int) -> None:
        """Store or replace rows, and note the uses since the last write, in one transaction."""
        with self.transaction():
            for row in rows:
                flag = None if row.truncated is None else int(row.truncated)
                cursor = self._db.execute(_PUT, (row.key, row.vector, flag, row.seal()))
                self._used[cursor.fetchone()[0]] = hour
            self._db.executemany(_USE, self._used.items())
        self._used.clear()

    @property
    def forked(self) -> bool:
        """Whether this is a child of the process that opened the file; it must not use it."""
        return os.getpid() != self._pid

    @property
    def unnoted(self) -> int:
        """Uses that were not written yet."""
        return len(self._used)

    def embedder(self) -> str | None:
        """What made the vectors, as JSON written by whoever made the file."""
        row = self._db.execute("SELECT embedder FROM about").fetchone()
        return None if row is None else str(row[0])

    def empty(self) -> bool:
        """Whether there is no row at all."""
        return not self._number("SELECT EXISTS (SELECT 1 FROM vectors)")

    def count(self) -> int:
        """Rows."""
        return self._number("SELECT count(*) FROM vectors")

    def live_bytes(self) -> int:
        """Bytes in pages that hold something."""
        pages = self._number("PRAGMA page_count") - self._number("PRAGMA freelist_count")
        return pages * self._number("PRAGMA page_size")

    def ages(self) -> list[tuple[int, int]]:
        """Rows by the hour of their last use: (hour, count), oldest first."""
        return self._db.execute(
            "SELECT CAST(coalesce(r.used, 0) AS INTEGER) AS hour, count(*)"
            " FROM vectors v LEFT JOIN recency r USING (id) GROUP BY hour ORDER BY hour"
        ).fetchall()

    def remove_oldest(self, count: int) -> int:
        """Remove `count` rows by least recent use; the live bytes after it.

        Free pages go back to the file system as far as other readers allow.
        """
        with self.transaction():
            ids = self._db.execute(_OLDEST, (count,)).fetchall()
            self._db.executemany("DELETE FROM vectors WHERE id = ?", ids)
            self._db.executemany("DELETE FROM recency WHERE id = ?", ids)
        # As a script: `execute` takes one step of it, and one step frees one page.
        self._db.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
        return self.live_bytes()

    def check(self) -> tuple[int, int]:
        """Read everything: how many rows there are, and how many are broken.

        Raises:
            sqlite3.DatabaseError: The file's structure is broken.
        """
        (state,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        rows = broken = 0
        for key, vector, flag, seal in self._db.execute(
            "SELECT text, vector, truncated, seal FROM vectors"
        ):
            row = _row(key, vector, flag)
            rows += 1
            broken += row is None or row.seal() != seal
        return rows, broken

    def alone(self) -> bool:
        """Whether no other connection is open now; leaves WAL mode if so, for a removal."""
        with suppress(sqlite3.OperationalError), closing(self._db.cursor()) as cursor:
            cursor.execute("PRAGMA busy_timeout = 0")
            return bool(cursor.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
        return False

    def close(self) -> None:
        """Note the last uses and close. In a forked child nothing is touched."""
        if self.forked:
            # Closing would tidy up files that the parent still uses.
            _INHERITED.append(self._db)
            return
        with suppress(sqlite3.Error):
            if self._used:
                self.put((), 0)
        with suppress(sqlite3.Error):
            self._db.close()


_INHERITED: list[sqlite3.Connection] = []


def _row(key: object, vector: object, flag: object) -> CachedVector | None:
    """The row, if the columns have the types that we write."""
    if isinstance(key, bytes) and isinstance(vector, bytes) and flag in (None, 0, 1):
        return CachedVector(key, vector, None if flag is None else bool(flag))
    return None
