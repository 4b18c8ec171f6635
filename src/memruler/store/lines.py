"""The lines of a journal: what they are, and which of them can be trusted.

The unit is the instance: `begin`, its records, `end`, and a `sum` line with a CRC-32 over all of
those. An instance counts once its lines are complete, its `end` has the right counts and the sum
agrees. Nothing here writes.
"""

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

import msgspec

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION, Begin, End, JournalRecord

__all__ = [
    "HEADER",
    "LONGEST_LINE",
    "Entry",
    "Tally",
    "encode",
    "read_records",
    "recover",
    "sum_line",
]

LONGEST_LINE: Final = 256 * 1024 * 1024
"""Bytes in a line, at most: room for many 10 MB turns, an end to what a damaged file can claim."""

_KIND = re.compile(rb'\{"t":"([a-z]+)"')
_BEGIN = re.compile(rb'\{"t":"begin"')
_COUNTED = frozenset({b"query", b"item", b"trace"})


class _Header(msgspec.Struct, frozen=True, tag="journal", tag_field="t"):
    """The first line: what the file is, and in which version."""

    schema_version: int


class _Sum(msgspec.Struct, frozen=True, tag="sum", tag_field="t"):
    """CRC-32 over the lines of one instance, `begin` to `end`, line feeds included."""

    crc32: int


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(JournalRecord).decode
_decode_header = msgspec.json.Decoder(_Header).decode


def encode(record: msgspec.Struct) -> bytes:
    """One record as a line, line feed included."""
    return _encode(record) + b"\n"


HEADER: Final = encode(_Header(SCHEMA_VERSION))


class Entry(NamedTuple):
    """Where a complete instance stands: bytes `start` up to `stop`, the `sum` line left out."""

    begin: Begin
    end: End
    start: int
    stop: int


class Tally:
    """What the lines of one instance add up to, while they are written or read.

    Attributes:
        crc: CRC-32 of the lines so far.
        size: Bytes of the lines so far.
    """

    def __init__(self, begin: Begin) -> None:
        self.begin = begin
        self.crc = 0
        self.size = 0
        self._counts = dict.fromkeys(_COUNTED, 0)

    def add(self, line: bytes) -> None:
        """Count a line."""
        self.crc = zlib.crc32(line, self.crc)
        self.size += len(line)
        kind = _kind(line)
        if kind in _COUNTED:
            self._counts[kind] += 1

    def agrees(self, end: End) -> bool:
        """Whether `end` is of this instance and has its counts."""
        counts = {b"query": end.queries, b"item": end.items, b"trace": end.traces}
        return end.instance == self.begin.instance and counts == self._counts


def sum_line(tally: Tally) -> bytes:
    """The line that closes an instance."""
    return encode(_Sum(tally.crc))


def _kind(line: bytes) -> bytes:
    """The kind of a complete line; empty for a torn or foreign one."""
    match = _KIND.match(line)
    return match[1] if match and line.endswith(b"\n") else b""


def recover(file: BinaryIO, path: object) -> tuple[list[Entry], int]:
    """Find the complete instances of a journal.

    Args:
        file: The journal, at its start.
        path: Its name, for messages.

    Returns:
        The instances in file order, and how many bytes from the start can be trusted; 0 where
        not even the header is complete.

    Raises:
        FormatError: It is not a journal, of another version, or damaged in its middle.
    """
    header = file.readline(LONGEST_LINE)
    if not header.endswith(b"\n") and HEADER.startswith(header):
        return [], 0
    _check_header(header, path)
    entries: list[Entry] = []
    good = file.tell()
    while (entry := _instance(file)) is not None:
        entries.append(entry)
        good = file.tell()
    _check_tail(file, good, path)
    if len({entry.begin.instance for entry in entries}) < len(entries):
        raise FormatError(
            "the journal holds an instance twice", where=path, hint="measure this run anew"
        )
    return entries, good


def _check_header(header: bytes, path: object) -> None:
    if header == HEADER:
        return
    try:
        version = _decode_header(header).schema_version
    except (msgspec.MsgspecError, UnicodeDecodeError):
        version = SCHEMA_VERSION
    if version == SCHEMA_VERSION:  # and still other bytes than this version writes
        raise FormatError(
            "the file is not a journal of memruler", where=path, hint="choose another --stem"
        )
    newer = version > SCHEMA_VERSION
    raise FormatError(
        f"the journal has schema version {version}, this memruler writes {SCHEMA_VERSION}",
        where=path,
        hint="upgrade memruler" if newer else "finish it with the version that began it",
    )


def _instance(file: BinaryIO) -> Entry | None:
    """Read one instance; None unless every line of it can be trusted."""
    start = file.tell()
    line = file.readline(LONGEST_LINE)
    try:
        begin = _decode(line)
        if not isinstance(begin, Begin):
            return None
        tally = Tally(begin)
        tally.add(line)
        while _kind(line := file.readline(LONGEST_LINE)) in _COUNTED:
            tally.add(line)
        end = _decode(line)
        tally.add(line)
        closing = file.readline(LONGEST_LINE)
        if not isinstance(end, End) or not tally.agrees(end) or closing != sum_line(tally):
            return None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return Entry(begin, end, start, start + tally.size)


def _check_tail(file: BinaryIO, good: int, path: object) -> None:
    """Refuse a journal in which complete instances follow damage.

    A kill harms only what was not yet committed, which is the tail; so this was something else,
    and cutting it off would throw away measurements.
    """
    file.seek(good)
    while line := file.readline(LONGEST_LINE):
        after = file.tell()
        for match in _BEGIN.finditer(line):  # anywhere: a line feed may be what was damaged
            file.seek(after - len(line) + match.start())
            if _instance(file) is not None:
                raise FormatError(
                    f"the journal is damaged at byte {good}, with complete instances behind it",
                    where=path,
                    hint="check the disk, and measure this run anew under another --stem",
                )
        file.seek(after)


def read_records(file: BinaryIO, entry: Entry, path: object) -> Iterator[tuple[JournalRecord, int]]:
    """Yield the records of an instance with their lengths in bytes.

    Raises:
        FormatError: A record is not what its schema says.
    """
    file.seek(entry.start)
    at = entry.start
    while at < entry.stop:
        line = file.readline(LONGEST_LINE)
        try:
            record = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise FormatError(
                f"a record of the journal cannot be read: {error}",
                where=f"{path}, byte {at}",
                hint="measure this run anew",
            ) from error
        at += len(line)
        yield record, len(line)
