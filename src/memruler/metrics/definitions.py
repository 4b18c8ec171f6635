"""The one definition of each metric, on one query, written to be read.

Every function takes the same three things:

* `relevance`: by rank, best first, whether the ranked id is a gold id. Ids are distinct: repeats
  were removed before (`memruler.targets.ranking`), and a hit without a credit id is False.
* `gold`: how many gold ids the query has, retrieved or not; at least 1.
* `k`: the cut-off, at least 1. Only the first `k` ranks are looked at.

A query has a value at `k` only if `has_value` says so. Where it does not, every definition raises
ValueError, because neither 0 nor 1 would be true. `memruler.metrics.vectorised` computes the same
over a whole run and is tested to be equal to the last bit.
"""

import math
from collections.abc import Iterable, Sequence

__all__ = [
    "discount",
    "has_value",
    "mrr",
    "ndcg",
    "precision",
    "recall_all",
    "recall_any",
    "recall_micro",
    "recall_pooled",
]


def has_value(observed: int, gold: int, k: int) -> bool:
    """Whether a query counts at a cut-off: it has gold, and its list reaches down to `k`.

    A list of 3 says nothing about depth 5: the two missing ranks may be misses, or the system may
    have had nothing more to give. Such a query is left out of the mean and counted as left out.

    Args:
        observed: Entries of the ranked list, 0 or more.
        gold: Gold ids of the query, 0 or more.
        k: The cut-off, at least 1.
    """
    return gold >= 1 and observed >= k


def recall_all(relevance: Sequence[bool], gold: int, k: int) -> float:
    """1 if every gold id is within the first k, else 0 (`AllRecall@k`; the headline).

    A query with more gold ids than `k` can only be 0: that is the meaning, not a fault.

    Returns:
        0.0 or 1.0.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    return float(sum(_window(relevance, gold, k)) == gold)


def recall_any(relevance: Sequence[bool], gold: int, k: int) -> float:
    """1 if at least one gold id is within the first k, else 0 (TREC's `success`).

    Returns:
        0.0 or 1.0.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    return float(any(_window(relevance, gold, k)))


def recall_micro(relevance: Sequence[bool], gold: int, k: int) -> float:
    """Share of the gold ids found within the first k: found / gold (TREC's `recall`).

    Returns:
        From 0 to min(gold, k) / gold.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    return sum(_window(relevance, gold, k)) / gold


def precision(relevance: Sequence[bool], gold: int, k: int) -> float:
    """Share of the first k ranks that are gold: found / k (TREC's `P`).

    The divisor is `k`, never the length of the list.

    Returns:
        From 0 to min(gold, k) / k.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    return sum(_window(relevance, gold, k)) / k


def mrr(relevance: Sequence[bool], gold: int, k: int) -> float:
    """Reciprocal rank: 1 / rank of the first gold id within the first k; 0 if there is none.

    Source: Voorhees, "The TREC-8 question answering track report", 1999.

    Returns:
        0.0, or from 1 / k to 1.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    for rank, relevant in enumerate(_window(relevance, gold, k), start=1):
        if relevant:
            return 1 / rank
    return 0.0


def ndcg(relevance: Sequence[bool], gold: int, k: int) -> float:
    """Discounted cumulative gain over the best attainable one, with binary gains.

    DCG@k = sum over ranks r <= k that are gold of 1 / log2(r + 1). The ideal list has gold at its
    first min(gold, k) ranks, retrieved or not, so a perfect list gives 1 at every cut-off.

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
    20(4), 2002, in the now usual form that discounts rank 2 as well (as TREC and ranx do).

    Returns:
        From 0 to 1.

    Raises:
        ValueError: The query has no value at `k`, or more hits than gold.
    """
    return _dcg(_window(relevance, gold, k)) / _dcg([True] * min(gold, k))


def recall_pooled(queries: Iterable[tuple[Sequence[bool], int]], k: int) -> float:
    """Share of all gold ids of all queries found within the first k: sum(found) / sum(gold).

    Queries with much gold weigh more than in the mean of `recall_micro`, so it has a name of its
    own, and no value for a single query.

    Args:
        queries: `(relevance, gold)` of each query that counts at `k`.
        k: The cut-off, at least 1.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: There is no query, or one has no value at `k` or more hits than gold.
    """
    found = total = 0
    for relevance, gold in queries:
        found += sum(_window(relevance, gold, k))
        total += gold
    if total == 0:
        raise ValueError("recall_pooled needs at least one query")
    return found / total


def discount(rank: int) -> float:
    """What a gold id at `rank` (from 1) adds to DCG: 1 / log2(rank + 1); rank 1 adds 1."""
    return 1 / math.log2(rank + 1)


def _dcg(window: Sequence[bool]) -> float:
    # Plain additions in rank order: the built-in sum() compensates from Python 3.12 on, which
    # changes last bits between Python versions and against every other tool.
    total = 0.0
    for rank, relevant in enumerate(window, start=1):
        if relevant:
            total += discount(rank)
    return total


def _window(relevance: Sequence[bool], gold: int, k: int) -> Sequence[bool]:
    """The first k ranks, after checking that the query has a value there."""
    if k < 1:
        raise ValueError(f"a cut-off is at least 1, not {k}")
    if gold < 1:
        raise ValueError("a query without gold has no value")
    if not has_value(len(relevance), gold, k):
        raise ValueError(f"a list of {len(relevance)} has no value at cut-off {k}")
    if sum(relevance) > gold:
        raise ValueError(f"{sum(relevance)} hits for {gold} gold ids: an id was counted twice")
    return relevance[:k]
