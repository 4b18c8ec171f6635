"""Where the items of a gold stand in the rankings, and at which ranks support grows."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.credit import Supports

__all__ = ["Steps", "places", "steps_of"]

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

_CELLS = 1 << 18  # of a block of rankings that is compared at a time: it stays in the cache


class Steps(msgspec.Struct, frozen=True, eq=False):
    """Where an anchor becomes better supported; by query, then rank, then anchor [E].

    Attributes:
        query, rank: Where.
        gain: By how much its best grade rises.
        best: To what.
    """

    query: _Ints
    rank: _Ints
    gain: _Floats
    best: _Floats


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
    found = np.zeros(len(query), dtype=np.int32)
    if not hits.shape[1]:
        return found
    wanted = item.astype(hits.dtype, copy=False)
    step = max(_CELLS // hits.shape[1], 1)
    rows = np.arange(step)
    for start in range(0, len(query), step):
        part = slice(start, start + step)
        equal = hits.take(query[part], axis=0) == wanted[part, None]
        at = equal.argmax(axis=1)
        found[part] = (at + 1) * equal[rows[: len(at)], at]
    return found


def steps_of(hits: NDArray[np.integer], gold: Supports) -> Steps:
    """The steps of every query within the ranks of `hits`."""
    query_of = np.repeat(np.arange(len(hits)), gold.anchors())
    anchor, rank, there = _complete(hits, gold, query_of)
    width = hits.shape[1] + 1
    if gold.grades is None:
        # The first support to be complete is all that an anchor needs.
        starts = np.flatnonzero(np.diff(anchor, prepend=-1))
        if len(starts):
            anchor, rank = anchor[starts], np.minimum.reduceat(rank, starts)
        key = np.sort(query_of[anchor] * width + rank)
        whole = np.ones(len(key))
        return Steps(key // width, key % width, whole, whole)

    grade = gold.grades[there]
    # By rank; of two supports that are complete at one rank, the better one counts.
    order = np.lexsort((-grade, rank, anchor))
    anchor, rank, grade = anchor[order], rank[order], grade[order]
    opens = np.diff(anchor, prepend=-1) > 0
    before = np.zeros(len(order))
    before[1:] = np.where(opens[1:], 0.0, _running_best(opens, grade)[:-1])
    better = grade > before
    anchor, rank = anchor[better], rank[better]
    gain, best = (grade - before)[better], grade[better]
    query = query_of[anchor]
    order = np.argsort(query * width + rank, kind="stable")
    return Steps(query[order], rank[order], gain[order], best[order])


def _complete(
    hits: NDArray[np.integer], gold: Supports, query_of: _Ints
) -> tuple[_Ints, _Ints, _Ints]:
    """Anchor, rank and number of every support that the rankings complete."""
    sizes = np.diff(gold.support_offsets)
    if gold.ranks is None:
        query = np.repeat(query_of, sizes)
        if gold.set_offsets is not None:
            query = np.repeat(query, np.diff(gold.set_offsets))
        rank = places(hits, query, gold.items)
    else:
        rank = gold.ranks * (gold.ranks <= hits.shape[1])
    if gold.set_offsets is not None and len(rank):
        # Complete at its last item, and never if one of them is missing.
        starts = gold.set_offsets[:-1]
        whole = np.minimum.reduceat(rank, starts) > 0
        rank = np.maximum.reduceat(rank, starts) * whole
    there = np.flatnonzero(rank)
    anchor = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[there]
    return anchor.astype(np.int64), rank[there].astype(np.int64), there


def _running_best(opens: NDArray[np.bool_], grade: _Floats) -> _Floats:
    """The largest grade so far within each run that `opens` starts."""
    grades, place = np.unique(grade, return_inverse=True)
    # Each run starts above all that the run before could reach.
    peak = np.maximum.accumulate(np.cumsum(opens) * len(grades) + place)
    best: _Floats = grades[peak % len(grades)]
    return best
