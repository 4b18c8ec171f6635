"""Finds rows and lists them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.model.failures import STAGES
from memruler.report.explore.columns import NOT_HERE, WAYS, Columns
from memruler.report.explore.measured import Measured
from memruler.report.explore.record import CUT, QUESTION, Filter, Index, Row
from memruler.report.explore.texts import cut
from memruler.store.tables import batches

__all__ = ["about", "index_of", "matching", "rows_of"]

_Mask = NDArray[np.bool_]


def matching(runs: Sequence[Measured], columns: Columns, wanted: Filter) -> NDArray[np.int64]:
    """The rows that a filter lets through, ascending.

    Raises:
        UsageError: Rows that changed are asked for, and the runs do not compare.
    """
    kept = np.ones(len(columns.category), np.bool_)
    if wanted.category is not None:
        names = columns.categories
        code = names.index(wanted.category) if wanted.category in names else len(names)
        kept &= columns.category == code
    if wanted.stage is not None:
        kept &= columns.staged(wanted.stage)
    if wanted.excluded is not None:
        kept &= columns.excluded() == wanted.excluded
    if wanted.missed is not None:
        kept &= columns.missed() == wanted.missed
    if wanted.changed is not None:
        if columns.changed is None:
            raise UsageError("nothing is known of what changed: these runs do not compare")
        code = 0 if wanted.changed == "any" else 1 + WAYS.index(wanted.changed)
        kept &= columns.changed == code if code else columns.changed > 0
    if wanted.text:
        kept &= _told(runs, columns, wanted.text)
    return np.flatnonzero(kept)


def about(runs: Sequence[Measured], columns: Columns, rows: Sequence[int]) -> list[dict[str, Any]]:
    """The row of the table of queries of each row, of the first run that has it."""
    found: list[dict[str, Any]] = [{}] * len(rows)
    left = set(range(len(rows)))
    for run, at in zip(runs, columns.at, strict=True):
        mine = [place for place in sorted(left) if at[rows[place]] >= 0]
        left -= set(mine)
        for place, row in zip(
            mine, run.queries.take([int(at[rows[place]]) for place in mine]), strict=True
        ):
            found[place] = row
    return found


def rows_of(runs: Sequence[Measured], columns: Columns, rows: Sequence[int]) -> tuple[Row, ...]:
    """Some rows as a list shows them."""
    return tuple(
        Row(
            row=row,
            key=of["instance_key"],
            id=of["id"],
            category=columns.categories[int(columns.category[row])],
            question=cut(of["text"], most=QUESTION),
            stage=tuple(_stage(column, row) for column in columns.stage),
            value=tuple(_value(column, row) for column in columns.value),
            reason=tuple(_reason(run, at, row) for run, at in zip(runs, columns.at, strict=True)),
            rank=tuple(_rank(column, row) for column in columns.rank),
            changed=columns.way(row),
        )
        for row, of in zip(rows, about(runs, columns, rows), strict=True)
    )


def index_of(runs: Sequence[Measured], columns: Columns) -> Index:
    """Every row as columns; keys and ids are read once."""
    rows = range(len(columns.category))
    key, name = [""] * len(rows), [""] * len(rows)
    for run, at in reversed(list(zip(runs, columns.at, strict=True))):
        keys, names = _read(run, "instance_key"), _read(run, "id")
        for row in np.flatnonzero(at >= 0).tolist():
            key[row], name[row] = keys[at[row]], names[at[row]]
    return Index(
        key=tuple(key),
        id=tuple(name),
        category=tuple(columns.categories[code] for code in columns.category.tolist()),
        stage=tuple(tuple(_stage(column, row) for row in rows) for column in columns.stage),
        value=tuple(tuple(_value(column, row) for row in rows) for column in columns.value),
        reason=tuple(
            tuple(_reason(run, at, row) for row in rows)
            for run, at in zip(runs, columns.at, strict=True)
        ),
        rank=tuple(tuple(_rank(column, row) for row in rows) for column in columns.rank),
        changed=tuple(columns.way(row) for row in rows),
    )


def _told(runs: Sequence[Measured], columns: Columns, text: str) -> _Mask:
    """Rows whose question, id or key holds a text."""
    found = np.zeros(len(columns.category), np.bool_)
    for run, at in zip(runs, columns.at, strict=True):
        there = at >= 0
        found[there] |= _holds(run, text)[at[there]]
    return found


def _holds(run: Measured, text: str) -> _Mask:
    pieces = [np.zeros(0, np.bool_)]
    names = ["text", "id", "instance_key"]
    for batch in batches(run.filed.folder, "queries", columns=names):
        held = np.zeros(batch.num_rows, np.bool_)
        for name in names:
            # Cut first: what no page shows cannot be found, and a long text costs nothing.
            column: Any = pc.utf8_slice_codeunits(batch.column(name), 0, CUT)
            lower = pc.utf8_lower(column)
            held |= np.asarray(pc.match_substring(lower, text.lower()), np.bool_)
        pieces.append(held)
    return np.concatenate(pieces)


def _read(run: Measured, column: str) -> list[str]:
    return [
        str(value)
        for batch in batches(run.filed.folder, "queries", columns=[column])
        for value in batch.column(column).to_pylist()
    ]


def _stage(column: NDArray[np.int8], row: int) -> str | None:
    code = int(column[row])
    return STAGES[code] if code >= 0 else None


def _value(column: NDArray[np.float64], row: int) -> float | None:
    value = float(column[row])
    return None if np.isnan(value) else value


def _reason(run: Measured, at: NDArray[np.int64], row: int) -> str | None:
    query = int(at[row])
    return NOT_HERE if query < 0 else run.reason(query)


def _rank(column: NDArray[np.int64], row: int) -> int | None:
    return int(column[row]) or None
