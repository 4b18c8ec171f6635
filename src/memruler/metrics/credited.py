"""Credit of a whole run under a target at once, equal to `credit_one` to the last bit.

No rank is walked: the place of every item that supports something is looked up, and what follows
is about these few places. Gains are added in order of rank, one at a time for each query, which is
the order of the definition and of TREC's programs. So "changed" never means a rounding.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit import Support, ideal_cover
from memruler.metrics.definitions import discount
from memruler.model.credit import CreditRule, Supports, unique_pairs

__all__ = ["CREDIT_METRICS", "Credited", "credited", "places"]

CREDIT_METRICS = ("top1", "recall_any", "recall_all", "recall_micro", "mrr", "ndcg")
"""What a query has at each cut-off; `recall_pooled` is a mean of sets of queries."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

_CELLS = 1 << 18  # of a block of rankings that is compared at a time: it stays in the cache


class Credited(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Every query under one target. A query without anchors has no value: its entries mean nothing.

    Attributes:
        target: Name of the target.
        rule: How credit was counted.
        cutoffs: Ascending.
        anchors: Of each query, under the rule; 0 where the target cannot serve it [Q].
        of: Anchors before any was left out [Q].
        first: Rank of the first full support within the deepest cut-off, 0 without one [Q].
        found: Cut-off to the sum of best grades [Q].
        values: Metric and cut-off to values in [0, 1] [Q].
        greedy: Queries whose ideal under rule `cover` is that of a greedy order.
    """

    target: str
    rule: CreditRule
    cutoffs: tuple[int, ...]
    anchors: _Ints
    of: _Ints
    first: _Ints
    found: dict[int, _Floats]
    values: dict[tuple[str, int], _Floats]
    greedy: int = 0

    def served(self) -> NDArray[np.bool_]:
        """Which queries the target can serve [Q]."""
        return self.anchors > 0


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
    wanted = item.astype(hits.dtype)
    step = max(_CELLS // hits.shape[1], 1)
    for start in range(0, len(query), step):
        part = slice(start, start + step)
        equal = hits.take(query[part], axis=0) == wanted[part, None]
        at = equal.argmax(axis=1)
        found[part] = np.where(equal[np.arange(len(at)), at], at + 1, 0)
    return found


def credited(
    hits: NDArray[np.integer],
    supports: Supports,
    cutoffs: Sequence[int],
    rule: CreditRule = "anchor",
) -> Credited:
    """Score every query at every cut-off; see `memruler.metrics.credit` for the formulas.

    Args:
        hits: [Q, L], items by rank; -1 fills short lists at their end.
        supports: The gold of the Q queries.
        cutoffs: Ascending, distinct, at least 1.
        rule: How credit is counted.

    Raises:
        ValueError: Cut-offs do not ascend or are below 1; the queries of `hits` and `supports`
            are not as many; or rule `id` meets a support of several items.
    """
    if not cutoffs or cutoffs[0] < 1 or any(np.diff(cutoffs) < 1):
        raise ValueError("cut-offs are ascending, distinct and at least 1")
    if len(hits) != len(supports.of):
        raise ValueError("one ranking a query")
    gold = _per_id(supports) if rule == "id" else supports
    anchors = gold.anchors()
    hits = hits[:, : cutoffs[-1]]
    steps = _steps(hits, gold)
    ideal, greedy = _ideals(gold, cutoffs, rule)

    full = steps.best == 1.0
    first = np.zeros(len(hits), dtype=np.int64)
    at = np.flatnonzero(full)[::-1]  # backwards, so that the first one is written last
    first[steps.query[at]] = steps.rank[at]
    gains = _Gains(steps, len(hits), rule)
    found: dict[int, _Floats] = {}
    values: dict[tuple[str, int], _Floats] = {}
    share = np.maximum(anchors, 1)
    top1 = (first == 1).astype(np.float64)
    reciprocal = np.where(first > 0, 1.0 / np.maximum(first, 1), 0.0)
    for number, k in enumerate(cutoffs):
        within = steps.rank <= k
        fully = np.bincount(steps.query[within & full], minlength=len(hits))
        # Every step of a gold without grades is a whole anchor.
        best: _Floats = fully.astype(np.float64)
        if gold.grades is not None:
            weighed = np.bincount(steps.query[within], steps.gain[within], len(hits))
            best = weighed.astype(np.float64)  # of nothing, it is of whole numbers
        reached = first <= k
        dcg = gains.dcg(k)
        found[k] = best
        values["top1", k] = top1
        values["recall_any", k] = ((first > 0) & reached).astype(np.float64)
        values["recall_all", k] = (fully == anchors).astype(np.float64)
        values["recall_micro", k] = best / share
        values["mrr", k] = reciprocal * reached
        values["ndcg", k] = dcg / _attainable(ideal[number], dcg)
    return Credited(
        target=supports.target,
        rule=rule,
        cutoffs=tuple(cutoffs),
        anchors=anchors,
        of=np.where(anchors > 0, anchors, 0) if rule == "id" else supports.of,
        first=first,
        found=found,
        values=values,
        greedy=greedy,
    )


def _attainable(ideal: _Floats, dcg: _Floats) -> _Floats:
    """What a DCG is divided by: never below it, and never 0."""
    best = np.maximum(ideal, dcg)
    best[best == 0] = 1.0
    return best


class _Steps(msgspec.Struct, frozen=True, eq=False):
    """Where an anchor becomes better supported; by query, then rank, then anchor [E]."""

    query: _Ints
    rank: _Ints
    gain: _Floats  # by how much its best grade rises
    best: _Floats  # to what


def _steps(hits: NDArray[np.integer], gold: Supports) -> _Steps:
    anchor_of = np.repeat(np.arange(len(gold.support_offsets) - 1), np.diff(gold.support_offsets))
    query_of = np.repeat(np.arange(len(hits)), gold.anchors())
    if gold.ranks is not None:
        rank = np.where(gold.ranks <= hits.shape[1], gold.ranks, 0)
    else:
        query = query_of[anchor_of]
        if gold.set_offsets is not None:
            query = np.repeat(query, np.diff(gold.set_offsets))
        rank = places(hits, query, gold.items)
    if gold.set_offsets is not None and len(rank):
        # Complete at its last item, and never if one of them is missing.
        starts = gold.set_offsets[:-1]
        whole = np.minimum.reduceat(rank, starts) > 0
        rank = np.where(whole, np.maximum.reduceat(rank, starts), 0)
    there = np.flatnonzero(rank)
    anchor, rank = anchor_of[there], rank[there]
    grade = np.ones(len(there)) if gold.grades is None else gold.grades[there]

    # The supports of an anchor by rank; a later one counts where it is better than all before.
    width = hits.shape[1] + 1
    key = anchor * width + rank
    # Of two supports that are complete at one rank, the better one counts.
    order = np.argsort(key, kind="stable") if gold.grades is None else np.lexsort((-grade, key))
    anchor, rank, grade = anchor[order], rank[order], grade[order]
    before = np.zeros(len(order))
    opens = np.ones(len(order), dtype=np.bool_)
    opens[1:] = anchor[1:] != anchor[:-1]
    if gold.grades is None:
        better = opens
    else:
        before[1:] = np.where(opens[1:], 0.0, _running_best(opens, grade)[:-1])
        better = grade > before
    anchor, rank = anchor[better], rank[better]
    gain, best = (grade - before)[better], grade[better]
    query = query_of[anchor]
    order = np.argsort(query * width + rank, kind="stable")
    return _Steps(query[order], rank[order], gain[order], best[order])


def _running_best(opens: NDArray[np.bool_], grade: _Floats) -> _Floats:
    """The largest grade so far within each run that `opens` starts."""
    grades, place = np.unique(grade, return_inverse=True)
    # Each run starts above all that the run before could reach.
    peak = np.maximum.accumulate(np.cumsum(opens) * len(grades) + place)
    best: _Floats = grades[peak % len(grades)]
    return best


class _Gains:
    """The gain of each rank that gains, and the running DCG of its query."""

    def __init__(self, steps: _Steps, queries: int, rule: CreditRule) -> None:
        opens = np.ones(len(steps.query), dtype=np.bool_)
        opens[1:] = (steps.query[1:] != steps.query[:-1]) | (steps.rank[1:] != steps.rank[:-1])
        starts = np.flatnonzero(opens)
        if len(starts) == len(opens):
            gain = steps.gain
        elif rule == "cover":
            gain = _sums(steps.gain, starts)
        else:
            gain = np.maximum.reduceat(steps.gain, starts)
        self._query, self._rank = steps.query[starts], steps.rank[starts]
        self._queries = queries
        deepest = int(self._rank.max(initial=0))
        discounts = np.array([0.0, *map(discount, range(1, deepest + 1))])
        lengths = np.bincount(self._query, minlength=queries)
        self._starts = np.cumsum(lengths) - lengths
        self._dcg = _sums_so_far(gain * discounts[self._rank], self._starts, lengths)

    def dcg(self, k: int) -> _Floats:
        """[Q], the DCG at a cut-off."""
        seen = np.bincount(self._query[self._rank <= k], minlength=self._queries)
        dcg = np.zeros(self._queries)
        some = np.flatnonzero(seen)
        dcg[some] = self._dcg[self._starts[some] + seen[some] - 1]
        return dcg


def _sums(values: _Floats, starts: _Ints) -> _Floats:
    """The sum of each piece, added one after the other."""
    lengths = np.diff(np.append(starts, len(values)))
    return _sums_so_far(values, starts, lengths)[starts + lengths - 1]


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


def _per_id(supports: Supports) -> Supports:
    if supports.set_offsets is not None and np.any(np.diff(supports.set_offsets) != 1):
        raise ValueError("rule `id` has no meaning for items that support only together")
    if supports.sole:
        return msgspec.structs.replace(
            supports,
            anchor_offsets=supports.support_offsets[supports.anchor_offsets],
            support_offsets=np.arange(len(supports.items) + 1),
        )
    query = supports.query_of_support()
    first, number = unique_pairs(query, supports.items)
    grades = None
    if supports.grades is not None:
        grades = np.zeros(len(first))
        np.maximum.at(grades, number, supports.grades)
    lengths = np.bincount(query[first], minlength=len(supports.of))
    return Supports(
        target=supports.target,
        of=supports.of,
        anchor_offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        support_offsets=np.arange(len(first) + 1),
        items=supports.items[first],
        grades=grades,
        ranks=None if supports.ranks is None else supports.ranks[first],
    )


def _ideals(gold: Supports, cutoffs: Sequence[int], rule: CreditRule) -> tuple[list[_Floats], int]:
    """[Q] for each cut-off, the DCG of the best list; and how many are of a greedy order.

    A query without anchors gets 1, so that nothing is divided by zero.
    """
    anchors = gold.anchors()
    longest = min(cutoffs[-1], int(anchors.max(initial=0)))
    discounts = np.array([discount(rank) for rank in range(1, longest + 1)])
    if gold.grades is None:
        table = np.concatenate(([1.0], np.cumsum(discounts)))
        ideals = [table[np.minimum(anchors, min(k, longest))] for k in cutoffs]
    else:
        filled = np.flatnonzero(np.diff(gold.support_offsets))
        most = np.ones(len(gold.support_offsets) - 1)
        most[filled] = np.maximum.reduceat(gold.grades, gold.support_offsets[filled])
        query_of = np.repeat(np.arange(len(anchors)), anchors)
        most = most[np.lexsort((-most, query_of))]
        starts = gold.anchor_offsets[:-1]
        place = np.arange(len(most)) - starts[query_of]
        near = place < longest
        worth = np.where(near, most * discounts[np.where(near, place, 0)], 0.0)
        so_far = _sums_so_far(worth, starts, anchors)
        ideals = [
            np.where(anchors > 0, so_far[starts + np.minimum(anchors, k) - 1], 1.0)
            if len(so_far)
            else np.ones(len(anchors))
            for k in cutoffs
        ]
    greedy = 0
    if rule == "cover":
        for query in _sharing(gold):
            best, exact = ideal_cover(_anchors_of(gold, query), cutoffs[-1])
            greedy += not exact
            for ideal, k in zip(ideals, cutoffs, strict=True):
                ideal[query] = best[k - 1]
    return ideals, greedy


def _sharing(gold: Supports) -> list[int]:
    """Queries in which an item supports two anchors, or several items only together."""
    query, together = gold.query_of_support(), set()
    anchor = np.repeat(np.arange(len(gold.support_offsets) - 1), np.diff(gold.support_offsets))
    if gold.set_offsets is not None:
        sizes = np.diff(gold.set_offsets)
        together = set(query[sizes > 1].tolist())
        query, anchor = np.repeat(query, sizes), np.repeat(anchor, sizes)
    pairs = np.unique(np.stack([query, gold.items, anchor]), axis=1)
    again = np.all(pairs[:2, 1:] == pairs[:2, :-1], axis=0)
    return sorted(together.union(pairs[0, 1:][again].tolist()))


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
