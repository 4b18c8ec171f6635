"""Two systems timed in alternation: what was measured, before anything is made of it."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from memruler.model.system import SystemIdentity

__all__ = ["Pass", "Timed", "TimedSide"]


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """One side once over the corpus, in fresh stores.

    Attributes:
        side: Which.
        round: Its round, from 0, warm-ups included.
        warmup: Whether the round is thrown away.
        ingest_turns_per_s: Turns that were written, by the wall time until they could be found.
        search_ms: Median wall time of one search over all queries of the pass.
        hits: Returned by all searches together.
        ingest_embedded, ingest_cached: Texts that were embedded while writing, and vectors that
            came from the cache instead; None where the embedder is not known.
        search_embedded, search_cached: The same while searching.
    """

    side: Literal["base", "candidate"]
    round: int
    warmup: bool
    ingest_turns_per_s: float
    search_ms: float
    hits: int
    ingest_embedded: int | None
    ingest_cached: int | None
    search_embedded: int | None
    search_cached: int | None


class TimedSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two systems.

    Attributes:
        name: As it was typed.
        identity: What it says that it is.
        chosen: Its settings that the person set, by dotted key.
        text: How a turn becomes a text.
        checked: Whether what it returns is checked while it is timed, as that of a foreign system.
        warnings: What the system says must stand beside its results.
    """

    name: str
    identity: SystemIdentity
    chosen: dict[str, Any]
    text: dict[str, bool]
    checked: bool
    warnings: tuple[str, ...]


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """A finished measurement.

    Attributes:
        base, candidate: The two sides.
        corpus: Name, version, SHA-256 and tier.
        instances, turns, queries: What one pass writes and asks.
        limit: Hits asked for per query.
        rounds: Rounds that count, of four passes each.
        warmup: Rounds before them that do not.
        passes: All, in the order of measurement.
        garbage: What Python's garbage collector did meanwhile.
        stores: Where the systems' data lay.
        tool, machine, packages: What measured, as in a run's manifest.
        started, finished: UTC.
    """

    base: TimedSide
    candidate: TimedSide
    corpus: dict[str, str]
    instances: int
    turns: int
    queries: int
    limit: int
    rounds: int
    warmup: int
    passes: tuple[Pass, ...]
    garbage: str
    stores: str
    tool: dict[str, Any]
    machine: dict[str, Any]
    packages: dict[str, str]
    started: datetime
    finished: datetime
