"""Credit of a whole run under a target at once, equal to `credit_one` to the last bit.

No rank is walked: the place of every item that supports something is looked up, and what follows
is about these few places. Gains are added in order of rank, one at a time for each query, which is
the order of the definition and of TREC's programs. So "changed" never means a rounding.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_gains import Gains, ideals
from memruler.metrics.credit_steps import steps_of
from memruler.model.credit import CreditRule, Supports, unique_pairs

__all__ = ["CREDIT_METRICS", "Credited", "credited"]

CREDIT_METRICS = ("top1", "recall_any", "recall_all", "recall_micro", "mrr", "ndcg")
"""What a query has at each cut-off; `recall_pooled` is a mean of sets of queries."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


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
    steps = steps_of(hits, gold)
    ideal, greedy = ideals(gold, cutoffs, rule)

    full = steps.best == 1.0
    first = np.zeros(len(hits), dtype=np.int64)
    at = np.flatnonzero(full)[::-1]  # backwards, so that the first one is written last
    first[steps.query[at]] = steps.rank[at]
    gains = Gains(steps, len(hits), rule)
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
        of=anchors if rule == "id" else supports.of,
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


def _per_id(supports: Supports) -> Supports:
    if supports.set_offsets is not None and np.any(np.diff(supports.set_offsets) != 1):
        raise ValueError("rule `id` has no meaning for items that support only together")
    if supports.sole:
        return msgspec.structs.replace(
            supports,
            anchor_offsets=supports.support_offsets[supports.anchor_offsets],
            support_offsets=np.arange(len(supports.items) + 1),
            place=None,
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
