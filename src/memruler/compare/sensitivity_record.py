"""What changes between systems when only the target does."""

import msgspec

from memruler.compare.robust_record import (
    Aggregation,
    Agreement,
    OverTargets,
    Recount,
    RuleWinner,
    ServedAnchors,
)
from memruler.compare.shift_cardinality import Cardinality
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import PairShift, TargetScores
from memruler.compare.winner_record import CategoryWinners, Recommendation, SystemGap
from memruler.model.credit import CreditLevel, CreditRule

__all__ = ["SCHEMA_VERSION", "Sensitivity"]

SCHEMA_VERSION = 1
"""Version of `Sensitivity`; raised with every change that an old reader would misread."""


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
        served: The gold anchors of the `queries` that each target keeps in each system; empty
            where anchors are not known.
        shifts: Every two targets, over every query of every system that both serve.
        cardinality: The shift of nDCG against target-set size, every two targets and cut-off.
        recommendations: Every metric and cut-off, over the `queries`.
        gaps: Every two systems, metric and cut-off.
        categories: The same by category.
        aggregations: Other ways of taking the mean.
        recounts: All systems and targets over the same anchors, in two ways.
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
    served: tuple[ServedAnchors, ...]
    shifts: tuple[PairShift, ...]
    cardinality: tuple[Cardinality, ...]
    recommendations: tuple[Recommendation, ...]
    gaps: tuple[SystemGap, ...]
    categories: tuple[CategoryWinners, ...]
    aggregations: tuple[Aggregation, ...]
    recounts: tuple[Recount, ...]
    over_targets: tuple[OverTargets, ...]
    agreements: tuple[Agreement, ...]
    rules: tuple[RuleWinner, ...]
    scores: tuple[TargetScores, ...]
    cards: tuple[TargetCard, ...]
    left_out: dict[str, dict[str, str]]
    notes: tuple[str, ...]
