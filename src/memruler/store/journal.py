"""The append-only journal of a run, open for writing: `journal.jsonl`, one JSON record a line.

What its lines are, and when an instance counts, stands in lines.py. What follows the last
instance that counts is the trace of a kill, and is cut off on opening.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

import msgspec

from memruler.errors import InstrumentError
from memruler.model.run import Begin, End, ItemRecord, JournalRecord, QueryRecord, TraceRecord
from memruler.store.anchor import resolve
from memruler.store.faults import explained
from memruler.store.lines import (
    HEADER,
    LONGEST_LINE,
    Entry,
    Tally,
    encode,
    read_records,
    recover,
    sum_line,
)
from memruler.store.safe import open_append, open_read

__all__ = ["InstanceJournal", "Journal"]

_BUFFER: Final = 1024 * 1024


class InstanceJournal(msgspec.Struct, frozen=True):
    """One complete instance, decoded."""

    begin: Begin
    queries: tuple[QueryRecord, ...]
    items: tuple[ItemRecord, ...]
    traces: tuple[TraceRecord, ...]
    end: End


class Journal:
    """A run's journal, open for appending; made by `open`.

    Attributes:
        done: Positions of the instances that are complete and durable.
        entries: Where each of them stands, in file order.
        cut: Bytes of an incomplete instance that `open` cut off.
    """

    def __init__(self, path: Path, file: BinaryIO, entries: list[Entry], size: int) -> None:
        self.path = path
        self.entries = {entry.begin.instance: entry for entry in entries}
        self.cut = 0
        self._file = file
        self._size = size  # bytes that count
        self._tally: Tally | None = None
        self._pending: Entry | None = None
        self._lines: list[bytes] = []
        self._buffered = 0
        self._torn = False

    @classmethod
    def open(cls, path: Path, *, resolved: bool = False) -> Self:
        """Open or create a journal, and cut off what a kill left unfinished.

        Args:
            path: The journal's file.
            resolved: The folder was resolved before, so that any link on the way is refused.

        Raises:
            FormatError: It is not a journal, or of another schema version.
            UsageError: Something else stands at `path`.
            InstrumentError: The disk failed.
        """
        path = path if resolved else resolve(path.parent) / path.name
        file = open_append(path, resolved=True)
        try:
            size = os.fstat(file.fileno()).st_size
            with (
                explained("read the file", path),
                open(file.fileno(), "rb", closefd=False) as reader,
            ):
                reader.seek(0)
                entries, good = recover(reader, path)
            if good < size:
                file.truncate(good)
            if not good:
                file.write(HEADER)
                good = len(HEADER)
            with explained("write the file", path):
                os.fsync(file.fileno())
        except BaseException:
            file.close()
            raise
        journal = cls(path, file, entries, good)
        journal.cut = max(0, size - good)
        return journal

    @property
    def done(self) -> frozenset[int]:
        """Positions of the instances that are complete and durable."""
        return frozenset(self.entries)

    def append(self, record: JournalRecord) -> None:
        """Add a record; it counts once its instance's `End` is committed.

        A `Begin` drops an instance that was begun and not ended.

        Raises:
            InstrumentError: The record cannot be stored, or the disk failed.
            ValueError: The order or the counts of the records are wrong.
        """
        if isinstance(record, Begin):
            self._start(record)
        if self._tally is None:
            raise ValueError("a record outside Begin and End")
        line = self._line(record)
        self._tally.add(line)
        self._push(line)
        if isinstance(record, End):
            self._finish(self._tally, record)

    def _start(self, begin: Begin) -> None:
        if self._pending is not None or begin.instance in self.entries:
            raise ValueError(f"instance {begin.instance} follows no commit, or is done already")
        self._lines.clear()
        self._buffered = 0
        if self._torn:
            self._file.truncate(self._size)
            self._torn = False
        self._tally = Tally(begin)

    def _finish(self, tally: Tally, end: End) -> None:
        self._tally = None
        if not tally.agrees(end):
            raise ValueError(f"the counts of {end} are not those of its records")
        self._push(sum_line(tally))
        self._pending = Entry(tally.begin, end, self._size, self._size + tally.size)

    def _line(self, record: JournalRecord) -> bytes:
        try:
            line = encode(record)
        except (UnicodeEncodeError, TypeError, OverflowError, ValueError) as error:
            raise InstrumentError(
                f"a record cannot be written to the journal: {error}",
                where=self.path,
                hint="mend the text in the corpus, or what the system under test returned",
            ) from error
        if len(line) > LONGEST_LINE:
            raise InstrumentError(
                f"a record of {len(line)} bytes is longer than the journal takes ({LONGEST_LINE})",
                where=self.path,
                hint="split the text in the corpus, or what the system under test stored",
            )
        return line

    def _push(self, line: bytes) -> None:
        self._lines.append(line)
        self._buffered += len(line)
        if self._buffered >= _BUFFER:
            self._flush()

    def _flush(self) -> None:
        self._torn = True  # until the commit, what is in the file may be half an instance
        self._file.write(b"".join(self._lines))
        self._lines.clear()
        self._buffered = 0

    def commit(self) -> None:
        """Make the instance that was just ended durable; without one, do nothing.

        Raises:
            InstrumentError: The disk failed; the instance does not count.
        """
        if self._pending is None:
            return
        entry, self._pending = self._pending, None
        self._flush()
        with explained("write the file", self.path):
            os.fsync(self._file.fileno())
            self._size = os.fstat(self._file.fileno()).st_size
        self._torn = False
        self.entries[entry.begin.instance] = entry

    def instances(self) -> Iterator[InstanceJournal]:
        """Yield the complete instances in file order, one at a time in memory.

        Raises:
            FormatError: A record is not what its schema says.
        """
        with open_read(self.path, resolved=True) as file:
            for entry in tuple(self.entries.values()):
                records = [record for record, _ in read_records(file, entry, self.path)]
                yield InstanceJournal(
                    entry.begin,
                    tuple(r for r in records if isinstance(r, QueryRecord)),
                    tuple(r for r in records if isinstance(r, ItemRecord)),
                    tuple(r for r in records if isinstance(r, TraceRecord)),
                    entry.end,
                )

    def records(self) -> Iterator[tuple[Entry, Iterator[tuple[JournalRecord, int]]]]:
        """Yield the complete instances by position, each with its records one at a time.

        Yields:
            Where the instance stands, and its records with their lengths in bytes; to be used
            up before the next instance is asked for.

        Raises:
            FormatError: A record is not what its schema says.
        """
        with open_read(self.path, resolved=True) as file:
            for _, entry in sorted(self.entries.items()):
                yield entry, read_records(file, entry, self.path)

    def close(self) -> None:
        """Let go of the file; an instance that was not committed does not count."""
        self._lines.clear()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
