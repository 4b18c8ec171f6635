"""What changes between systems when only the target does."""

from typing import Literal

import msgspec

from memruler.compare.shift_cardinality import Cardinality
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import PairShift, TargetScores
from memruler.model.credit import CreditLevel, CreditRule

__all__ = [
    "SCHEMA_VERSION",
    "Aggregation",
    "Agreement",
    "CategoryWinners",
    "Choice",
    "OverTargets",
    "Recommendation",
    "RuleWinner",
    "Sensitivity",
    "SystemGap",
    "TargetGap",
]

SCHEMA_VERSION = 1
"""Version of `Sensitivity`; raised with every change that an old reader would misread."""


class TargetGap(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems under one target.

    Attributes:
        target: Its name.
        gap: The mean of `b` minus that of `a`.
        winner: The one with the higher mean; None for a tie.
    """

    target: str
    gap: float
    winner: str | None


class SystemGap(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems on one metric, under every target.

    Attributes:
        a, b: The two systems.
        metric, k: Which mean.
        gaps: One a target.
        flips: Pairs of targets under which different ones of the two win. A tie flips nothing.
        ties: Targets under which neither wins, where one does under another target.
    """

    a: str
    b: str
    metric: str
    k: int
    gaps: tuple[TargetGap, ...]
    flips: tuple[tuple[str, str], ...]
    ties: tuple[str, ...]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What one would choose under one target.

    Attributes:
        target: Its name.
        winners: The systems with the highest mean; several where they tie.
        value: That mean.
        means: System to its mean.
    """

    target: str
    winners: tuple[str, ...]
    value: float
    means: dict[str, float]


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """Which system wins on one metric, under each target.

    Attributes:
        metric, k: Which mean.
        outcome: `same`: the same system under every target (or the same that tie). `tied`: not
            so, but one system is among the winners under every target. `changed`: none is.
        choices: One a target.
    """

    metric: str
    k: int
    outcome: Literal["same", "tied", "changed"]
    choices: tuple[Choice, ...]


class CategoryWinners(msgspec.Struct, frozen=True, kw_only=True):
    """The queries of one category.

    Attributes:
        name: Its name.
        queries: Those of the shared population.
        recommendations: Every metric and cut-off.
        flips: The pairs of systems that flip somewhere; the others do not.
    """

    name: str
    queries: int
    recommendations: tuple[Recommendation, ...]
    flips: tuple[SystemGap, ...]


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


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Only queries on which all targets agree, and what still changes there.

    Attributes:
        on: `hit`: all targets find something within the first `k`, or none does. `first_rank`:
            they also find the first at the same rank.
        k: The cut-off.
        of: Queries of the shared population, each counted once for each system.
        agree: Those of them on which the targets agree for that system.
        changed: Of these, those whose nDCG still differs between two targets.
        share: `changed` over `agree`; None where nothing agrees.
        queries: Those on which the targets agree for every system: what winners are over.
        flips_before: Flips of nDCG between systems over the whole shared population.
        recommendation: Who wins on nDCG over the `queries`; None without one.
        flips: The pairs of systems that still flip.
        reason: Why there is no winner; None where there is.
    """

    on: Literal["hit", "first_rank"]
    k: int
    of: int
    agree: int
    changed: int
    share: float | None
    queries: int
    flips_before: int
    recommendation: Recommendation | None
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


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """What changes when only the target does, over saved rankings.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        systems: Names, in the order given.
        targets: Names, in the order asked for.
        rule: How credit was counted.
        level: What an anchor is.
        population: Name of the set of queries.
        cutoffs: Ascending.
        metric, k: The headline.
        asked: Queries that every system was asked.
        common: Those of them that may be scored in every system: in the population, and searched
            without error.
        queries: Those of them that every target serves in every system: who wins is over these.
        headline: Who wins on the headline.
        shifts: Every two targets, over every query of every system that both serve.
        cardinality: The shift of nDCG against target-set size, every two targets and cut-off.
        recommendations: Every metric and cut-off, over the `queries`.
        gaps: Every two systems, metric and cut-off.
        categories: The same by category.
        aggregations: Other ways of taking the mean.
        over_targets: The average over the targets, every metric and cut-off.
        agreements: Only where the targets agree, every cut-off.
        rules: Other rules of credit, every metric and cut-off.
        scores: Each system by itself.
        cards: What each system's scores rest on.
        left_out: Target to the systems that cannot be asked for it, and why; it is not compared.
        notes: What a reader must know, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    systems: tuple[str, ...]
    targets: tuple[str, ...]
    rule: CreditRule
    level: CreditLevel
    population: str
    cutoffs: tuple[int, ...]
    metric: str
    k: int
    asked: int
    common: int
    queries: int
    headline: Recommendation
    shifts: tuple[PairShift, ...]
    cardinality: tuple[Cardinality, ...]
    recommendations: tuple[Recommendation, ...]
    gaps: tuple[SystemGap, ...]
    categories: tuple[CategoryWinners, ...]
    aggregations: tuple[Aggregation, ...]
    over_targets: tuple[OverTargets, ...]
    agreements: tuple[Agreement, ...]
    rules: tuple[RuleWinner, ...]
    scores: tuple[TargetScores, ...]
    cards: tuple[TargetCard, ...]
    left_out: dict[str, dict[str, str]]
    notes: tuple[str, ...]
