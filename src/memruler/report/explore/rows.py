"""Single rows of a sealed table, read when they are asked for: a row group at a time."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION
from memruler.store.folder import RunFolder
from memruler.store.migrate import migrate_batch

__all__ = ["Rows"]

_KEPT: Final = 3
"""Row groups that stay in memory: the rows of a page, and the hits of a query, stand together."""


class Rows:
    """Some columns of a table of a folder, by row number.

    Args:
        folder: A sealed run, or another folder with tables.
        table: The table's name, without `.parquet`.
        columns: What each row has.
    """

    def __init__(self, folder: RunFolder, table: str, columns: Sequence[str]) -> None:
        self._folder, self._table, self._columns = folder, table, list(columns)
        self._kept: OrderedDict[int, pa.Table] = OrderedDict()
        self._ends: list[int] | None = None
        self._lock = Lock()  # a web server asks from several threads

    def take(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """The rows of these numbers, in this order.

        Raises:
            FormatError: The table is missing or damaged, or has no such row.
        """
        ends = self._row_groups()
        if rows and not 0 <= min(rows) <= max(rows) < ends[-1]:
            raise self._fault("the table has other rows than when it was opened")
        found: list[dict[str, Any] | None] = [None] * len(rows)
        groups = (np.searchsorted(ends, rows, "right") - 1).tolist()
        for group in dict.fromkeys(groups):
            places = [place for place, of in enumerate(groups) if of == group]
            wanted = pa.array([rows[place] - ends[group] for place in places])
            with self._lock:
                table = self._group(group)
            for place, row in zip(places, table.take(wanted).to_pylist(), strict=True):
                found[place] = row
        return [row for row in found if row is not None]

    def _row_groups(self) -> list[int]:
        """Where each row group begins, and at the end how many rows there are."""
        if self._ends is None:
            with self._folder.source(f"{self._table}.parquet") as file:
                try:
                    about = pq.ParquetFile(file, pre_buffer=False).metadata
                    sizes = [about.row_group(at).num_rows for at in range(about.num_row_groups)]
                except (pa.ArrowException, OSError) as error:
                    raise self._fault(f"the table cannot be read: {error}") from error
            self._ends = [0, *np.cumsum(sizes).tolist()] if sizes else [0, 0]
        return self._ends

    def _group(self, number: int) -> pa.Table:
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number]
        old = self._folder.version != SCHEMA_VERSION
        with self._folder.source(f"{self._table}.parquet") as file:
            try:
                # No threads: see `memruler.store.tables`.
                whole = pq.ParquetFile(file, pre_buffer=False)
                columns = None if old else self._columns
                found = whole.read_row_group(number, columns=columns, use_threads=False)
            except (pa.ArrowException, OSError, IndexError) as error:
                raise self._fault(f"the table cannot be read: {error}") from error
        if old:
            batch = found.combine_chunks().to_batches()[0]
            found = pa.Table.from_batches([migrate_batch(self._table, batch, self._folder.version)])
        lacking = sorted(set(self._columns) - set(found.column_names))
        if lacking:
            raise self._fault(f"the table lacks {', '.join(lacking)}")
        self._kept[number] = found.select(self._columns)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[number]

    def _fault(self, what: str) -> FormatError:
        where = self._folder.path / f"{self._table}.parquet"
        return FormatError(what, where=where, hint="measure it anew")
