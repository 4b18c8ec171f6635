"""The rankings of a file before their items have numbers, and what can be wrong with them."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.exchange.faults import Faults
from memruler.exchange.names import Coded
from memruler.scoring.traced import MOST_NAMES, Notice

__all__ = ["Rankings", "matrix", "refuse_repeats", "some_names"]


_ROWS = 4096


class Rankings(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Rankings of R queries.

    Attributes:
        query: Names, an Arrow array of strings [R].
        category: Arrow array of strings or nulls [R].
        cluster: The same [R].
        offsets: Query q has the items `offsets[q]:offsets[q + 1]` [R + 1].
        items: In the order of the file.
        block_rows: Queries of each block of `items`; None where a query may be in several.
        order: Which of `items` stands where in the rankings; None when they are in order.
        notices: Oddities.
    """

    query: Any
    category: Any
    cluster: Any
    offsets: NDArray[np.int64]
    items: Coded
    block_rows: list[int] | None = None
    order: NDArray[np.int64] | None = None
    notices: tuple[Notice, ...] = ()


def some_names(names: Any, rows: NDArray[np.integer]) -> list[str]:
    """The names at the first rows of many."""
    found: list[str] = names.take(pa.array(rows[:MOST_NAMES])).to_pylist()
    return found


def refuse_repeats(faults: Faults, query: Any) -> None:
    """Note every query that a file has twice."""
    places = query.dictionary_encode().indices.to_numpy()
    counts = np.bincount(places)
    if len(counts) < len(places):
        _, first = np.unique(places, return_index=True)
        again = first[counts > 1]
        faults.add("a query stands twice", some_names(query, again), len(again))


def matrix(
    path: Path, rankings: Rankings, numbers: NDArray[np.int32], names: Any
) -> NDArray[np.int32]:
    """The rankings as [R, L]; -1 fills short ones.

    Args:
        path: Named in errors.
        rankings: The rankings.
        numbers: Of `rankings.items`.
        names: Of the items.

    Raises:
        FaultyFile: A ranking has an item twice, or one with an empty name.
    """
    if rankings.order is not None:
        numbers = numbers[rankings.order]
    lengths = np.diff(rankings.offsets)
    rows, width = len(lengths), int(lengths.max(initial=0))
    if rows * width == len(numbers):
        hits = numbers.reshape(rows, width)
    else:
        hits = np.full((rows, width), -1, np.int32)
        hits[np.arange(width) < lengths[:, None]] = numbers
    faults = Faults(path)
    bad = _rows_with_repeats(hits)
    if len(bad):
        shown = []
        for row in bad[:MOST_NAMES]:
            items, counts = np.unique(hits[row][hits[row] >= 0], return_counts=True)
            item = names[int(items[counts > 1][0])].as_py()
            shown.append(f"{rankings.query[int(row)].as_py()} has {item}")
        faults.add("a ranking has an item twice", shown, len(bad))
    faults.refuse()
    return hits


def _rows_with_repeats(hits: NDArray[np.int32]) -> NDArray[np.int64]:
    """Rows in which an item stands twice; some at a time, so that they stay in the cache."""
    bad = []
    for start in range(0, len(hits), _ROWS):
        inside = np.sort(hits[start : start + _ROWS], axis=1)
        twice = (inside[:, 1:] == inside[:, :-1]) & (inside[:, 1:] >= 0)
        bad.append(start + np.flatnonzero(twice.any(axis=1)))
    return np.concatenate(bad) if bad else np.zeros(0, np.int64)
