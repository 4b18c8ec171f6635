"""How numbers are written: the same everywhere, and never a mean without its denominators."""

from collections.abc import Mapping

from memruler.compare.record import Side
from memruler.model.run import Determinism
from memruler.model.summary import ContextSize, HitCounts, PopulationCounts, StoreCounts, Timing

__all__ = [
    "by_depth",
    "context",
    "counts",
    "delta",
    "determinism",
    "hits",
    "latency",
    "losses",
    "mean",
    "population",
    "share",
    "signed",
    "span",
    "store",
]

_SMALLEST = 0.00005


def mean(value: float | None) -> str:
    """A mean in [0, 1] with four digits; `-` where there is none."""
    return "-" if value is None else f"{value:.4f}"


def delta(value: float) -> str:
    """A difference of means with its sign; `=` only if it is exactly zero.

    What would round to zero is written as a power of ten, so that it is not taken for none.
    """
    if value == 0:
        return "="
    return f"{value:+.4f}" if abs(value) >= _SMALLEST else f"{value:+.0e}"


def signed(number: int) -> str:
    """A whole number with its sign; `0` without."""
    return f"{number:+d}" if number else "0"


def share(number: int, of: int) -> str:
    """The denominators that stand beside a mean."""
    return f"{number}/{of}"


def by_depth(values: Mapping[int, float]) -> str:
    """A mean a depth, in the order given: `0.7863 at k=1, 0.9614 at k=3`."""
    return ", ".join(f"{mean(value)} at k={k}" for k, value in values.items())


def counts(numbers: Mapping[str, int]) -> str:
    """Counts by reason, largest first; `none` where there are none."""
    ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number} {reason}" for reason, number in ranked) or "none"


def population(people: PopulationCounts, clusters: int) -> str:
    """Who the means are over."""
    partial = f"; {people.partial_gold} with only part of their gold" if people.partial_gold else ""
    return (
        f"{people.name} (rule {people.rule}): {people.measured} measured of {people.members} "
        f"members, of {people.corpus_queries} queries; {clusters} "
        f"cluster{'s' * (clusters != 1)}{partial}"
    )


def store(kept: StoreCounts) -> str:
    """What the store kept, what it lost and whom that hurt."""
    if not kept.known:
        return (
            f"{kept.stored} items seen in hits; the system does not export its lineage, so what "
            "it lost is not known"
        )
    cut = (
        f"; {kept.truncated} of the texts were longer than the embedder reads and were cut"
        if kept.truncated
        else ""
    )
    if not kept.lost:
        return f"{kept.stored} items, none refused or evicted{cut}"
    return (
        f"{kept.stored} items; lost: {counts(kept.lost)}; gold turns lost: "
        f"{counts(kept.lost_gold)} ({kept.queries_hurt} measured queries hurt){cut}"
    )


def hits(found: HitCounts) -> str:
    """Hits of measured queries, and those that could not be attributed."""
    lost = ", ".join(f"{number} at {level} level" for level, number in found.unattributed.items())
    made = (
        f"{found.transformed} are transformed forms, which raw does not credit; "
        if found.transformed
        else ""
    )
    tied = (
        f"; all hits of {found.tied} queries have one and the same score, so that their order "
        "says nothing"
        if found.tied
        else ""
    )
    again = (
        f"; {found.repeated} name an item that stood in the same list before, and earn nothing "
        "again"
        if found.repeated
        else ""
    )
    return f"{found.total} returned; {made}not attributed: {lost or 'none'}{again}{tied}"


def context(size: ContextSize) -> str:
    """Mean size of what one query returned, each way of counting by its name."""
    tokens = "no token count" if size.tokens is None else f"{size.tokens:.1f} tokens"
    chars = (
        "characters not known"
        if size.chars_over_4 is None
        else f"about {size.chars_over_4:.1f} tokens (characters / 4)"
    )
    return f"{chars}, {tokens} a query ({size.tokenizer}), over {size.queries} queries"


def latency(timing: Timing) -> str:
    """Search latency with its basis; percentiles only where a single query has one."""
    if timing.mean_ms is None:
        return f"none ({timing.basis})"
    percentiles = ", ".join(
        f"{name} {value:.2f} ms"
        for name, value in (("p50", timing.p50_ms), ("p95", timing.p95_ms))
        if value is not None
    )
    return (
        f"mean {timing.mean_ms:.2f} ms{', ' + percentiles if percentiles else ''} over "
        f"{timing.queries} searches ({timing.basis})"
    )


def losses(run: Side) -> str:
    """What the store of one side of a comparison lost, and whom that hurt."""
    if not run.lineage_known:
        return "not known: the system does not export its lineage"
    if not run.lost:
        return "nothing"
    return f"{counts(run.lost)}; {run.queries_hurt} measured queries lost gold"


def determinism(measured: Determinism | None) -> str:
    """Whether a second fresh store gave the same rankings."""
    if measured is None:
        return "not measured"
    where = "another process" if measured.other_process else "the same process"
    return (
        f"{measured.identical} of {measured.queries} queries ranked identically again, in fresh "
        f"stores and {where} ({measured.instances} of the instances; the run has "
        f"{measured.of} queries)"
    )


def span(days: tuple[float, float] | None) -> str:
    """Days between the oldest and the newest session of an instance."""
    if days is None:
        return "none: nothing is dated"
    return f"{days[0]:.1f} to {days[1]:.1f} days, the shortest and the longest instance"
