"""Corpora on this machine: where their files are, and proof that they are the pinned ones.

`CACHE/corpora/NAME/` holds the file, and beside it `FILE.record.json`: what was fetched, when and
from where. The record is the pin of a `pinned-on-first-fetch` corpus, and it remembers the state
of the file when it was last hashed, so that gigabytes are not hashed again at every start.
"""

import hashlib
import io
import os
import stat
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, cast

import msgspec

from memruler.corpora.pins import Pin, pin
from memruler.errors import ChecksumError, InstrumentError, MemrulerError, UsageError
from memruler.model.corpus import Tier
from memruler.store.paths import cache_dir
from memruler.store.safe import open_read, read_bytes, write_atomic

__all__ = [
    "Located",
    "Record",
    "Stamp",
    "State",
    "cached_path",
    "fetchable",
    "locate",
    "record_of",
    "record_path",
    "stamp_of",
    "state",
    "tier_of",
    "write_record",
]

State = Literal["cached", "unverified", "partial", "absent"]


class Located(NamedTuple):
    """A corpus file that was verified.

    Attributes:
        path: Where it is.
        tier: How it is pinned.
        sha256: Its digest in hex.
    """

    path: Path
    tier: Tier
    sha256: str


class Stamp(NamedTuple):
    """The state of a file by which a change is noticed without reading it."""

    size: int
    mtime_ns: int
    inode: int


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a fetched file.

    Attributes:
        url: Where it came from; None for a file that was put into the cache by hand.
        size: Length in bytes.
        sha256: Hex digest.
        fetched: When (UTC); None likewise.
        stamp: The file's state when it was last hashed.
    """

    url: str | None
    size: int
    sha256: str
    fetched: datetime | None
    stamp: Stamp | None = None


def fetchable(name: str) -> Pin:
    """The pin of a corpus that is fetched.

    Raises:
        UsageError: There is no such corpus, or it is not one to fetch.
    """
    found = pin(name)
    if found.url is not None and found.file is not None:
        return found
    if found.tier == "bundled":
        raise UsageError(
            f"{name} comes with memruler: there is nothing to fetch",
            hint=f"use it by its name, as in `memruler retrieval {name}`",
        )
    raise UsageError(
        f"{name} stands for a file of your own: there is nothing to fetch",
        hint="name the file with `--path FILE`",
    )


def cached_path(name: str) -> Path:
    """Where the file of a corpus is, or will be once fetched.

    Raises:
        UsageError: There is no such corpus, or it is not one to fetch.
    """
    return cache_dir() / "corpora" / name / str(fetchable(name).file)


def record_path(path: Path) -> Path:
    """Where the record of a cached file is."""
    return path.with_name(path.name + ".record.json")


def record_of(name: str) -> Record | None:
    """The record of a corpus; None when there is none, or when it is damaged but a pin decides.

    Raises:
        InstrumentError: It is damaged, and was the only pin.
        UsageError: There is no such corpus, or it is not one to fetch.
    """
    found, where = fetchable(name), record_path(cached_path(name))
    if not os.path.lexists(where):
        return None
    try:
        return msgspec.json.decode(read_bytes(where), type=Record)
    except msgspec.DecodeError as error:
        if found.sha256 is not None:
            return None
        raise InstrumentError(
            "the record of what was first fetched is damaged",
            where=where,
            hint=f"`memruler fetch {name} --accept-drift` makes a new one",
        ) from error


def write_record(path: Path, record: Record) -> None:
    """Write the record of a cached file."""
    write_atomic(record_path(path), msgspec.json.format(msgspec.json.encode(record)))


def stamp_of(path: Path) -> Stamp | None:
    """The state of a regular file; None for anything else, links included."""
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


def locate(name: str) -> Located:
    """The cached file of a corpus, verified against its pin or record.

    The file is hashed when its size, time of change or inode is not as at the last time.

    Raises:
        ChecksumError: The file is not the pinned one any more.
        InstrumentError: It cannot be read, or its record is damaged.
        UsageError: There is no such corpus, or it is not in the cache.
    """
    found = fetchable(name)
    path = cached_path(name)
    record = record_of(name)
    expected = found.sha256 or (record.sha256 if record else None)
    if expected is None or not os.path.lexists(path):
        raise UsageError(
            f"{name} is not in the cache",
            where=path.parent,
            hint=f"fetch it with `memruler fetch {name}`, or name a file with `--path FILE`",
        )
    now = stamp_of(path)
    if record is None or now is None or record.stamp != now or record.sha256 != expected:
        with open_read(path) as file:
            actual = hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()
        if actual != expected:
            raise ChecksumError(
                f"the cached file of {name} is not the one that is pinned: its SHA-256 is "
                f"{actual}, and {expected} is expected",
                where=path,
                hint=_mend(name, found),
            )
        _remember(path, record, actual, now)
    return Located(path, found.tier, expected)


def _mend(name: str, found: Pin) -> str:
    if found.tier == "pinned-upstream":
        return f"fetch it again with `memruler fetch {name} --force`"
    return (
        f"`memruler fetch {name} --force` fetches it again and holds it against the first fetch; "
        f"`memruler fetch {name} --accept-drift` takes whatever the source has now as the new pin"
    )


def _remember(path: Path, record: Record | None, sha256: str, stamp: Stamp | None) -> None:
    """Save hashing the next time; a cache that may only be read is hashed every time."""
    if stamp is None:
        return
    known = record or Record(url=None, size=stamp.size, sha256=sha256, fetched=None)
    with suppress(MemrulerError):
        write_record(path, msgspec.structs.replace(known, sha256=sha256, stamp=stamp))


def state(name: str) -> State:
    """What there is of a corpus, told without reading its file.

    `cached` is as it was when last hashed; `unverified` is there, and `locate` will hash it;
    `partial` is a download that was broken off.

    Raises:
        UsageError: There is no such corpus, or it is not one to fetch.
    """
    path = cached_path(name)
    now = stamp_of(path)
    if now is not None:
        try:
            record = record_of(name)
        except MemrulerError:
            return "unverified"
        return "cached" if record is not None and record.stamp == now else "unverified"
    return "partial" if stamp_of(path.with_name(path.name + ".part")) else "absent"


def tier_of(name: str, sha256: str) -> Tier:
    """How a file with this digest is pinned, wherever it lies.

    Args:
        name: A corpus name; one that is not known has no pin.
        sha256: Hex digest of the file's bytes.
    """
    try:
        found = fetchable(name)
        record = None if found.sha256 else record_of(name)
    except MemrulerError:
        return "local-file"
    return found.tier if sha256 == (found.sha256 or (record and record.sha256)) else "local-file"
