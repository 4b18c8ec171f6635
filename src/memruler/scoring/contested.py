"""Credits that a relaxed target gives and a strict one would not: what an audit looks at."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_steps import places
from memruler.scoring.traced import Traced

__all__ = ["Contested", "contested"]


class Contested(msgspec.Struct, frozen=True, eq=False):
    """Contested credits, by query, then rank [C].

    Attributes:
        query: Row of the query in the trace.
        item: Number of the item: in a run, its row of the lineage.
        rank: Where it stands first in the query's ranking, from 1.
    """

    query: NDArray[np.int64]
    item: NDArray[np.int64]
    rank: NDArray[np.int64]


def contested(traced: Traced, relaxed: str, strict: str, k: int) -> Contested:
    """Items within the first `k` that earn credit under one target and not under another.

    Only queries that count are looked at.

    Args:
        traced: Rankings with the gold of both targets.
        relaxed: The target that gives the credit.
        strict: The target that does not.
        k: The cut-off, at least 1.

    Raises:
        KeyError: A target is not in `traced`.
    """
    given = _within(traced, relaxed, k)
    kept = _within(traced, strict, k)
    more = given[~np.isin(given, kept)]
    width = traced.hits.shape[1]
    query, place = more // width, more % width
    return Contested(query, traced.hits[query, place].astype(np.int64), place + 1)


def _within(traced: Traced, target: str, k: int) -> NDArray[np.int64]:
    """Cells of the matrix of hits that hold an eligible item for the first time, ascending."""
    supports = traced.supports[target]
    query = supports.query_of_support()
    if supports.set_offsets is not None:
        query = np.repeat(query, np.diff(supports.set_offsets))
    ranks = places(traced.hits[:, :k], query, supports.items)
    counts = (ranks > 0) & traced.counts()[query]
    return np.unique(query[counts] * traced.hits.shape[1] + ranks[counts] - 1)
