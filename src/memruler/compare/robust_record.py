"""What becomes of the winners where something else than the target is changed."""

from typing import Literal

import msgspec

from memruler.compare.winner_record import Recommendation, SystemGap
from memruler.model.credit import CreditRule

__all__ = [
    "Aggregation",
    "Agreement",
    "Flip",
    "FlipChange",
    "OverTargets",
    "Recount",
    "RuleWinner",
    "ServedAnchors",
]


class Aggregation(msgspec.Struct, frozen=True, kw_only=True):
    """The winners where the mean is taken in another way.

    Attributes:
        over: The mean over queries, the mean of the means of categories, or of clusters.
        groups: How many are averaged: queries, categories or clusters.
        recommendations: Every metric but `recall_pooled`, every cut-off; empty with a `reason`.
        flips: The pairs of systems that flip somewhere.
        reason: Why this mean says nothing; None where it does.
    """

    over: Literal["queries", "categories", "clusters"]
    groups: int
    recommendations: tuple[Recommendation, ...]
    flips: tuple[SystemGap, ...]
    reason: str | None = None


class OverTargets(msgspec.Struct, frozen=True, kw_only=True):
    """The winners under the unweighted average over the targets.

    Attributes:
        metric, k: Which mean.
        winners: Several where they tie.
        value: Their average.
        agrees: Targets under which just the same win.
        differs: The other targets.
    """

    metric: str
    k: int
    winners: tuple[str, ...]
    value: float
    agrees: tuple[str, ...]
    differs: tuple[str, ...]


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems that change places between two targets.

    Attributes:
        targets: The two targets.
        winners: Which of the two systems wins under each.
    """

    targets: tuple[str, str]
    winners: tuple[str, str]


class FlipChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of flips where other queries count.

    Attributes:
        kept: Those before and after.
        gone: Those only before.
        new: Those only after.
    """

    kept: tuple[Flip, ...]
    gone: tuple[Flip, ...]
    new: tuple[Flip, ...]


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Only queries for which something is found and all targets agree on it.

    Found is an anchor that is fully supported within the first `k`. Where no target finds one
    there is nothing to agree on: such a query is counted apart.

    Attributes:
        on: `hit`: every target finds something. `first_rank`: and the first at the same rank.
        k: The cut-off.
        of: Queries of the shared population, each counted once for each system.
        agree: Those of them on which the targets agree for that system.
        nothing: Those of them for which no target finds anything.
        changed: Of those that `agree`, those whose nDCG still differs between two targets.
        share: `changed` over `agree`; None where nothing agrees.
        queries: What winners are over: in every system the targets agree, or find nothing; and
            in one or more something is found.
        recommendation: Who wins on nDCG over the `queries`; None without one.
        flips: What becomes of the flips of nDCG over the whole shared population; None without a
            query.
        reason: Why there is no winner; None where there is.
    """

    on: Literal["hit", "first_rank"]
    k: int
    of: int
    agree: int
    nothing: int
    changed: int
    share: float | None
    queries: int
    recommendation: Recommendation | None
    flips: FlipChange | None
    reason: str | None = None


class ServedAnchors(msgspec.Struct, frozen=True, kw_only=True):
    """The gold anchors that a target keeps, over the queries that winners are over.

    Attributes:
        target: Its name.
        of: Gold anchors of these queries.
        served: System to the number of them that some stored item of it may earn.
        same: Whether these are the same ones in every system. Where they are not, the means of
            the systems are over different anchors.
    """

    target: str
    of: int
    served: dict[str, int]
    same: bool


class Recount(msgspec.Struct, frozen=True, kw_only=True):
    """The winners where every system and every target is measured over the same anchors.

    Attributes:
        over: `dropped_missed`: all gold anchors, and one that a target drops is one that it
            misses. `served_by_all`: only anchors that every target keeps in every system.
        queries: How many.
        anchors: Their gold anchors, the same under every target in every system.
        zeros: Target to system to queries that the target cannot serve; they are 0 here.
        recommendations: Every metric and cut-off; empty with a `reason`.
        flips: The pairs of systems that flip somewhere.
        reason: Why there is nothing; None where there is.
    """

    over: Literal["dropped_missed", "served_by_all"]
    queries: int
    anchors: int
    zeros: dict[str, dict[str, int]]
    recommendations: tuple[Recommendation, ...]
    flips: tuple[SystemGap, ...]
    reason: str | None = None


class RuleWinner(msgspec.Struct, frozen=True, kw_only=True):
    """The same means where credit is counted by another rule.

    Attributes:
        rule: The other rule.
        metric, k: Which mean.
        queries: Served under both rules by every target in every system: what both are over.
        used: Who wins under the rule in use.
        other: Who wins under the other one.
        changed: Targets under which the winners are not the same.
        reason: Why there is none; None where there is.
    """

    rule: CreditRule
    metric: str
    k: int
    queries: int
    used: Recommendation | None
    other: Recommendation | None
    changed: tuple[str, ...]
    reason: str | None = None
