"""Items that a relaxed target admits and a strict one does not: what an audit looks at.

That an item is eligible does not mean that it changes a score: its anchor may have been found at
an earlier rank. Each one says whether its rank gains under the rule of credit.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.metrics.credit_places import places
from memruler.metrics.credit_steps import steps_of
from memruler.model.credit import CreditRule
from memruler.scoring.traced import Traced

__all__ = ["Contested", "contested"]


class Contested(msgspec.Struct, frozen=True, eq=False):
    """Contested items, by query, then rank [C].

    Attributes:
        query: Row of the query in the trace.
        item: Number of the item: in a run, its row of the lineage.
        rank: Where it stands first in the query's ranking, from 1.
        gains: Whether its rank gains under the relaxed target: whether at least one anchor is
            better supported there than a rank before. Of items that support together, only the
            last gains, and none does while one is missing. Under rule `id` all gain.
    """

    query: NDArray[np.int64]
    item: NDArray[np.int64]
    rank: NDArray[np.int64]
    gains: NDArray[np.bool_]


def contested(
    traced: Traced, relaxed: str, strict: str, k: int, rule: CreditRule = "anchor"
) -> Contested:
    """Items within the first `k` that one target admits and another does not.

    Only queries that count are looked at.

    Args:
        traced: Rankings with the gold of both targets.
        relaxed: The target that gives the credit.
        strict: The target that does not.
        k: The cut-off, at least 1.
        rule: How credit is counted. It is `id` at level `item`, and where anchors are not known.

    Raises:
        KeyError: A target is not in `traced`.
        UsageError: Rule `id` meets a support of several items.
    """
    given = _within(traced, relaxed, k)
    more = given[~np.isin(given, _within(traced, strict, k))]
    width = traced.hits.shape[1]
    query, place = more // width, more % width
    if rule == "id" or traced.level == "item" or not traced.anchored:
        sets = traced.supports[relaxed].set_offsets
        if sets is not None and np.any(np.diff(sets) != 1):
            raise UsageError(
                f"rule `id` has no meaning for {relaxed}: its items support only together",
                hint="choose credit per anchor or cover",
            )
        gains = np.ones(len(more), dtype=np.bool_)
    else:
        steps = steps_of(traced.hits[:, :k], traced.supports[relaxed])
        gains = np.isin(more, steps.query * width + steps.rank - 1)
    return Contested(query, traced.hits[query, place].astype(np.int64), place + 1, gains)


def _within(traced: Traced, target: str, k: int) -> NDArray[np.int64]:
    """Cells of the matrix of hits that hold an eligible item for the first time, ascending."""
    supports = traced.supports[target]
    query = supports.query_of_support()
    if supports.set_offsets is not None:
        query = np.repeat(query, np.diff(supports.set_offsets))
    ranks = places(traced.hits[:, :k], query, supports.items)
    counts = (ranks > 0) & traced.counts()[query]
    return np.unique(query[counts] * traced.hits.shape[1] + ranks[counts] - 1)
