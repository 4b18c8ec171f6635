"""Credit of a whole run under a target at once, equal to `credit_one` to the last bit.

No rank is walked: the place of every item that supports something is looked up, and what follows
is about these few places. Gains are added in order of rank, one at a time for each query, which is
the order of the definition and of TREC's programs. So "changed" never means a rounding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_gains import Gains, ideals
from memruler.metrics.credit_steps import Steps, steps_of
from memruler.model.credit import CreditRule, Supports, unique_pairs

__all__ = ["CREDIT_METRICS", "Credited", "credited"]

CREDIT_METRICS = ("top1", "recall_any", "recall_all", "recall_micro", "mrr", "ndcg")
"""What a query has at each cut-off; `recall_pooled` is a mean of sets of queries."""

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

_CELLS = 1 << 17  # queries times ranks that are scored at a time: they stay in the cache


class Credited(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Every query under one target. A query without anchors has no value: its entries mean nothing.

    Attributes:
        target: Name of the target.
        rule: How credit was counted.
        cutoffs: Ascending [K].
        anchors: Of each query, under the rule; 0 where the target cannot serve it [Q].
        of: Anchors before any was left out [Q].
        first: Rank of the first full support within the deepest cut-off, 0 without one [Q].
        fully: Anchors with full support within each cut-off [K, Q].
        best: Sum of best grades within each cut-off; None where that is `fully` [K, Q].
        ndcg: At each cut-off [K, Q].
        greedy: Queries whose ideal under rule `cover` is that of a greedy order.
    """

    target: str
    rule: CreditRule
    cutoffs: tuple[int, ...]
    anchors: _Ints
    of: _Ints
    first: NDArray[np.int32]
    fully: NDArray[np.int32]
    best: _Floats | None
    ndcg: _Floats
    greedy: int = 0

    def served(self) -> NDArray[np.bool_]:
        """Which queries the target can serve [Q]."""
        return self.anchors > 0

    @property
    def found(self) -> Mapping[int, _Floats]:
        """Cut-off to the sum of best grades [Q]."""
        return _Made(self.cutoffs, self._found)

    @property
    def values(self) -> Mapping[tuple[str, int], _Floats]:
        """Metric and cut-off to values in [0, 1] [Q]."""
        keys = tuple((metric, k) for k in self.cutoffs for metric in CREDIT_METRICS)
        return _Made(keys, lambda key: self._value(*key))

    def _found(self, k: int) -> _Floats:
        at = self.cutoffs.index(k)
        found: _Floats = self.fully[at].astype(np.float64) if self.best is None else self.best[at]
        return found

    def _value(self, metric: str, k: int) -> _Floats:
        first, at = self.first, self.cutoffs.index(k)
        found: NDArray[Any]
        if metric == "ndcg":
            found = self.ndcg[at]
        elif metric == "recall_micro":
            found = self._found(k) / np.maximum(self.anchors, 1)
        elif metric == "mrr":
            found = np.where(first > 0, 1.0 / np.maximum(first, 1), 0.0) * (first <= k)
        elif metric == "recall_all":
            found = self.fully[at] == self.anchors
        elif metric == "recall_any":
            found = (first > 0) & (first <= k)
        else:
            found = first == 1
        return found.astype(np.float64, copy=False)


_Key = TypeVar("_Key")


class _Made(Mapping[_Key, _Floats]):
    """Arrays that follow from others, made when asked for: most are wanted once, or never."""

    def __init__(self, keys: tuple[_Key, ...], make: Callable[[_Key], _Floats]) -> None:
        self._keys, self._make = keys, make

    def __getitem__(self, key: _Key) -> _Floats:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


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
    hits = hits[:, : cutoffs[-1]]
    queries, depth = hits.shape
    step = max(_CELLS // max(depth, 1), 1)
    gains = Gains(depth, min(step, queries))
    anchors = np.empty(queries, np.int64)
    first = np.empty(queries, np.int32)
    fully = np.empty((len(cutoffs), queries), np.int32)
    best = None if supports.grades is None else np.empty((len(cutoffs), queries))
    ndcg = np.empty((len(cutoffs), queries))
    greedy = 0
    for start in range(0, queries, step):
        part = slice(start, min(start + step, queries))
        gold = supports.part(part.start, part.stop)
        if rule == "id":
            gold = _per_id(gold)
        rows = part.stop - start
        steps = steps_of(hits[part], gold)
        # Steps of one query and rank are those of one item: apart from grades, all gain the same.
        alone = rule == "id" or gold.sole or (rule == "anchor" and gold.grades is None)
        dcg = gains.dcg(steps, rows, cutoffs, rule, alone=alone)
        ideal, hard = ideals(gold, cutoffs, rule)
        anchors[part] = gold.anchors()
        first[part], fully[:, part] = _full(steps, rows, cutoffs)
        if best is not None:
            best[:, part] = _weighed(steps, rows, cutoffs)
        ndcg[:, part] = dcg / _attainable(np.array(ideal), dcg)
        greedy += hard
    return Credited(
        target=supports.target,
        rule=rule,
        cutoffs=tuple(cutoffs),
        anchors=anchors,
        of=anchors if rule == "id" else supports.of,
        first=first,
        fully=fully,
        best=best,
        ndcg=ndcg,
        greedy=greedy,
    )


def _full(steps: Steps, queries: int, cutoffs: Sequence[int]) -> tuple[_Ints, _Ints]:
    """The rank of the first full support of each query, and how many each cut-off has."""
    full = steps.best == 1.0
    query, rank = steps.query[full], steps.rank[full]
    first = np.zeros(queries, np.int64)
    opens = np.flatnonzero(np.diff(query, prepend=-1))
    if len(opens):
        first[query[opens]] = np.minimum.reduceat(rank, opens)
    # The first cut-off that each one is within; all the later ones have it too.
    at = np.searchsorted(cutoffs, np.arange(cutoffs[-1] + 1))[rank]
    counts = np.bincount(at * queries + query, minlength=len(cutoffs) * queries)
    return first, counts.reshape(len(cutoffs), queries).cumsum(axis=0)


def _weighed(steps: Steps, queries: int, cutoffs: Sequence[int]) -> list[_Floats]:
    """The sum of best grades within each cut-off, added in order of rank."""
    found = []
    for k in cutoffs:
        within = steps.rank <= k
        weighed = np.bincount(steps.query[within], steps.gain[within], queries)
        found.append(weighed.astype(np.float64))  # of nothing, it is of whole numbers
    return found


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
