"""At which ranks of the rankings the support of a gold grows."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_places import places
from memruler.model.credit import Supports

__all__ = ["Steps", "steps_of"]

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


class Steps(msgspec.Struct, frozen=True, eq=False):
    """Where an anchor becomes better supported; by query [E].

    With grades, by rank and anchor within each query; without, by anchor.

    Attributes:
        query, rank: Where.
        gain: By how much its best grade rises.
        best: To what.
    """

    query: _Ints
    rank: _Ints
    gain: _Floats
    best: _Floats


def steps_of(hits: NDArray[np.integer], gold: Supports) -> Steps:
    """The steps of every query within the ranks of `hits`."""
    query_of = np.repeat(np.arange(len(hits)), gold.anchors())
    anchor, rank, there = _complete(hits, gold, query_of)
    if gold.grades is None:
        # The first support to be complete is all that an anchor needs.
        starts = np.flatnonzero(np.diff(anchor, prepend=-1))
        if len(starts) < len(anchor):
            anchor, rank = anchor[starts], np.minimum.reduceat(rank, starts)
        whole = np.ones(len(anchor))
        return Steps(query_of[anchor], rank, whole, whole)

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
    order = np.argsort(query * (hits.shape[1] + 1) + rank, kind="stable")
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
