"""The scores of a run in the form that reports and comparisons read."""

from typing import Literal

import msgspec

__all__ = [
    "ContextSize",
    "Cutoff",
    "HitCounts",
    "Level",
    "Macro",
    "Omitted",
    "PopulationCounts",
    "Slice",
    "StoreCounts",
    "Summary",
    "Timing",
]

Level = Literal["session", "turn"]


class Cutoff(msgspec.Struct, frozen=True, kw_only=True):
    """The means of one slice at one level and one cut-off, with what they are over.

    Attributes:
        level: What a rank is a rank of.
        k: Depth.
        counted: Queries whose observed list has at least `k` entries; the means are over these.
        of: Measurable queries of the slice with gold at this level, failed searches included.
        members: SHA-256 over the counted queries' keys; two means compare only if it is equal.
        attainable: Of `counted`, those with at most `k` gold ids (`recall_all` can be 1 there).
        values: Metric name without `@k` to mean over the `counted` queries, in [0, 1].
        padded: The same over all `of` queries, a list shorter than `k` filled up with misses and
            a failed search counted as an empty list: the convention of trec_eval.
    """

    level: Level
    k: int
    counted: int
    of: int
    members: str
    attainable: int
    values: dict[str, float]
    padded: dict[str, float]


class Omitted(msgspec.Struct, frozen=True, kw_only=True):
    """A cut-off or level that is not there, and why."""

    level: Level
    k: int | None
    reason: str


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """All queries (`name` is `all`: the micro mean) or those of one category.

    Attributes:
        queries: Those that are measured.
    """

    name: str
    queries: int
    cutoffs: tuple[Cutoff, ...]


class Macro(msgspec.Struct, frozen=True, kw_only=True):
    """The unweighted mean over the categories that have the cut-off."""

    level: Level
    k: int
    categories: int
    values: dict[str, float]


class PopulationCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The population of a run.

    Attributes:
        name: Its name.
        rule: The evidence rule.
        corpus_queries: Queries of the corpus part that was run.
        members: Queries that belong to the population.
        measured: Members that count: with gold, searched without error.
        partial_gold: Of `measured`, those of which some references resolve to nothing.
        excluded: All others by reason; `measured` plus these is `corpus_queries`.
        digest: SHA-256 over the keys of the members, so two runs' populations can be held
            against each other whatever failed in them.
    """

    name: str
    rule: str
    corpus_queries: int
    members: int
    measured: int
    partial_gold: int
    excluded: dict[str, int]
    digest: str


class HitCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What was returned for measured queries.

    Attributes:
        total: Hits.
        unattributed: Level to those that no credit id could be found for, `transformed` ones aside.
        tied: Measured queries of which all hits, two or more, have one and the same score: their
            order says nothing about relevance.
        transformed: Hits of forms that a system made of what was said, such as facts. The target
            `raw` gives them no credit, wherever they come from.
        repeated: Hits of an item that stood in the same list before. They earn nothing again.
    """

    total: int
    unattributed: dict[str, int]
    tied: int
    transformed: int = 0
    repeated: int = 0


class StoreCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the store kept.

    Attributes:
        stored: Items in the store at the end.
        lost: Reason to the number of items refused or evicted.
        lost_gold: Reason to the number of gold turns (of measured queries) that are gone: every
            item that came from just them was refused or evicted. Sessions, where a whole session
            is one item.
        queries_hurt: Measured queries with at least one of these.
        truncated: Texts of which the system's embedder read only the beginning; None when not
            known, 0 too where nothing is embedded.
        known: False when the system does not export its lineage; the counts are then of what
            its hits showed, and nothing is known of what was lost.
    """

    stored: int
    lost: dict[str, int]
    lost_gold: dict[str, int]
    queries_hurt: int
    known: bool
    truncated: int | None = None


class ContextSize(msgspec.Struct, frozen=True, kw_only=True):
    """Mean size of what one measured query returned.

    Attributes:
        queries: How many queries the means are over.
        chars_over_4: Characters divided by 4, the usual rule of thumb; None when the system does
            not tell the text of every hit.
        tokens: Tokens by `tokenizer`; None when it is not installed.
        tokenizer: Name of the tokenizer, or the reason why there is none.
    """

    queries: int
    chars_over_4: float | None
    tokens: float | None
    tokenizer: str


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Wall times; never part of what must be identical between runs.

    Attributes:
        mean_ms, p50_ms, p95_ms: Search latency over `queries`; the percentiles are None when
            queries were searched in a batch, where no single query has a latency.
        queries: Searches that count: without error, and not the first of their category.
        warmup: Searches without error that were left out as the first of their category.
        basis: What a latency is here, in words.
        ingest_turns_per_s: Turns written per second, until settled.
    """

    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    queries: int
    basis: str
    ingest_turns_per_s: float | None
    warmup: int = 0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything scored from one run; the same inputs give the same bytes.

    Attributes:
        schema_version: Version of this record.
        tables: Table to the SHA-256 of its file: those that were scored, and `scores` itself.
        target: Which stored forms earn credit.
        population: Who is counted.
        clusters: Instances with at least one measured query.
        slices: `all` first, then the categories by name.
        macro: Means over categories.
        omitted: Cut-offs and levels that are not there.
        hits: Attribution.
        store: What was kept and lost.
        context: Size of what came back.
        without_gold: Level to the measured queries that have no gold at that level.
        errors: Failed searches of measured queries by message; these queries are excluded.
    """

    schema_version: int
    tables: dict[str, str]
    target: str
    population: PopulationCounts
    clusters: int
    slices: tuple[Slice, ...]
    macro: tuple[Macro, ...]
    omitted: tuple[Omitted, ...]
    hits: HitCounts
    store: StoreCounts
    context: ContextSize
    without_gold: dict[str, int]
    errors: dict[str, int]
