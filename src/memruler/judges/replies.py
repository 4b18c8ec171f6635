"""Replies that were paid for, kept for good: nobody pays for the same one twice.

One SQLite file. A reply is on the disk before anybody uses it, so a kill at any moment loses only
what was under way. Several threads and several processes may use it at once.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import Any, NamedTuple

import msgspec

from memruler.errors import InstrumentError
from memruler.judges.base import ChatReply
from memruler.judges.rubric import Message
from memruler.store.database import SIDE_FILES, is_damage, open_database
from memruler.store.faults import explained
from memruler.store.paths import cache_dir
from memruler.store.safe import make_dir

__all__ = [
    "Replies",
    "RepliesReport",
    "clear_replies",
    "replies_path",
    "replies_report",
    "reply_key",
]

# "mrrp" (memruler replies), so that a foreign SQLite file is never taken for ours.
_APPLICATION_ID = 0x6D727270
_VERSION = 1
_KEY_VERSION = 1
_SEAL_BYTES = 16
# FULL: a reply is money, and a power cut must not cost the last ones.
_EVERY_TIME = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;"
_SCHEMA = (
    "CREATE TABLE replies (key BLOB PRIMARY KEY, reply BLOB NOT NULL, time INTEGER NOT NULL,"
    " seal BLOB NOT NULL) WITHOUT ROWID"
)
_PUT = (
    "INSERT INTO replies (key, reply, time, seal) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)
_MEND = (
    "move the file away, with its -wal and -shm (replies are then paid for anew), or put a "
    "sound copy in its place"
)


def reply_key(
    *,
    endpoint: str,
    model: str,
    messages: Sequence[Message],
    body: Mapping[str, Any],
    repeat: int = 0,
    draw: str = "",
) -> str:
    """SHA-256 over everything that shapes a reply, in hexadecimal digits.

    Args:
        endpoint: The URL, without user, password and query.
        model: As it is asked for.
        messages: What is said.
        body: The other fields of the request, as they are sent; their order does not matter.
        repeat: 0-based re-draw of the same request.
        draw: Name of a series of requests; another name asks anew.
    """
    parts = {
        "version": _KEY_VERSION,
        "endpoint": endpoint,
        "model": model,
        "messages": [[said.role, said.text] for said in messages],
        "body": dict(body),
        "repeat": repeat,
        "draw": draw,
    }
    # ASCII, so that half of a pair has a form too.
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def replies_path() -> Path:
    """Where the file is, in the cache folder; it may not exist."""
    return cache_dir() / "replies" / "replies.sqlite"


class RepliesReport(NamedTuple):
    """What the file holds: how many replies, and bytes on disk with its side files."""

    replies: int
    bytes: int


class Replies:
    """The file, open; made if it is missing, for this account alone.

    Args:
        path: The file; None for `replies_path()`.

    Raises:
        UsageError: A link or something else that must not be written to stands at `path`.
        InstrumentError: The file is damaged or foreign, or the disk failed.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = replies_path() if path is None else path
        self._lock = threading.Lock()
        with explained("make the folder of replies", self.path.parent):
            new = not self.path.parent.exists()
        make_dir(self.path.parent)
        with explained("open the file of replies", self.path):
            if new:
                self.path.parent.chmod(0o700)  # replies tell something about what was asked
            with self._told():
                self._db = open_database(self.path, mode=0o600)
                try:
                    self._prepare()
                except BaseException:
                    self._db.close()
                    raise

    def _prepare(self) -> None:
        self._db.executescript(_EVERY_TIME)
        with self._transaction():
            found = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
            if found == (0, 0) and not self._number("SELECT count(*) FROM sqlite_master"):
                self._db.execute(_SCHEMA)
                self._db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {_VERSION}")
            elif found[0] != _APPLICATION_ID:
                raise sqlite3.DatabaseError("it is a file of another program")
            elif found[1] != _VERSION:
                raise InstrumentError(
                    f"the file of paid replies is of version {found[1]}, and {_VERSION} is known",
                    where=self.path,
                    hint="use the memruler that wrote it, or move the file away",
                )
        # Refused while another process is in the file; it is as safe without, and the next
        # opener tries again.
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA journal_mode = WAL").fetchone()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # some errors have rolled it back already
                self._db.execute("ROLLBACK")
            raise

    def _number(self, statement: str) -> int:
        (number,) = self._db.execute(statement).fetchone()
        return int(number)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """One thread at a time; what SQLite raises becomes an error for people."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                hint = _MEND if is_damage(error) else "check the disk and run the same again"
                what = "is damaged" if is_damage(error) else "cannot be used"
                raise InstrumentError(
                    f"the file of paid replies {what}: {error}", where=self.path, hint=hint
                ) from error

    def get(self, key: str) -> ChatReply | None:
        """The reply of a request; None where none was paid for.

        Raises:
            InstrumentError: The file or this reply is damaged.
        """
        with self._told():
            return self._stored(bytes.fromhex(key))

    def _stored(self, key: bytes) -> ChatReply | None:
        row = self._db.execute("SELECT reply, seal FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        # A changed letter would change an answer: better no reply than another one.
        if not isinstance(row[0], bytes) or _seal(key, row[0]) != row[1]:
            raise sqlite3.DatabaseError("a reply is not what was stored")
        try:
            return msgspec.json.decode(row[0], type=ChatReply)
        except msgspec.MsgspecError as error:
            raise sqlite3.DatabaseError(f"a reply cannot be read: {error}") from None

    def put(self, key: str, reply: ChatReply) -> ChatReply:
        """Keep a reply; it is on the disk when this returns.

        Returns:
            The reply that is kept: where another process was first, its reply, so that all go on
            with the same one.

        Raises:
            InstrumentError: The file is damaged, or the disk failed.
        """
        raw = bytes.fromhex(key)
        data = msgspec.json.encode(msgspec.structs.replace(reply, reused=False))
        with self._told():
            wrote = self._db.execute(_PUT, (raw, data, int(time()), _seal(raw, data))).rowcount
            first = None if wrote else self._stored(raw)
        return reply if first is None else first

    def count(self) -> int:
        """How many replies there are."""
        with self._told():
            return self._number("SELECT count(*) FROM replies")

    def clear(self) -> int:
        """Forget all replies; how many there were. Other processes may go on."""
        with self._told():
            with self._transaction():
                count = self._number("SELECT count(*) FROM replies")
                self._db.execute("DELETE FROM replies")
            self._db.executescript("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            return count

    def close(self) -> None:
        """Close the file."""
        with self._lock, suppress(sqlite3.Error):
            self._db.close()


def replies_report(path: Path | None = None) -> RepliesReport:
    """What the file holds; a look makes nothing.

    Raises:
        UsageError: A link stands at `path`.
        InstrumentError: The file is damaged.
    """
    found = replies_path() if path is None else path
    with explained("read the file of replies", found):
        try:
            found.lstat()
        except FileNotFoundError:
            return RepliesReport(0, 0)
    replies = Replies(found)
    try:
        count = replies.count()
    finally:
        replies.close()
    sides = [found.with_name(found.name + suffix) for suffix in SIDE_FILES]
    return RepliesReport(count, sum(one.stat().st_size for one in (found, *sides) if one.exists()))


def clear_replies(path: Path | None = None) -> int:
    """Forget all replies; how many there were.

    Raises:
        UsageError: A link stands at `path`.
        InstrumentError: The file is damaged, and says so: it may be worth mending.
    """
    found = replies_path() if path is None else path
    if replies_report(found).bytes == 0:
        return 0
    replies = Replies(found)
    try:
        return replies.clear()
    finally:
        replies.close()


def _seal(key: bytes, data: bytes) -> bytes:
    """Digest over everything in the row but its time."""
    return hashlib.blake2b(key + data, digest_size=_SEAL_BYTES).digest()
