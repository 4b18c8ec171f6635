"""At which rank an item stands in a ranking, and which rankings repeat one, for millions."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["ends_of", "looked_up", "places"]

_CELLS = 1 << 19  # of a table, or of rankings that are compared, at a time: they stay in the cache
_WIDE = 64  # times as many numbers as ranks, above which a table is mostly empty


def places(
    hits: NDArray[np.integer], query: NDArray[np.integer], item: NDArray[np.integer]
) -> NDArray[np.int32]:
    """At which rank an item stands first in a query's list.

    Args:
        hits: [Q, L], items by rank; a negative number is no item.
        query: [P], rows of `hits`.
        item: [P], items, not negative.

    Returns:
        [P], from 1 to L; 0 where the list does not have the item.
    """
    if np.any(query[1:] < query[:-1]):
        order = np.argsort(query, kind="stable")
        found = np.empty(len(query), np.int32)
        found[order] = _ranks(hits, query[order], item[order], None)
        return found
    return _ranks(hits, query, item, None)


def looked_up(
    hits: NDArray[np.integer], query: NDArray[np.integer], item: NDArray[np.integer]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """`places` of pairs in the order of their queries, and which lists have an item twice [Q]."""
    twice = np.zeros(len(hits), np.bool_)
    return _ranks(hits, query, item, twice), twice


def ends_of(hits: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The smallest and the largest item of each list; 0 and -1 of one without items [Q]."""
    low, high = np.zeros(len(hits), np.int64), np.full(len(hits), -1)
    if hits.shape[1]:
        step = max(_CELLS // hits.shape[1], 1)
        for start in range(0, len(hits), step):
            part = slice(start, start + step)
            block = hits[part]
            high[part] = np.maximum(block.max(axis=1), -1)
            if block.min() < 0:  # short lists
                block = np.maximum(np.where(block < 0, high[part, None], block), 0)
            low[part] = block.min(axis=1)
    return low, high


def _ranks(
    hits: NDArray[np.integer],
    query: NDArray[np.integer],
    item: NDArray[np.integer],
    twice: NDArray[np.bool_] | None,
) -> NDArray[np.int32]:
    low, high = ends_of(hits)
    span = int((high - low).max(initial=0)) + 1
    found = np.zeros(len(query), np.int32)
    if not hits.shape[1]:
        return found
    if span > _WIDE * hits.shape[1]:
        _compared(hits, query, item, found)
        if twice is not None:
            _repeats(hits, twice)
        return found
    depth = hits.shape[1]
    step = max(_CELLS // span, 1)
    # One cell more, for what is no item.
    table = np.zeros(step * span + 1, np.min_scalar_type(depth))
    # From the last rank to the first: where an item stands twice, the better rank is written last.
    ranks = np.tile(np.arange(depth, 0, -1, dtype=table.dtype), step)
    base = np.arange(step) * span
    bounds = np.searchsorted(query, np.arange(0, len(hits) + step, step, dtype=query.dtype))
    for number, start in enumerate(range(0, len(hits), step)):
        block = hits[start : start + step, ::-1]
        rows = len(block)
        shift = base[:rows] - low[start : start + step]
        cell = (block + shift[:, None]).reshape(-1)
        if block.min() < 0:
            cell[(block < 0).reshape(-1)] = step * span
        mine = ranks[: len(cell)]
        table[cell] = mine
        table[-1] = 0
        if twice is not None:
            lost = (table[cell] != mine) & (cell < step * span)
            if lost.any():
                twice[start : start + step] = lost.reshape(rows, depth).any(axis=1)
        part = slice(bounds[number], bounds[number + 1])
        at = item[part] - low[query[part]]
        inside = (at >= 0) & (at < span)
        at += base[query[part] - start]
        at[~inside] = step * span
        found[part] = table[at]
        table.fill(0)
    return found


def _compared(
    hits: NDArray[np.integer],
    query: NDArray[np.integer],
    item: NDArray[np.integer],
    found: NDArray[np.int32],
) -> None:
    """The ranks by comparing each item with the whole list."""
    wanted = item.astype(hits.dtype, copy=False)
    step = max(_CELLS // hits.shape[1], 1)
    rows = np.arange(step)
    for start in range(0, len(query), step):
        part = slice(start, start + step)
        equal = hits.take(query[part], axis=0) == wanted[part, None]
        at = equal.argmax(axis=1)
        found[part] = (at + 1) * equal[rows[: len(at)], at]


def _repeats(hits: NDArray[np.integer], twice: NDArray[np.bool_]) -> None:
    """Mark the lists that have an item twice, by sorting each."""
    step = max(_CELLS // hits.shape[1], 1)
    for start in range(0, len(hits), step):
        part = slice(start, start + step)
        inside = np.sort(hits[part], axis=1)
        twice[part] = ((inside[:, 1:] == inside[:, :-1]) & (inside[:, 1:] >= 0)).any(axis=1)
