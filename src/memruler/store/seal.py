"""Turns a finished journal into the five tables, row by row, in the order of the corpus.

The bytes depend on what was measured alone: instances are taken by position, however they were
completed, and a row group ends by its rows and their size, never by when something was written.
Sealing reads the journal and replaces whole files, so after a kill it simply runs again.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Final, NoReturn

import msgspec

from memruler.errors import FormatError
from memruler.model.run import ItemRecord, JournalRecord, QueryRecord, TraceRecord
from memruler.store.folder import JOURNAL, TABLES, RunFolder
from memruler.store.lines import Entry
from memruler.store.staged import StagedTable
from memruler.store.tables import SCHEMAS, table_writer

__all__ = ["discard_journal", "seal"]

_ROW_GROUP_BYTES: Final = 32 * 1024 * 1024
"""A row group ends early at so many bytes of journal, so that long texts never pile up."""


class _Sealing:
    """The five tables being written together."""

    def __init__(self, folder: RunFolder, stack: ExitStack) -> None:
        self._where = folder.path / JOURNAL
        self._base = 0  # row of the whole lineage at which the instance begins
        self._tables = {
            name: StagedTable(
                stack.enter_context(table_writer(folder, name, SCHEMAS[name])),
                SCHEMAS[name],
                _ROW_GROUP_BYTES,
            )
            for name in TABLES
        }

    def instance(self, entry: Entry, records: Iterable[tuple[JournalRecord, int]]) -> None:
        """Add one instance.

        Raises:
            FormatError: Its records contradict each other.
        """
        asked: set[int] = set()
        searched: set[int] = set()
        items = 0
        for record, size in records:
            if isinstance(record, TraceRecord):
                searched.add(record.query)
                self._trace(entry, record, size)
            elif isinstance(record, ItemRecord):
                if record.item != items:
                    self._refuse(entry, f"item {record.item} stands at row {items}")
                items += 1
                self._item(entry, record, size)
            elif isinstance(record, QueryRecord):
                if record.query in asked:
                    self._refuse(entry, f"query {record.query} stands there twice")
                asked.add(record.query)
                self._query(entry, record, size)
        if not searched <= asked:
            self._refuse(entry, f"a search of query {min(searched - asked)}, which is not there")
        self._ingest(entry)
        self._base += items

    def finish(self) -> None:
        """Write what is left."""
        for table in self._tables.values():
            table.flush()

    def _query(self, entry: Entry, query: QueryRecord, size: int) -> None:
        self._tables["queries"].add(
            size,
            entry.begin.instance,
            entry.begin.key,
            query.query,
            query.id,
            query.text,
            query.category,
            query.answer,
            msgspec.json.encode(query.answer_raw).decode(),
            query.answerable,
            query.family,
            query.excluded,
            query.time,
            query.asked,
            query.evidence,
        )

    def _item(self, entry: Entry, item: ItemRecord, size: int) -> None:
        self._tables["lineage"].add(
            size,
            entry.begin.instance,
            item.item,
            item.id,
            item.kind,
            item.status,
            item.reason,
            item.sessions,
            item.turns,
            item.attribution,
            item.text,
        )

    def _trace(self, entry: Entry, trace: TraceRecord, size: int) -> None:
        hits = trace.items
        if hits and not 0 <= min(hits) <= max(hits) < entry.end.items:
            self._refuse(entry, f"a hit of query {trace.query} names no item")
        if len(trace.scores) != len(hits):
            self._refuse(entry, f"query {trace.query} has not one score for each hit")
        rows = tuple([self._base + hit for hit in hits])
        key = (entry.begin.instance, trace.query, trace.repeat)
        own = (trace.error, trace.answer, trace.answer_error)
        self._tables["trace"].add(size, *key, rows, trace.scores, trace.context_chars, *own)
        self._tables["timings"].add(size, *key, trace.latency_ms)

    def _ingest(self, entry: Entry) -> None:
        begin, end = entry.begin, entry.end
        self._tables["ingest"].add(
            0,
            begin.instance,
            begin.key,
            end.sessions,
            end.turns,
            end.ingest_ms,
            end.batched,
            end.truncated,
            end.ingest_embedded,
            end.ingest_cached,
            end.search_embedded,
            end.search_cached,
        )

    def _refuse(self, entry: Entry, what: str) -> NoReturn:
        raise FormatError(
            f"the journal contradicts itself: {what}",
            where=f"{self._where}, instance {entry.begin.key}",
            hint="measure this run anew; if it happens again, report a bug of memruler",
        )


def seal(folder: RunFolder) -> None:
    """Write the tables of a run from its journal; done twice, the bytes are the same.

    Without a journal, the tables must be there already.

    Args:
        folder: A claimed run folder whose journal is closed.

    Raises:
        FormatError: The journal cannot be read or contradicts itself, or nothing is left to seal.
        InstrumentError: The disk failed; the journal is unchanged, so it can be done again.
    """
    if not folder.has(JOURNAL):
        for name in TABLES:
            if not folder.has(f"{name}.parquet"):
                raise FormatError(
                    f"the run folder has neither {JOURNAL} nor {name}.parquet",
                    where=folder.path,
                    hint="measure this run anew",
                )
        return
    with folder.journal() as journal, ExitStack() as stack:
        sealing = _Sealing(folder, stack)
        for entry, records in journal.records():
            sealing.instance(entry, records)
        sealing.finish()


def discard_journal(folder: RunFolder) -> None:
    """Remove the journal of a run whose manifest says that it is sealed.

    Raises:
        ValueError: The manifest does not say so; then the journal may be all there is.
        InstrumentError: The disk failed.
    """
    manifest = folder.manifest()
    if manifest is None or manifest.state != "sealed":
        raise ValueError("the journal of a run that is not sealed must stay")
    folder.remove(JOURNAL)
