"""The sealed tables of a run: their schemas, and how they are read and written.

They are plain Parquet files that pandas, polars and DuckDB open directly. The same rows give the
same bytes under one version of pyarrow: nothing here depends on the time or on how a run went.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, BinaryIO, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION
from memruler.store.folder import RunFolder
from memruler.store.migrate import migrate_batch

__all__ = [
    "INGEST",
    "LINEAGE",
    "QUERIES",
    "ROW_GROUP",
    "SCHEMAS",
    "TIMINGS",
    "TRACE",
    "Creates",
    "batches",
    "read_table",
    "rows_in",
    "table_writer",
    "write_table",
]

ROW_GROUP: Final = 16_384
"""Rows in a row group, at most."""


def _field(name: str, kind: pa.DataType) -> "pa.Field[Any]":
    return pa.field(name, kind, nullable=False)


_POSITIONS = pa.list_(_field("item", pa.int32()))
_STRINGS = pa.list_(_field("item", pa.string()))
_TURNS = pa.list_(
    _field("item", pa.struct([_field("session", pa.int32()), _field("turn", pa.int32())]))
)
_EVIDENCE = pa.list_(
    _field(
        "item",
        pa.struct(
            [
                _field("rule", pa.string()),
                _field("status", pa.string()),
                _field("sessions", _POSITIONS),
                _field("turns", _TURNS),
                _field("references", _STRINGS),
                _field("unresolved", _STRINGS),
            ]
        ),
    )
)

QUERIES: Final = pa.schema(
    [
        _field("instance", pa.int32()),
        _field("instance_key", pa.string()),
        _field("query", pa.int32()),
        _field("id", pa.string()),
        _field("text", pa.string()),
        _field("category", pa.string()),
        pa.field("answer", pa.string()),
        _field("answer_json", pa.string()),
        _field("answerable", pa.bool_()),
        pa.field("family", pa.string()),
        pa.field("excluded", pa.string()),
        pa.field("time", pa.timestamp("us")),
        pa.field("asked", pa.timestamp("us")),
        _field("evidence", _EVIDENCE),
    ]
)
"""A row a query; `answer_json` is the raw answer as JSON."""

LINEAGE: Final = pa.schema(
    [
        _field("instance", pa.int32()),
        _field("item", pa.int32()),
        _field("id", pa.string()),
        _field("kind", pa.string()),
        _field("status", pa.string()),
        pa.field("reason", pa.string()),
        _field("sessions", _POSITIONS),
        _field("turns", _TURNS),
        _field("attribution", pa.string()),
        pa.field("text", pa.string()),
    ]
)
"""A row a stored form; `item` counts within the instance, `attribution` tells how its sources
became known (`memruler.model.run.ItemRecord`)."""

TRACE: Final = pa.schema(
    [
        _field("instance", pa.int32()),
        _field("query", pa.int32()),
        _field("repeat", pa.int16()),
        _field("items", _POSITIONS),
        _field("scores", pa.list_(pa.field("item", pa.float64()))),
        pa.field("context_chars", pa.int64()),
        pa.field("error", pa.string()),
        pa.field("answer", pa.string()),
        pa.field("answer_error", pa.string()),
    ]
)
"""A row a query and repeat; `items` are row numbers of the whole lineage table, best first.
`answer` is the system's own, where it was asked for one."""

TIMINGS: Final = pa.schema(
    [
        _field("instance", pa.int32()),
        _field("query", pa.int32()),
        _field("repeat", pa.int16()),
        _field("latency_ms", pa.float64()),
    ]
)
"""Wall time of each search, in the order of the trace; never the same in two runs."""

INGEST: Final = pa.schema(
    [
        _field("instance", pa.int32()),
        _field("key", pa.string()),
        _field("sessions", pa.int32()),
        _field("turns", pa.int32()),
        _field("ingest_ms", pa.float64()),
        _field("batched", pa.bool_()),
        pa.field("truncated", pa.int32()),
        pa.field("ingest_embedded", pa.int64()),
        pa.field("ingest_cached", pa.int64()),
        pa.field("search_embedded", pa.int64()),
        pa.field("search_cached", pa.int64()),
    ]
)
"""A row an instance: what was ingested, and how long it took."""

SCHEMAS: Final = {
    "queries": QUERIES,
    "lineage": LINEAGE,
    "trace": TRACE,
    "timings": TIMINGS,
    "ingest": INGEST,
}


class Creates(Protocol):
    """A folder in which whole files are written; see `RunFolder.create`."""

    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write the file `name` as a stream; it takes its name only when all went well."""
        ...


@contextmanager
def table_writer(folder: Creates, name: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write the table `name` batch by batch; it takes its name only when all went well.

    Each `write_batch` is a row group.

    Raises:
        InstrumentError: The disk failed; a table from before is unchanged.
    """
    with folder.create(f"{name}.parquet") as file:
        writer = pq.ParquetWriter(file, schema, compression="zstd", compression_level=3)
        try:
            yield writer
            writer.close()
        finally:
            if writer.is_open:  # it failed; closing frees the writer, and fails again
                with suppress(Exception):
                    writer.close()


def write_table(folder: RunFolder, name: str, table: pa.Table) -> None:
    """Write or replace the table `name` in one step.

    Args:
        folder: The run.
        name: The table's name, without `.parquet`.
        table: Its rows.

    Raises:
        InstrumentError: The disk failed; a table from before is unchanged.
    """
    with table_writer(folder, name, table.schema) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)


def read_table(folder: RunFolder, name: str, columns: list[str] | None = None) -> pa.Table:
    """Read the table `name`, or some of its columns.

    Args:
        folder: The run.
        name: The table's name, without `.parquet`.
        columns: Names of the columns wanted, in any order; None for all.

    Raises:
        FormatError: The table is missing, damaged, or lacks a column.
    """
    with _opened(folder, name) as file:
        schema = _checked(folder, name, file, columns)
        if folder.version == SCHEMA_VERSION:
            return file.read(columns=columns, use_threads=False)
        rows = [
            migrate_batch(name, batch, folder.version)
            for batch in file.iter_batches(ROW_GROUP, use_threads=False)
        ]
        table = pa.Table.from_batches(rows, None if rows else schema)
        return table.select(columns) if columns is not None else table


def batches(
    folder: RunFolder,
    name: str,
    columns: list[str] | None = None,
    *,
    rows: int = ROW_GROUP,
    coded: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield the table `name` in batches; see `read_table`.

    Args:
        folder: The run.
        name: The table's name, without `.parquet`.
        columns: Names of the columns wanted; None for all.
        rows: Rows of a batch, at most. Small batches are decoded into memory that is used again.
        coded: Columns of text to give as dictionary arrays; an older table gives plain ones.
    """
    with _opened(folder, name, coded) as file:
        _checked(folder, name, file, columns)
        if folder.version == SCHEMA_VERSION:
            yield from file.iter_batches(rows, columns=columns, use_threads=False)
            return
        for batch in file.iter_batches(rows, use_threads=False):
            migrated = migrate_batch(name, batch, folder.version)
            yield migrated.select(columns) if columns is not None else migrated


def rows_in(folder: RunFolder, name: str) -> int:
    """How many rows the table `name` has.

    Raises:
        FormatError: The table is missing or damaged.
    """
    with _opened(folder, name) as file:
        return file.metadata.num_rows


@contextmanager
def _opened(folder: RunFolder, name: str, coded: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    where = folder.path / f"{name}.parquet"
    if not folder.has(where.name):
        raise FormatError(
            f"the run folder lacks {where.name}", where=folder.path, hint="measure it anew"
        )
    with folder.source(where.name) as file:
        try:
            # No threads, here and in every read: one that is still busy with a Python file when the
            # program ends early takes the whole process down (SIGABRT instead of an exit code).
            yield pq.ParquetFile(
                file,
                pre_buffer=False,
                read_dictionary=list(coded) if folder.version == SCHEMA_VERSION else None,
            )
        except (pa.ArrowException, OSError) as error:  # pyarrow reports damage as either
            raise FormatError(
                f"the table cannot be read: {error}", where=where, hint="measure it anew"
            ) from error


def _checked(
    folder: RunFolder, name: str, file: pq.ParquetFile, columns: list[str] | None
) -> pa.Schema:
    """Refuse a table that is not what today's schema says, or lacks a wanted column."""
    found, where = _plain(file.schema_arrow), folder.path / f"{name}.parquet"
    wanted = SCHEMAS.get(name)
    if folder.version != SCHEMA_VERSION:
        return wanted or found
    lacking = sorted(set(columns or ()) - set(found.names))
    if lacking or (wanted is not None and not found.equals(wanted)):
        raise FormatError(
            f"the table lacks {', '.join(lacking)}" if lacking else "the table has other columns",
            where=where,
            hint="measure it anew",
        )
    return found


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with texts that are read as dictionary arrays as the texts that they are."""
    return pa.schema(
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    )
