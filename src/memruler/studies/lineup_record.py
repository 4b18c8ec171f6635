"""Several memories on one corpus, a row each."""

import msgspec

from memruler.model.summary import ContextSize, Level, PopulationCounts, Timing

__all__ = ["SCHEMA_VERSION", "Lineup", "Row"]

SCHEMA_VERSION = 1
"""Version of `Lineup`; raised with every change that an old reader would misread."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One memory, measured or not.

    Attributes:
        system: As a person typed it.
        folder: Name of its run folder.
        absent: Why there is nothing else in this row; None where it was measured.
        version: Of the memory.
        padded: Mean of the metric over all `of` queries, a list that is too short filled up with
            misses and a failed search counted as an empty list; None where the level or the depth
            has no value.
        missing: Why there is no mean; None where there is one.
        value: Mean over the `counted` queries whose list has at least k entries.
        counted, of: These numbers.
        timing, context: As in the run's own report.
        failed: Searches of measured queries that failed; they are in no latency.
        unattributed: Hits for which no source is known at the level; they earn nothing.
        identical, repeated: Of `repeated` queries asked again of a fresh store, those that were
            ranked the same; None where that was not measured.
        degraded: Why the row must not be trusted; empty where it may be.
    """

    system: str
    folder: str
    absent: str | None = None
    version: str | None = None
    padded: float | None = None
    missing: str | None = None
    value: float | None = None
    counted: int | None = None
    of: int | None = None
    timing: Timing | None = None
    context: ContextSize | None = None
    failed: int | None = None
    unattributed: int | None = None
    identical: int | None = None
    repeated: int | None = None
    degraded: tuple[str, ...] = ()


class Lineup(msgspec.Struct, frozen=True, kw_only=True):
    """Memories side by side. It says what each one does, and not which of two is better.

    Attributes:
        corpus: Its name.
        metric: What the means are of, with its depth.
        level: What a rank is a rank of.
        clusters: Conversations with a measured query; None where no memory was measured.
        population: Who is counted, of the first memory that was measured; None where none was.
        rows: In the order that was asked for.
        notes: Sentences that every report of the corpus must carry.
    """

    corpus: str
    metric: str
    level: Level
    clusters: int | None
    population: PopulationCounts | None
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION
