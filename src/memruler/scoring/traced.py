"""Rankings with the gold of each target: what re-scoring reads, wherever it came from."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credited import Credited, credited
from memruler.model.credit import CreditLevel, CreditRule, Supports
from memruler.targets.eligible import Forms

__all__ = ["MOST_NAMES", "SEARCH_FAILED", "Notice", "Scored", "Traced", "score_traced"]


SEARCH_FAILED = "search_failed"
"""Reason of a query whose search ended in an error: not scored, and never a miss."""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something odd about the input that was not repaired, with names and a count.

    Attributes:
        kind: Which oddity: `unknown-item`, `absent-query`, `not-a-subset`, ...
        what: One sentence for people.
        count: How many.
        names: Some of them, at most `MOST_NAMES`, in order.
    """

    kind: str
    what: str
    count: int
    names: tuple[str, ...] = ()


MOST_NAMES = 10
"""How many names a notice lists."""


class Traced(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The rankings of Q queries, and which items are gold under each target.

    Attributes:
        name: Of the system or setting, for people: a run's stem, a file's name.
        origin: Where it came from.
        query: Name of each query, unique; a pyarrow string array [Q].
        category: Place in `categories`; -1 where there is none [Q].
        categories: Names.
        cluster: Number of the conversation or family that the query belongs to [Q].
        hits: Items by rank; -1 fills short lists at their end [Q, L] (int32).
        asked: How many hits were asked for; None where that is not known.
        reason: Why a query is not scored under any target, as a place in `reasons`; -1 if it is
            [Q]. A failed search or an absent ranking is a reason, never a miss.
        reasons: Names.
        supports: Target to the gold of the Q queries, in the order asked for.
        unserved: Target to the reason why it cannot be asked of this store at all.
        level: What an anchor is.
        anchored: Whether it is known which anchor an item supports. Where it is not, each item
            counts by itself.
        items: Names of the items by number, an Arrow array of strings; None where not known.
        population: Name of the set of queries.
        identity: What must be equal for two to be compared: corpus, population, evidence rule.
        notices: Oddities.
        forms: What the item numbers stand for; None where kinds are not known.
    """

    name: str
    origin: Literal["run", "file"]
    query: Any
    category: NDArray[np.int64]
    categories: tuple[str, ...]
    cluster: NDArray[np.int64]
    hits: NDArray[np.int32]
    reason: NDArray[np.int64]
    reasons: tuple[str, ...]
    supports: dict[str, Supports]
    unserved: dict[str, str] = {}
    level: CreditLevel = "turn"
    anchored: bool = True
    items: Any = None
    population: str = "all"
    identity: dict[str, Any] = {}
    notices: tuple[Notice, ...] = ()
    forms: Forms | None = None
    asked: int | None = None

    def deepest(self) -> int:
        """The deepest cut-off that the rankings can tell about."""
        return max(1, self.hits.shape[1] if self.asked is None else self.asked)

    def counts(self) -> NDArray[np.bool_]:
        """Which queries may be scored [Q]."""
        return self.reason < 0


class Scored(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Traced rankings with the values of every query under every target."""

    traced: Traced
    rule: CreditRule
    cutoffs: tuple[int, ...]
    by_target: dict[str, Credited]

    def served(self, target: str) -> NDArray[np.bool_]:
        """Queries that count under a target: scored at all, and with an anchor [Q]."""
        return self.traced.counts() & self.by_target[target].served()

    def shared(self) -> NDArray[np.bool_]:
        """Queries that count under every target [Q]."""
        both = self.traced.counts()
        for target in self.by_target:
            both = both & self.by_target[target].served()
        return both


def score_traced(traced: Traced, cutoffs: tuple[int, ...], rule: CreditRule) -> Scored:
    """Score every query under every target; nothing is asked of a system.

    Args:
        traced: The rankings. At level `item`, and where anchors are not known, the rule is `id`,
            whatever is asked for.
        cutoffs: Ascending, distinct, at least 1.
        rule: How credit is counted.
    """
    if traced.level == "item" or not traced.anchored:
        rule = "id"
    with ThreadPoolExecutor(2) as both:
        values = both.map(
            lambda supports: credited(traced.hits, supports, cutoffs, rule),
            traced.supports.values(),
        )
        by_target = dict(zip(traced.supports, values, strict=True))
    return Scored(traced=traced, rule=rule, cutoffs=cutoffs, by_target=by_target)
