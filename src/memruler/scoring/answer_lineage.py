"""The lineage of a run, an instance at a time and only onwards, so that size never meets memory."""

from typing import Any

import numpy as np
import pyarrow as pa

from memruler.model.corpus import TurnRef
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["LineageByInstance", "raw_texts"]

_RAW = frozenset({"turn", "unknown"})
"""Kinds of items that hold what was said, where they come from exactly one turn."""


class LineageByInstance:
    """Reads the rows of one instance after the other; they stand together in the table.

    Args:
        folder: A sealed run.
        columns: Wanted; `instance` is read beside them.
    """

    def __init__(self, folder: RunFolder, columns: list[str]) -> None:
        self._batches = batches(folder, "lineage", columns=["instance", *columns])
        self._next = 0  # row at which the rest begins
        self._rest: pa.RecordBatch | None = None  # of the last batch, what belongs to later ones

    def of(self, instance: int) -> tuple[int, list[pa.RecordBatch]]:
        """The rows of an instance; each call names a later one.

        Returns:
            The row of the whole lineage at which they begin, and the rows.
        """
        first = self._next
        found: list[pa.RecordBatch] = []
        while True:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            self._rest = None
            if batch is None:
                return first, found
            owners = np.asarray(batch.column("instance"))
            start, stop = (int(at) for at in np.searchsorted(owners, [instance, instance + 1]))
            if stop > start:
                first = first if found else self._next + start
                found.append(batch.slice(start, stop - start))
            self._next += stop
            if stop < len(owners):
                self._rest = batch.slice(stop)
                return first, found


def raw_texts(pieces: list[pa.RecordBatch]) -> dict[TurnRef, str]:
    """Turn to its text as the store holds it, in the order of the rows; the first counts.

    Args:
        pieces: Rows with `kind`, `turns` and `text`.
    """
    found: dict[TurnRef, str] = {}
    for piece in pieces:
        rows: Any = zip(
            *(piece.column(name).to_pylist() for name in ("kind", "turns", "text")), strict=True
        )
        for kind, turns, text in rows:
            if kind in _RAW and len(turns) == 1 and text is not None:
                found.setdefault(TurnRef(turns[0]["session"], turns[0]["turn"]), text)
    return found
