"""What an A/B run found: one verdict, and accuracy, latency and context size side by side."""

from typing import Any, Literal

import msgspec

from memruler.compare.gate import Gate
from memruler.compare.record import Comparison
from memruler.model.run import Determinism
from memruler.model.summary import ContextSize, Level, PopulationCounts, Timing
from memruler.stats.interval import Interval
from memruler.studies.ab_spec import AbSpec, Side

__all__ = [
    "SCHEMA_VERSION",
    "Ab",
    "AbLatency",
    "AbMean",
    "AbRun",
    "AbTurns",
    "AbVerdict",
    "Undecided",
]

SCHEMA_VERSION = 1
"""Version of `Ab`; raised with every change that an old reader would misread."""

AbVerdict = Literal["zero", "unchanged", "better", "worse", "unresolved", "refused"]
"""`zero`: no query has another value at any metric, level or depth. `unchanged`: only the means of
the headline are equal. `unresolved`: the interval of a draw holds zero."""


class AbRun(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs.

    Attributes:
        side: Its name, and that of its run folder.
        name: What the spec calls it.
        system, version: The memory.
        chosen: Dotted setting to its value as a person types it, where the spec sets it.
        timing: Of the searches by themselves; the first of each category is no part of it, nor is
            one that failed.
        context: Size of what came back.
        errors: Failed searches of measured queries by message; these are in no mean of `values`.
        determinism: Whether it repeated itself; None where that could not be measured.
        warnings, degraded: Of the run.
    """

    side: Side
    name: str
    system: str
    version: str
    chosen: dict[str, str]
    timing: Timing
    context: ContextSize
    errors: dict[str, int]
    determinism: Determinism | None
    warnings: tuple[str, ...]
    degraded: tuple[str, ...]


class AbMean(msgspec.Struct, frozen=True, kw_only=True):
    """The deciding metric at one level and depth.

    Attributes:
        level, k: What a rank is a rank of, and the depth.
        metric: Its name.
        a, b: Mean of each side: over `a_counted` and `b_counted` queries, or where there is a
            `delta` over the `counted` ones. None where the side has none there.
        delta: B less A, exact; None where the two are not compared there, or are draws.
        counted: Queries that `delta` is over; None without one.
        comparable: Whether the same queries count on both sides.
        a_counted, b_counted: Queries with a list of at least `k`; None where a side has no mean.
        of: Measurable queries.
        a_padded, b_padded: Means over all of `of`, missing ranks counted as misses.
    """

    level: Level
    k: int
    metric: str
    a: float | None
    b: float | None
    delta: float | None
    counted: int | None
    comparable: bool
    a_counted: int | None
    b_counted: int | None
    of: int
    a_padded: float | None
    b_padded: float | None


class AbLatency(msgspec.Struct, frozen=True, kw_only=True):
    """Search latency of B less that of A, question by question.

    Attributes:
        questions: How many have a difference.
        median_ms: Of the differences; above 0 where B is slower. None without a question.
        b_slower, b_faster: Questions on which it was.
        interval: Of the mean of the differences, by whole instances; None where `why` says so.
        why: Why there is no interval.
        left_out: Reason to the number of questions without a difference.
        a_first, b_first: Of `questions`, those that were put to that side first.
    """

    questions: int
    median_ms: float | None
    b_slower: int
    b_faster: int
    interval: Interval | None
    why: str | None
    left_out: dict[str, int]
    a_first: int
    b_first: int


class AbTurns(msgspec.Struct, frozen=True, kw_only=True):
    """How the two runs were interleaved.

    Attributes:
        instances: Instances that both went through in turns, question by question.
        of: All instances; the others were measured apart, after an interruption.
        rule: Who goes first.
    """

    instances: int
    of: int
    rule: str


class Undecided(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no difference of means.

    Attributes:
        reasons: Every reason at once.
        hints: What to do.
    """

    reasons: tuple[str, ...]
    hints: tuple[str, ...]


class Ab(msgspec.Struct, frozen=True, kw_only=True):
    """Two configurations on one set of questions. A is the baseline, and B the candidate.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        verdict: B against A.
        spec: What was asked for.
        comparison: The exact difference, where both runs are deterministic; its own verdict is
            that of the headline.
        gate: The difference with its interval, where a run is a draw.
        refused: Why there is neither.
        a, b: The runs.
        means: The deciding metric at every level and depth.
        latency: Paired.
        turns: How the runs were interleaved.
        corpus: The corpus part of the fingerprints.
        population: Who is counted.
        clusters: Instances with at least one measured query.
        notes: What a reader must know, one sentence each.
        corpus_notes: Sentences every report must carry.
        degraded: Why the runs must not be trusted; empty when they may be.
    """

    schema_version: int = SCHEMA_VERSION
    verdict: AbVerdict
    spec: AbSpec
    comparison: Comparison | None
    gate: Gate | None
    refused: Undecided | None
    a: AbRun
    b: AbRun
    means: tuple[AbMean, ...]
    latency: AbLatency
    turns: AbTurns
    corpus: dict[str, Any]
    population: PopulationCounts
    clusters: int
    notes: tuple[str, ...]
    corpus_notes: tuple[str, ...]
    degraded: tuple[str, ...]
