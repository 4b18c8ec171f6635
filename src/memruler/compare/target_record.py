"""What one store scores under several targets, and how far its values shift between them."""

from typing import Literal

import msgspec

from memruler.model.credit import CreditLevel, CreditRule
from memruler.scoring.traced import Notice

__all__ = [
    "NO_ITEM",
    "SCHEMA_VERSION",
    "SHIFTED",
    "TOLERANCE",
    "CategoryMeans",
    "CategoryShifts",
    "Depth",
    "DepthShifts",
    "Means",
    "PairShift",
    "Shift",
    "Shifts",
    "Spread",
    "TargetResult",
    "TargetScores",
]

SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""

TOLERANCE = 1e-12
"""Two values are the same where they differ by no more than this: the published rule."""

SHIFTED = ("ndcg", "mrr", "recall_micro", "recall_any", "recall_all", "top1")
"""Metrics that a single query has, so that it can change between two targets."""

NO_ITEM = "no_eligible_item"
"""Why a query is not scored under a target: no stored item may earn credit for it."""


class Depth(msgspec.Struct, frozen=True, kw_only=True):
    """Means at one cut-off.

    Attributes:
        k: The cut-off.
        found: Sum over the queries of their anchors found within the first `k` (of best grades,
            where supports are graded).
        recall_any, recall_all, recall_micro, mrr, ndcg: Means over the queries, in [0, 1].
        recall_pooled: `found` over all their anchors, in [0, 1].
    """

    k: int
    found: float
    recall_any: float
    recall_all: float
    recall_micro: float
    recall_pooled: float
    mrr: float
    ndcg: float


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """Means over one set of queries.

    Attributes:
        queries: How many.
        anchors: What counts under the rule of credit, the denominator of `recall_pooled`: gold
            anchors; under rule `id` the eligible items, each counted once a query.
        top1: Share of the queries with an anchor found at rank 1; None without a query.
        depths: One a cut-off, ascending; empty without a query.
        reason: Why there are no means; None where there are.
    """

    queries: int
    anchors: int
    top1: float | None
    depths: tuple[Depth, ...]
    reason: str | None = None


class CategoryMeans(msgspec.Struct, frozen=True, kw_only=True):
    """The queries of one category: those that the target serves, and those that all serve."""

    name: str
    own: Means
    shared: Means


class TargetResult(msgspec.Struct, frozen=True, kw_only=True):
    """One store under one target.

    Attributes:
        target: Its name.
        queries: All that were given, those outside of the population too.
        counted: Those of them that may be scored under some target: in the population, with gold,
            and searched without error.
        scored: Those with a value; `excluded` has the others by reason.
        excluded: Reason to queries; `scored` plus these is `queries`.
        anchors_of: Gold anchors of the `counted` queries. Turns or sessions under every rule of
            credit; what values are over stands in `own` and `shared`.
        anchors: Those of them that the target keeps.
        eligible: Items that may earn credit, summed over the queries.
        greedy: Queries whose ideal under rule `cover` is that of a greedy order.
        own: Means over the `scored` queries.
        shared: Means over the queries that every target serves.
        categories: The same by category.
    """

    target: str
    queries: int
    counted: int
    scored: int
    excluded: dict[str, int]
    anchors_of: int
    anchors: int
    eligible: int
    greedy: int
    own: Means
    shared: Means
    categories: tuple[CategoryMeans, ...]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How shifts are distributed; percentiles by linear interpolation."""

    min: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    max: float
    mean_absolute: float


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to one metric from target `a` to target `b`.

    Attributes:
        metric: Name without the cut-off. For `recall_any` and `top1` a change is a flip.
        changed: Queries whose value differs by more than `TOLERANCE`.
        share: `changed` over the queries.
        up, down: Those with a higher and with a lower value under `b`.
        mean: Mean of `b` minus `a` over all the queries.
        spread: Its distribution.
    """

    metric: str
    changed: int
    share: float
    up: int
    down: int
    mean: float
    spread: Spread


class DepthShifts(msgspec.Struct, frozen=True, kw_only=True):
    """The shifts at one cut-off, in the order of `SHIFTED`."""

    k: int
    shifts: tuple[Shift, ...]

    def of(self, metric: str) -> Shift:
        """The shift of one metric of `SHIFTED`."""
        return self.shifts[SHIFTED.index(metric)]


class Shifts(msgspec.Struct, frozen=True, kw_only=True):
    """Shifts over one set of queries.

    Attributes:
        queries: How many; a query counts once for each system, so these are pairs of a query and
            a system where there are several.
        depths: One a cut-off, ascending; empty without a query.
        reason: Why there are none; None where there are.
    """

    queries: int
    depths: tuple[DepthShifts, ...]
    reason: str | None = None


class CategoryShifts(msgspec.Struct, frozen=True, kw_only=True):
    """The shifts of one category."""

    name: str
    shifts: Shifts


class PairShift(msgspec.Struct, frozen=True, kw_only=True):
    """From target `a` to target `b`.

    Attributes:
        a, b: The two targets, in the order asked for.
        subset: Which queries: those that both targets serve, whatever a third one does.
        whole: All of them.
        categories: Them by category.
    """

    a: str
    b: str
    subset: Literal["served by both"] = "served by both"
    whole: Shifts
    categories: tuple[CategoryShifts, ...]


class TargetScores(msgspec.Struct, frozen=True, kw_only=True):
    """One store under every target asked for.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        name: Of the system or setting.
        origin: A run of memruler, or a file of rankings.
        rule: How credit was counted.
        level: What an anchor is.
        population: Name of the set of queries.
        queries: All that were given, those outside of the population too.
        counted: Those of them that may be scored under some target: in the population, with gold,
            and searched without error.
        shared: Those that every target serves: what the means called `shared` are over.
        cutoffs: Ascending.
        targets: In the order asked for.
        pairs: Every two targets.
        unserved: Target to the reason why this store cannot be asked for it at all.
        notices: Oddities of the input, none of them repaired.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    origin: Literal["run", "file"]
    rule: CreditRule
    level: CreditLevel
    population: str
    queries: int
    counted: int
    shared: int
    cutoffs: tuple[int, ...]
    targets: tuple[TargetResult, ...]
    pairs: tuple[PairShift, ...]
    unserved: dict[str, str]
    notices: tuple[Notice, ...]
