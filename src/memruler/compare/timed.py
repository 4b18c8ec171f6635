"""What two systems that were timed in alternation differ by, and what stands beside it."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from memruler.model.timed import Pass, Timed, TimedSide
from memruler.stats.noise import Better, NoisyDelta, noisy_delta

__all__ = ["SCHEMA_VERSION", "SideUse", "TimeComparison", "compare_timed"]

SCHEMA_VERSION = 1
"""Version of `TimeComparison`; raised with every change that an old reader would misread."""


class SideUse(msgspec.Struct, frozen=True, kw_only=True):
    """What one side did in the passes that count, together.

    Attributes:
        passes: How many count.
        hits: Returned by all searches.
        ingest_embedded, ingest_cached, search_embedded, search_cached: See `Pass`; None where one
            of the passes does not know.
    """

    passes: int
    hits: int
    ingest_embedded: int | None
    ingest_cached: int | None
    search_embedded: int | None
    search_cached: int | None


class TimeComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems' times held against each other.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        own_band: Both sides are the same system with the same settings: what is measured is the
            band itself, and a verdict other than `inconclusive` is a false alarm.
        search: Latency of one search, in ms; lower is better.
        ingest: Throughput, in turns a second; higher is better.
        base, candidate: What each side did.
        notes: What a reader must know, one sentence each.
        degraded: Reasons why the numbers must not be trusted.
        measured: Everything that was measured.
    """

    own_band: bool
    search: NoisyDelta
    ingest: NoisyDelta
    base: SideUse
    candidate: SideUse
    notes: tuple[str, ...]
    degraded: tuple[str, ...]
    measured: Timed
    schema_version: int = SCHEMA_VERSION


def compare_timed(timed: Timed) -> TimeComparison:
    """Hold the two sides of a finished measurement against each other.

    Raises:
        Refusal: The baseline gave the same time again and again.
    """
    base, candidate = _use(timed, "base"), _use(timed, "candidate")
    same = _same(timed.base, timed.candidate)
    degraded = (*timed.base.identity.degraded, *timed.candidate.identity.degraded)
    return TimeComparison(
        own_band=same,
        search=_delta(timed, "search_ms", "lower"),
        ingest=_delta(timed, "ingest_turns_per_s", "higher"),
        base=base,
        candidate=candidate,
        notes=tuple(_notes(timed, base, candidate)),
        degraded=tuple(dict.fromkeys(degraded)),
        measured=timed,
    )


def _delta(
    timed: Timed, what: Literal["search_ms", "ingest_turns_per_s"], better: Better
) -> NoisyDelta:
    values = [(done.side, float(getattr(done, what))) for done in timed.passes]
    return noisy_delta(values, better=better, warmup=timed.warmup)


def _same(base: TimedSide, candidate: TimedSide) -> bool:
    return (base.identity, base.text) == (candidate.identity, candidate.text)


def _use(timed: Timed, side: Literal["base", "candidate"]) -> SideUse:
    counted = [done for done in timed.passes if done.side == side and not done.warmup]
    return SideUse(
        passes=len(counted),
        hits=sum(done.hits for done in counted),
        ingest_embedded=_sum(counted, "ingest_embedded"),
        ingest_cached=_sum(counted, "ingest_cached"),
        search_embedded=_sum(counted, "search_embedded"),
        search_cached=_sum(counted, "search_cached"),
    )


def _sum(passes: list[Pass], name: str) -> int | None:
    counts = [getattr(done, name) for done in passes]
    return None if None in counts else sum(counts)


def _notes(timed: Timed, base: SideUse, candidate: SideUse) -> Iterator[str]:
    if not timed.warmup:
        yield "no warm-up: what only the first passes pay is in the medians and in the band"
    for name, use in (("base", base), ("candidate", candidate)):
        yield from _cached(name, use)
    kinds = [(_kind(u.ingest_embedded), _kind(u.search_embedded)) for u in (base, candidate)]
    if None not in (*kinds[0], *kinds[1]) and kinds[0] != kinds[1]:
        yield "only one side embedded texts anew: its times hold the model's, the other's do not"
    if base.hits != candidate.hits:
        yield (
            f"the sides do not return equally much: {base.hits} hits in the base, "
            f"{candidate.hits} in the candidate, over as many searches"
        )
    if timed.base.checked != timed.candidate.checked:
        side = "base" if timed.base.checked else "candidate"
        yield f"the times of the {side} hold memruler's check of what a foreign system returns"
    for name, one in (("base", timed.base), ("candidate", timed.candidate)):
        for warning in one.warnings:
            yield f"{name}: {warning}"


def _kind(embedded: int | None) -> bool | None:
    return None if embedded is None else embedded > 0


def _cached(name: str, use: SideUse) -> Iterator[str]:
    """A vector from the cache costs no embedding: then the database is timed, not the model."""
    if use.ingest_cached and not use.ingest_embedded:
        yield (
            f"every vector of the {name}'s writes came from the cache: its throughput is that of "
            "its database, without the model"
        )
    if use.search_cached and not use.search_embedded:
        yield (
            f"every vector of the {name}'s questions came from the cache: its latency is without "
            "the model"
        )
