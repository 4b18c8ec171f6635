"""The DCG that rankings reach, and the one that the best list would."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit import Support, ideal_cover
from memruler.metrics.credit_steps import Steps
from memruler.metrics.definitions import discount
from memruler.model.credit import CreditRule, Supports

__all__ = ["Gains", "ideals"]

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


class Gains:
    """The gain at each rank of some queries, a row a rank, in memory that is used again.

    A DCG is a sum in order of rank. Rank by rank it is one addition for all queries at once; a rank
    that gains nothing adds 0, which changes no bit.
    """

    def __init__(self, depth: int, queries: int) -> None:
        self._gain = np.zeros((depth, queries))

    def dcg(
        self, steps: Steps, queries: int, cutoffs: Sequence[int], rule: CreditRule, *, alone: bool
    ) -> _Floats:
        """[K, Q], the DCG at each cut-off.

        Args:
            steps: Of at most as many queries, and ranks, as there is room for.
            queries: Q.
            cutoffs: Ascending [K].
            rule: How credit is counted.
            alone: Whether steps of one query and rank all gain the same, and only once.
        """
        depth, width = self._gain.shape
        flat = self._gain.reshape(-1)
        cell = (steps.rank - 1) * width + steps.query
        if alone:
            flat[cell] = steps.gain
        else:
            (np.add if rule == "cover" else np.maximum).at(flat, cell, steps.gain)
        found = np.empty((len(cutoffs), queries))
        total, term = np.zeros(queries), np.empty(queries)
        seen = 0
        for number, k in enumerate(cutoffs):
            for rank in range(seen + 1, min(k, depth) + 1):
                total += np.multiply(self._gain[rank - 1, :queries], discount(rank), out=term)
            found[number], seen = total, k
        flat[cell] = 0.0
        return found


def ideals(gold: Supports, cutoffs: Sequence[int], rule: CreditRule) -> tuple[list[_Floats], int]:
    """[Q] for each cut-off, the DCG of the best list; and how many are of a greedy order.

    A query without anchors gets 1, so that nothing is divided by zero.
    """
    anchors = gold.anchors()
    longest = min(cutoffs[-1], int(anchors.max(initial=0)))
    discounts = np.array([discount(rank) for rank in range(1, longest + 1)])
    if gold.grades is None:
        table = np.concatenate(([1.0], np.cumsum(discounts)))
        best = [table[np.minimum(anchors, min(k, longest))] for k in cutoffs]
    else:
        best = list(_graded(gold, anchors, discounts, cutoffs))
    greedy = 0
    for query in _sharing(gold) if rule == "cover" and not gold.sole else ():
        reached, exact = ideal_cover(_anchors_of(gold, query), cutoffs[-1])
        greedy += not exact
        for ideal, k in zip(best, cutoffs, strict=True):
            ideal[query] = reached[k - 1]
    return best, greedy


def _graded(
    gold: Supports, anchors: _Ints, discounts: _Floats, cutoffs: Sequence[int]
) -> list[_Floats]:
    """One anchor a rank, the best supported first; one that nothing supports has its place."""
    if not len(gold.support_offsets) - 1:
        return [np.ones(len(anchors)) for _ in cutoffs]
    filled = np.flatnonzero(np.diff(gold.support_offsets))
    most = np.ones(len(gold.support_offsets) - 1)
    if gold.grades is not None and len(filled):
        most[filled] = np.maximum.reduceat(gold.grades, gold.support_offsets[filled])
    query_of = np.repeat(np.arange(len(anchors)), anchors)
    most = most[np.lexsort((-most, query_of))]
    starts = gold.anchor_offsets[:-1]
    place = np.arange(len(most)) - starts[query_of]
    near = place < len(discounts)
    worth = np.where(near, most * discounts[np.where(near, place, 0)], 0.0)
    so_far = _sums_so_far(worth, starts, anchors)
    # A query without anchors reads what belongs to another one, and is overruled.
    last = [np.maximum(starts + np.minimum(anchors, k) - 1, 0) for k in cutoffs]
    return [np.where(anchors > 0, so_far[np.minimum(at, len(so_far) - 1)], 1.0) for at in last]


def _sums_so_far(values: _Floats, starts: _Ints, lengths: _Ints) -> _Floats:
    """The running sum within each piece, added one after the other; pieces may be empty."""
    total = values.copy()
    left = np.flatnonzero(lengths > 1)
    step = 1
    while len(left):
        at = starts[left] + step
        total[at] += total[at - 1]
        step += 1
        left = left[lengths[left] > step]
    return total


def _sharing(gold: Supports) -> list[int]:
    """Queries in which an item supports two anchors, or several items only together."""
    query, together = gold.query_of_support(), set()
    anchor = np.repeat(np.arange(len(gold.support_offsets) - 1), np.diff(gold.support_offsets))
    if gold.set_offsets is not None:
        sizes = np.diff(gold.set_offsets)
        together = set(query[sizes > 1].tolist())
        query, anchor = np.repeat(query, sizes), np.repeat(anchor, sizes)
    order = np.lexsort((anchor, gold.items, query))
    query, item, anchor = query[order], gold.items[order], anchor[order]
    again = (query[1:] == query[:-1]) & (item[1:] == item[:-1]) & (anchor[1:] != anchor[:-1])
    return sorted(together.union(query[1:][again].tolist()))


def _anchors_of(gold: Supports, query: int) -> list[list[Support]]:
    anchors = []
    for anchor in range(gold.anchor_offsets[query], gold.anchor_offsets[query + 1]):
        supports = []
        for at in range(gold.support_offsets[anchor], gold.support_offsets[anchor + 1]):
            lo, hi = (at, at + 1) if gold.set_offsets is None else gold.set_offsets[at : at + 2]
            grade = 1.0 if gold.grades is None else float(gold.grades[at])
            supports.append(Support(frozenset(gold.items[lo:hi].tolist()), grade))
        anchors.append(supports)
    return anchors
