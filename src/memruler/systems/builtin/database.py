"""The one SQLite file of a namespace: what is in it, and every statement that touches it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from memruler.errors import InstrumentError, UsageError
from memruler.model.system import ItemStatus, MemoryItem

__all__ = ["FILE_NAME", "Database", "Row"]

FILE_NAME = "memory.sqlite3"

_META = "CREATE TABLE IF NOT EXISTS meta(form TEXT NOT NULL)"
_ITEMS = """
CREATE TABLE IF NOT EXISTS items(
    id INTEGER PRIMARY KEY,     -- order of insertion
    sources TEXT NOT NULL,      -- JSON list of keys
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    time INTEGER,               -- microseconds since 1970, UTC
    importance REAL,
    tags TEXT NOT NULL,         -- JSON list
    status TEXT NOT NULL,
    reason TEXT,
    vector BLOB                 -- float32, little-endian; only while stored
)
"""
_WORDS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words "
    "USING fts5(text, content='items', content_rowid='id', tokenize='unicode61')"
)
# Sorting by (rank, rowid) here is faster than FTS5's own ORDER BY rank, and ties are settled.
_MATCH = "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"

_SOURCES = msgspec.json.Decoder(tuple[str, ...])


class Row(NamedTuple):
    """One stored or offered item; see the table above."""

    id: int
    sources: tuple[str, ...]
    kind: str
    text: str
    time: int | None
    importance: float | None
    tags: tuple[str, ...]
    vector: bytes | None


class Database:
    """One connection. Every failure of SQLite is an `InstrumentError` that names the file.

    Args:
        folder: The namespace's folder; made if missing.
        words: Keep the full-text index.
        form: What was stored and how, as text; a database of another form is refused.

    Raises:
        UsageError: The file holds a memory of another form.
        InstrumentError: The file cannot be opened, is no database, or FTS5 is missing.
    """

    def __init__(self, folder: Path, *, words: bool, form: str) -> None:
        self.path = folder / FILE_NAME
        self._words = words
        with self._reported():
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.is_symlink():
                raise UsageError("the memory's database is a symbolic link", where=self.path)
            self._db = sqlite3.connect(self.path, isolation_level=None)
        try:
            with self._reported():
                self._prepare(form)
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, form: str) -> None:
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._transaction():
            self._db.execute(_META)
            self._db.execute(_ITEMS)
            if self._words:
                self._db.execute(_WORDS)
            found = self._db.execute("SELECT form FROM meta").fetchone()
            if found is None:
                self._db.execute("INSERT INTO meta VALUES (?)", (form,))
            elif found[0] != form:
                raise UsageError(
                    "this folder holds a memory made with other settings or another embedder",
                    where=self.path,
                    hint="open it with the settings it was made with, or use an empty folder",
                )

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if "no such module" in str(error):
                what, hint = "this Python's SQLite has no FTS5", "use a Python with a full SQLite"
            else:
                what = f"the memory's database failed: {error}"
                hint = "check that its folder can be written to and its disk has room"
            raise InstrumentError(what, where=self.path, hint=hint) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the statements inside, or none of them."""
        with self._reported(), self._transaction():
            yield

    def insert(self, row: Row, status: ItemStatus, reason: str | None) -> int:
        """Write one offered item, and index its words if it is stored.

        Returns:
            Its id; `row.id` is ignored.
        """
        sources = msgspec.json.encode(row.sources).decode()
        tags = json.dumps(row.tags) if row.tags else "[]"
        cursor = self._db.execute(
            "INSERT INTO items(sources, kind, text, time, importance, tags, status, reason, vector)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (sources, *row[2:6], tags, status, reason, row.vector),
        )
        item = cursor.lastrowid or 0
        if self._words and status == "stored":
            self._db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (item, row.text))
        return item

    def evict(self, item: int, reason: str) -> None:
        """Take a stored item out of the index; its row stays for the lineage."""
        if self._words:
            self._db.execute(
                "INSERT INTO words(words, rowid, text) SELECT 'delete', id, text FROM items"
                " WHERE id = ?",
                (item,),
            )
        self._db.execute(
            "UPDATE items SET status = 'evicted', reason = ?, vector = NULL WHERE id = ?",
            (reason, item),
        )

    def merge(self) -> None:
        """Merge the index's segments into one; searches are faster and find the same."""
        if self._words:
            with self._reported():
                self._db.execute("INSERT INTO words(words) VALUES ('optimize')")

    def match(self, expression: str, limit: int | None) -> list[tuple[int, float]]:
        """Ids and FTS5 ranks (negated BM25: lower is better), best first, then by insertion."""
        with self._reported():
            limit_or_all = -1 if limit is None else limit
            return self._db.execute(_MATCH, (expression, limit_or_all)).fetchall()

    def text(self, item: int) -> str:
        """The text of an item."""
        with self._reported():
            found = self._db.execute("SELECT text FROM items WHERE id = ?", (item,)).fetchone()
            return str(found[0])

    def stored(self) -> Iterator[Row]:
        """Every stored item, in order of insertion."""
        with self._reported():
            for item, sources, *plain, tags, vector in self._db.execute(
                "SELECT id, sources, kind, text, time, importance, tags, vector FROM items"
                " WHERE status = 'stored' ORDER BY id"
            ):
                keys = _SOURCES.decode(sources)
                yield Row._make((item, keys, *plain, tuple(json.loads(tags)), vector))

    def lineage(self) -> Iterator[MemoryItem]:
        """Every item ever offered, in order of insertion."""
        with self._reported():
            for item, sources, kind, text, status, reason in self._db.execute(
                "SELECT id, sources, kind, text, status, reason FROM items ORDER BY id"
            ):
                yield MemoryItem(
                    id=str(item),
                    kind=kind,
                    sources=_SOURCES.decode(sources),
                    text=text,
                    status=status,
                    reason=reason,
                )

    def close(self) -> None:
        """Write everything into the one file and let go of it."""
        with self._reported():
            self._db.close()
