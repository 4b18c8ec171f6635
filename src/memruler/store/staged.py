"""Writes a table row by row, in row groups whose ends depend on the rows alone."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from memruler.store.columns import batch_of
from memruler.store.tables import ROW_GROUP

__all__ = ["StagedTable"]

_STAGE: Final = ROW_GROUP // 16
"""Rows are Python objects only so far: the collector of garbage walks over all that are alive."""


class StagedTable:
    """One table being written, a row group at a time.

    Args:
        writer: Of the table.
        schema: Its columns.
        most_bytes: A row group ends early at so many bytes, so that long texts never pile up.
    """

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema, most_bytes: int) -> None:
        self._writer = writer
        self._schema = schema
        self._most_bytes = most_bytes
        self._rows: list[tuple[Any, ...]] = []
        self._staged: list[pa.RecordBatch] = []
        self._staged_rows = self._bytes = 0

    def add(self, size: int, *values: Any) -> None:
        """Add a row that counts as `size` bytes, its values in the schema's order."""
        self._rows.append(values)
        self._bytes += size
        if len(self._rows) == _STAGE or self._bytes >= self._most_bytes:
            self._stage()
            if self._staged_rows >= ROW_GROUP or self._bytes >= self._most_bytes:
                self.flush()

    def _stage(self) -> None:
        if self._rows:
            self._staged.append(batch_of(self._schema, self._rows))
            self._staged_rows += len(self._rows)
            self._rows.clear()

    def flush(self) -> None:
        """Write what was added as a row group."""
        self._stage()
        if self._staged:
            table = pa.Table.from_batches(self._staged)
            self._writer.write_table(table, row_group_size=ROW_GROUP)
            self._staged.clear()
            self._staged_rows = self._bytes = 0
