"""What a run folder holds: the manifest, and the records of its journal."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from memruler.model.corpus import Evidence

__all__ = [
    "SCHEMA_VERSION",
    "Attribution",
    "Begin",
    "Determinism",
    "End",
    "ItemRecord",
    "JournalRecord",
    "Manifest",
    "QueryRecord",
    "TraceRecord",
]

SCHEMA_VERSION = 3
"""Version of the run folder's format; raised with every change that an old reader would misread."""

Attribution = Literal["reported", "id", "text", "unknown"]
"""How the sources of an item became known; see `ItemRecord`."""


class Determinism(msgspec.Struct, frozen=True, kw_only=True):
    """Whether fresh stores gave the same rankings again: measured, never declared.

    Attributes:
        instances: How many instances were replayed a second time.
        queries: How many queries were asked a second time, one by one.
        identical: How many of those had the same hits in the same order with the same scores.
        of: Queries of the whole run.
        other_process: Whether that was another process with another hash seed, which tells more
            than the same one: order by hash, identity or leftover state shows only there.
    """

    instances: int
    queries: int
    identical: int
    of: int
    other_process: bool


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        stem: Name of the run folder.
        state: `running` until everything is sealed.
        fingerprint: The parts that must match before two runs compare, nested by room
            (`corpus`, `population`, `ingest`, `retrieval`, `system`, `embedder`).
        chosen: Settings that the person set, by dotted key.
        defaulted: Settings left at their default, by dotted key.
        tool: memruler's version, commit, whether the tree was dirty, digest of its source.
        machine: Platform, processor, cores, memory.
        packages: Versions of the packages that shape a result.
        clock: The machine's clock that the `literal` timeline read, fixed when the run began.
        started: When the run began (UTC); kept on resume.
        finished: When it was sealed.
        resumed: How often it was resumed.
        counts: How many instances, sessions with turns, turns, queries, and queries that are
            members of the population; where the run gave any, also how many of each form of
            derived memories; where the system was asked to answer itself, also how many queries
            it `answered`, how many it said nothing to (`unanswered`), and `answer_failed`.
        span_days: Days between the oldest and the newest dated session with turns: the
            shortest and the longest such span of an instance; None when nothing is dated.
        corpus_notes: Sentences every report must carry.
        notes: What explains the numbers, one sentence each.
        warnings: What puts the numbers in doubt, one sentence each.
        degraded: Why the results must not be trusted; empty when they may be.
        determinism: None while not measured.
        lineage_exported: Whether the system told everything it stored and lost.
        tables: Name of a sealed table to the SHA-256 of its file, so that no other run's table
            can take its place.
    """

    schema_version: int
    stem: str
    state: Literal["running", "sealed"]
    fingerprint: dict[str, Any]
    chosen: dict[str, Any]
    defaulted: dict[str, Any]
    tool: dict[str, Any]
    machine: dict[str, Any]
    packages: dict[str, str]
    clock: datetime
    started: datetime
    finished: datetime | None = None
    resumed: int = 0
    counts: dict[str, int] = {}
    span_days: tuple[float, float] | None = None
    corpus_notes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    determinism: Determinism | None = None
    lineage_exported: bool = False
    tables: dict[str, str] = {}


class Begin(msgspec.Struct, frozen=True, kw_only=True, tag="begin", tag_field="t"):
    """An instance starts: its position in the corpus and its key."""

    instance: int
    key: str


class QueryRecord(msgspec.Struct, frozen=True, kw_only=True, tag="query", tag_field="t"):
    """A query with its evidence, so that scoring needs no corpus.

    Attributes:
        excluded: Reason why the run's population leaves it out or cannot measure it; None if
            it counts.
        time: When it was asked, on the run's timeline.
        asked: When it is asked by the data set; None when that does not say.
    """

    instance: int
    query: int
    id: str
    text: str
    category: str
    answer: str | None
    answer_raw: Any
    answerable: bool
    family: str | None
    evidence: tuple[Evidence, ...]
    excluded: str | None
    time: datetime | None
    asked: datetime | None = None


class ItemRecord(msgspec.Struct, frozen=True, kw_only=True, tag="item", tag_field="t"):
    """A stored form, its sources translated back to positions.

    Attributes:
        item: Row of the item in its instance's lineage, from 0.
        id: The system's own id.
        sessions: Session positions of its sources, ascending, without duplicates.
        turns: `(session, turn)` positions of its sources; a session without one is a whole one.
        text: What is stored; None when the system does not say.
        attribution: How its sources became known. `reported`: the system named them; `id`: its
            id is a key that memruler gave out; `text`: its text is that of exactly one unit that
            memruler gave; `unknown`: in none of these ways, then there are none.
    """

    item: int
    id: str
    kind: str
    sessions: tuple[int, ...]
    turns: tuple[tuple[int, int], ...]
    status: str
    reason: str | None
    text: str | None
    attribution: Attribution = "unknown"


class TraceRecord(msgspec.Struct, frozen=True, kw_only=True, tag="trace", tag_field="t"):
    """What the system returned for one query.

    Attributes:
        query: Position of the query in its instance.
        repeat: 0-based re-draw.
        items: Lineage rows of the hits within the instance, best first.
        scores: Their scores as the system gave them; None where it gave none.
        context_chars: Characters of the text of all hits together; None when not known.
        error: One line, when the search failed; then `items` is empty and nothing is scored.
        error_kind: What sort of failure that was, as in `memruler.errors.SystemUnderTestError`.
        latency_ms: Wall time of this query (its share where queries were searched in a batch).
        answer: What the system itself said; None where it was not asked or said nothing.
        answer_error: One line, when its answer failed; the ranking stands all the same.
    """

    query: int
    items: tuple[int, ...]
    scores: tuple[float | None, ...]
    context_chars: int | None
    latency_ms: float
    repeat: int = 0
    error: str | None = None
    error_kind: str | None = None
    answer: str | None = None
    answer_error: str | None = None


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end", tag_field="t"):
    """An instance is complete: everything since its `Begin` counts from now on.

    Attributes:
        items, queries, traces: How many records of each kind stand between Begin and End.
        sessions, turns: How many were ingested; derived memories count as turns.
        ingest_ms: Wall time from the first write to settled.
        batched: True when the queries were searched in one batch.
        exported: Whether the system told its lineage.
        truncated: Texts of which the system's embedder read only the beginning; None when not
            known.
        ingest_embedded, ingest_cached: Texts that were embedded while writing, and vectors that
            came from the cache instead; None where memruler does not know the embedder.
        search_embedded, search_cached: The same while searching.
        cut: Units of which the system was sent only the beginning; None where it does not say.
        out_of_reach: Queries with evidence in one of them.
        left: Why it cannot be said that the namespace is gone; None where it is, or was kept.
        attribution: `Attribution` to the number of items; and `ambiguous`, those of the unknown
            ones whose text is that of two or more units.
    """

    instance: int
    items: int
    queries: int
    traces: int
    sessions: int
    turns: int
    ingest_ms: float
    batched: bool
    exported: bool = False
    truncated: int | None = None
    ingest_embedded: int | None = None
    ingest_cached: int | None = None
    search_embedded: int | None = None
    search_cached: int | None = None
    cut: int | None = None
    out_of_reach: int = 0
    left: str | None = None
    attribution: dict[str, int] = {}


JournalRecord = Begin | QueryRecord | ItemRecord | TraceRecord | End
