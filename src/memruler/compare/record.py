"""What a comparison says, or why there is none: the records that reports and scripts read."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from memruler.compare.target_card import TargetCard
from memruler.compare.target_part import UnderTarget
from memruler.model.summary import ContextSize, HitCounts, Level, Omitted, PopulationCounts

__all__ = [
    "SCHEMA_VERSION",
    "ChangedQuery",
    "Comparison",
    "Delta",
    "Difference",
    "MacroDelta",
    "PaddedDelta",
    "Reason",
    "ReasonCode",
    "Refused",
    "Side",
    "Verdict",
]

SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""

Verdict = Literal["better", "worse", "unchanged"]

ReasonCode = Literal[
    "corpus",
    "population",
    "ruler",
    "undeclared",
    "nothing-changed",
    "degraded",
    "determinism",
    "queries",
    "members",
    "cutoff",
    "metric",
    "nothing-left",
    "unexplained",
    "shared_and_floor_disagree",
]
"""Kinds of reasons; docs/comparing.md explains each."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the two fingerprints that does not hold the same value.

    Attributes:
        key: Dotted key (`system.settings.decay_rate`).
        base, candidate: The values; None where `missing` names that side.
        missing: The run that has no such key at all.
    """

    key: str
    base: Any
    candidate: Any
    missing: Literal["base", "candidate"] | None = None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs, with what stands beside its means.

    Attributes:
        name: Its run folder as the call named it; without the folders above where its own name
            tells the two runs apart.
        stem: The name that it was measured under; another one where the folder was renamed.
        tool: memruler's version, commit, whether the tree was dirty.
        started: When it began (UTC).
        context: Mean size of what a query returned.
        hits: How many hits came back, and how many could not be attributed.
        lost: Reason to the number of items its store refused or evicted.
        queries_hurt: Measured queries that lost gold with them.
        lineage_known: False when the system does not say what it lost.
    """

    name: str
    stem: str
    tool: dict[str, Any]
    started: datetime
    context: ContextSize
    hits: HitCounts
    lost: dict[str, int]
    queries_hurt: int
    lineage_known: bool


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """An exact difference of two means over the same queries.

    Attributes:
        metric: Name without the cut-off.
        level, k: What a rank is a rank of, and the depth.
        slice: `all`, or the category.
        counted: Queries that both means are over.
        base_counted, candidate_counted: Queries that count in that run; more than `counted` only
            where the comparison is over shared queries.
        of: Measurable queries of the slice.
        base, candidate: The two means.
        delta: Sum of the per-query differences divided by `counted`; exactly 0 when they cancel.
        wins, losses: Queries with a higher and with a lower value in the candidate.
    """

    metric: str
    level: Level
    k: int
    slice: str
    counted: int
    base_counted: int
    candidate_counted: int
    of: int
    base: float
    candidate: float
    delta: float
    wins: int
    losses: int


class MacroDelta(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two unweighted means over the same categories.

    Attributes:
        categories: Those with at least one query that both means are over.
        counted, base_counted, candidate_counted: As in `Delta`, summed over these categories.
    """

    metric: str
    level: Level
    k: int
    categories: int
    counted: int
    base_counted: int
    candidate_counted: int
    base: float
    candidate: float
    delta: float


class PaddedDelta(msgspec.Struct, frozen=True, kw_only=True):
    """The headline again over padded lists: the convention of trec_eval.

    Attributes:
        of: Measurable queries, failed searches included; both means are over all of them.
        base, candidate: The means that each run gives for itself: a list shorter than the cut-off
            keeps what it found, and its missing ranks are misses.
        delta: Their difference.
    """

    of: int
    base: float
    candidate: float
    delta: float


class ChangedQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query with at least one value that is not the same in both runs.

    Attributes:
        instance: Key of its instance.
        query: Position in the instance.
        id: The data set's id of it.
        headline: Which way it moved on the headline metric; None if only elsewhere.
        changes: Level to metric id (`recall_all@5`) to its two values, base first.
    """

    instance: str
    query: int
    id: str
    text: str
    category: str
    headline: Literal["up", "down"] | None
    changes: dict[Level, dict[str, tuple[float, float]]]


class Comparison(msgspec.Struct, frozen=True, kw_only=True, tag="compared", tag_field="outcome"):
    """What changed between two deterministic runs: facts, so there is no interval.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        ruler: `exact`: both runs were measured to be deterministic.
        base, candidate: The two runs.
        corpus: The corpus part of the fingerprints.
        population: Who is counted, in both.
        clusters: Instances with at least one measured query.
        target: Which stored forms earn credit.
        changed: The declared differences.
        shared_only: False: both runs count the same queries at everything compared. True: asked
            for; every mean is over the queries that count in both runs.
        verdict: The sign of the headline's delta.
        headline: The one delta that decides; its slice is `all`.
        padded: The headline over padded lists; None where a run does not give it. Where
            `shared_only`, its sign is the verdict's; elsewhere a note says where it is not.
        floor: The headline over all measurable queries, where a list shorter than the cut-off
            scores 0, whatever it holds; its sign is the verdict's. None unless `shared_only`.
        deltas: Every metric, level, cut-off and slice.
        macro: Means over categories.
        by_target: Both runs under every target, where one of them stores transformed forms.
        cards: Their target cards, the base's first; empty where `by_target` is.
        queries: Those that changed anywhere, in corpus order.
        omitted: Cut-offs and levels that were left out, and why.
        degraded: Why neither run may be trusted; empty when both may be.
        corpus_notes: Sentences every report must carry.
        notes: What a reader must know, one sentence each.
    """

    schema_version: int
    ruler: Literal["exact"]
    base: Side
    candidate: Side
    corpus: dict[str, Any]
    population: PopulationCounts
    clusters: int
    target: str
    changed: tuple[Difference, ...]
    shared_only: bool = False
    verdict: Verdict
    headline: Delta
    padded: PaddedDelta | None = None
    floor: Delta | None = None
    deltas: tuple[Delta, ...]
    macro: tuple[MacroDelta, ...]
    by_target: tuple[UnderTarget, ...] = ()
    cards: tuple[TargetCard, ...] = ()
    queries: tuple[ChangedQuery, ...]
    omitted: tuple[Omitted, ...]
    degraded: tuple[str, ...]
    corpus_notes: tuple[str, ...]
    notes: tuple[str, ...]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason why two runs do not compare.

    Attributes:
        code: Its kind.
        what: What is wrong, one sentence without a full stop.
        hint: What to do instead.
    """

    code: ReasonCode
    what: str
    hint: str


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused", tag_field="outcome"):
    """Two runs that do not compare, with every reason at once.

    Attributes:
        base, candidate: Names of the two run folders, as in `Side`.
    """

    schema_version: int
    base: str
    candidate: str
    reasons: tuple[Reason, ...]
    verdict: Literal["incomparable"] = "incomparable"
