"""Every metric for every query of a run at once, equal to the definitions to the last bit.

The ranks are walked down once, in order, with one running total a query. That is the order in
which the definitions and TREC's programs add, so equality is exact and not a tolerance; a matrix
product adds in an order of its own and differs in the last bit for some queries.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memruler.metrics.definitions import discount

__all__ = ["Aggregate", "ScoredMatrix", "score_matrix"]

_Bools = NDArray[np.bool_]
_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Aggregate:
    """One number over many queries, with what it is over.

    Attributes:
        value: In [0, 1].
        counted: Queries it is over: with gold, and with at least k ranks; at least 1.
        of: Queries with gold, whatever the length of their lists.
    """

    value: float
    counted: int
    of: int


@dataclass(frozen=True)
class _Window:
    """What the first `k` ranks of every query hold; all arrays are [Q]."""

    k: int
    gold: _Ints  # at least 1: a query without gold is masked, and must not divide by zero
    found: _Ints
    first: _Ints  # rank of the first hit, 0 if there is none yet
    dcg: _Floats
    ideal: _Floats


# The definitions again, an array for a number; tests hold the two against each other.
_FORMULAS: Mapping[str, Callable[[_Window], _Floats]] = MappingProxyType(
    {
        "recall_all": lambda w: (w.found == w.gold).astype(np.float64),
        "recall_any": lambda w: (w.found > 0).astype(np.float64),
        "recall_micro": lambda w: w.found / w.gold,
        "precision": lambda w: w.found / w.k,
        "mrr": lambda w: np.where(w.first > 0, 1.0 / np.maximum(w.first, 1), 0.0),
        "ndcg": lambda w: w.dcg / w.ideal,
    }
)


@dataclass(frozen=True, eq=False)
class ScoredMatrix:
    """The values of all metrics at all cut-offs, reachable only together with who counts.

    A query that does not count is masked by `values` and left out by `aggregate`, unless that is
    asked for padded lists. There is no NaN and no zero standing in for "no value".

    Attributes:
        cutoffs: Ascending.
        gold: [Q], number of gold ids.
    """

    cutoffs: tuple[int, ...]
    gold: _Ints
    _counted: Mapping[int, _Bools]
    _found: Mapping[int, _Ints]
    _values: Mapping[tuple[str, int], _Floats]

    def counted(self, k: int) -> _Bools:
        """[Q], which queries have a value at `k`: with gold, and with at least `k` ranks.

        Raises:
            KeyError: `k` was not scored.
        """
        return self._counted[k]

    def attainable(self, k: int) -> _Bools:
        """[Q], which counted queries have at most `k` gold ids, so that recall_all can be 1.

        Raises:
            KeyError: `k` was not scored.
        """
        return self._counted[k] & (self.gold <= k)

    def values(self, metric: str, k: int) -> "np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]":
        """[Q], the values of a per-query metric at `k`, masked where a query does not count.

        Raises:
            KeyError: `metric` is not a per-query metric, or `k` was not scored.
        """
        return np.ma.array(self._values[metric, k], mask=~self._counted[k])

    def aggregate(
        self, metric: str, k: int, among: _Bools | None = None, *, padded: bool = False
    ) -> Aggregate | None:
        """The mean of a per-query metric, or the value of `recall_pooled`.

        The sum is rounded once (`math.fsum`), so the order of queries cannot change a bit.

        Args:
            metric: A key of `memruler.metrics.names.METRICS`.
            k: A cut-off that was scored.
            among: [Q] mask of a slice; all queries when None.
            padded: Count every query with gold, a list shorter than `k` filled up with misses:
                the convention of trec_eval, under which silence cannot pay.

        Returns:
            None when no query of the slice counts at `k`: there is then no number.

        Raises:
            KeyError: `metric` is unknown, or `k` was not scored.
            ValueError: `among` is not a boolean mask over the queries.
        """
        if among is None:
            among = np.ones(len(self.gold), dtype=np.bool_)
        elif among.dtype != np.bool_ or among.shape != self.gold.shape:
            raise ValueError("a slice is a boolean mask over all queries")
        # Past the end of its list a query's running totals stand still, as if misses followed.
        rows = (self.gold >= 1 if padded else self._counted[k]) & among
        counted = int(rows.sum())
        if metric == "recall_pooled":
            total, weight = float(self._found[k][rows].sum()), int(self.gold[rows].sum())
        else:
            total, weight = math.fsum(self._values[metric, k][rows].tolist()), counted
        if counted == 0:
            return None
        return Aggregate(total / weight, counted, int((among & (self.gold >= 1)).sum()))


def score_matrix(
    relevance: _Bools,
    observed: NDArray[np.integer],
    gold: NDArray[np.integer],
    cutoffs: Sequence[int],
) -> ScoredMatrix:
    """Score every query of a run at every cut-off.

    Besides its result (one float64 array a metric and cut-off) it needs two more bytes for each
    byte of `relevance`, and a few numbers a query.

    Args:
        relevance: [Q, L], by rank, whether the ranked id is gold; False from `observed` on.
        observed: [Q], entries of each list, 0 to L.
        gold: [Q], gold ids of each query; with 0 the query has no value at any cut-off.
        cutoffs: Ascending, distinct, at least 1; may be deeper than L, where no query counts.

    Raises:
        ValueError: Shapes, types or ranges do not fit; a hit stands beyond the end of its list;
            or a query has more hits than gold.
    """
    observed, gold = _checked(relevance, observed, gold, cutoffs)
    counted, found, values = {}, {}, {}
    for window in _windows(relevance, gold, cutoffs):
        k = window.k
        counted[k] = (gold >= 1) & (observed >= k)
        found[k] = window.found
        for metric, formula in _FORMULAS.items():
            values[metric, k] = formula(window)
    return ScoredMatrix(tuple(cutoffs), gold, counted, found, values)


def _windows(relevance: _Bools, gold: _Ints, cutoffs: Sequence[int]) -> Iterator[_Window]:
    """Walk down the ranks once and stop at every cut-off.

    The totals go on changing: what a window holds is true until the next one is asked for. Only
    `found`, which the result keeps, is a copy.
    """
    queries, length = relevance.shape
    ranks = np.ascontiguousarray(relevance.T)  # a rank's column in one piece of memory
    gold = np.maximum(gold, 1)
    # ideal[n]: DCG of gold at ranks 1..n. No hit can stand deeper than the list or the gold.
    discounts = [discount(rank) for rank in range(1, max(length, int(gold.max(initial=0))) + 1)]
    ideal = np.concatenate(([0.0], np.cumsum(discounts)))

    found = np.zeros(queries, dtype=np.int64)
    first = np.zeros(queries, dtype=np.int64)
    dcg = np.zeros(queries, dtype=np.float64)
    rank = 0
    for k in cutoffs:
        while rank < min(k, length):
            hit = ranks[rank]
            rank += 1
            found += hit
            first[hit & (first == 0)] = rank
            dcg += hit * discounts[rank - 1]
        yield _Window(k, gold, found.copy(), first, dcg, ideal[np.minimum(gold, k)])


def _checked(
    relevance: _Bools,
    observed: NDArray[np.integer],
    gold: NDArray[np.integer],
    cutoffs: Sequence[int],
) -> tuple[_Ints, _Ints]:
    if relevance.ndim != 2 or relevance.dtype != np.bool_:  # noqa: PLR2004 - rows and ranks
        raise ValueError("relevance is a boolean matrix of queries by ranks")
    queries, length = relevance.shape
    for array in (observed, gold):
        if array.shape != (queries,) or not np.issubdtype(array.dtype, np.integer):
            raise ValueError("observed and gold hold one whole number a query")
    if not cutoffs or cutoffs[0] < 1 or any(a >= b for a, b in itertools.pairwise(cutoffs)):
        raise ValueError("cut-offs are ascending, distinct and at least 1")
    if np.any((observed < 0) | (observed > length) | (gold < 0)):
        raise ValueError("observed lies between 0 and the number of ranks, gold is at least 0")
    if np.any(relevance & (np.arange(length) >= observed[:, None])):
        raise ValueError("a hit stands beyond the end of its list")
    if np.any(relevance.sum(axis=1) > gold):
        raise ValueError("a query has more hits than gold: an id was counted twice")
    return observed.astype(np.int64), gold.astype(np.int64)
