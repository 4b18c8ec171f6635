"""The words of a line-up, the same on the terminal and on its page."""

from collections.abc import Iterator

from memruler.report import numbers
from memruler.studies.lineup_record import Lineup, Row

__all__ = ["cells", "facts_of", "heads", "reading"]


def heads(found: Lineup) -> tuple[str, ...]:
    """Heads of the columns after the memory's name; a line end may stay one."""
    name = found.metric.replace("_", "_\n")
    return (name, "own list\n>= k", "p50\nms", "p95\nms", "turns/s\nwritten", "tokens", "repeats")


def cells(row: Row) -> tuple[str, ...]:
    """The cells under `heads` of a memory that was measured."""
    timing = row.timing
    return (
        numbers.mean(row.padded),
        "-" if row.counted is None or row.of is None else numbers.share(row.counted, row.of),
        _number(None if timing is None else timing.p50_ms, 2),
        _number(None if timing is None else timing.p95_ms, 2),
        _number(None if timing is None else timing.ingest_turns_per_s, 0),
        _number(None if row.context is None else row.context.chars_over_4, 0),
        "-" if row.identical is None else f"{row.identical}/{row.repeated}",
    )


def reading(found: Lineup) -> Iterator[str]:
    """How the columns are read."""
    yield (
        f"{found.metric}: share of queries with all of their evidence in the first hits, at the "
        f"{found.level} level; a list that is too short is filled up with misses, and a failed "
        "search counts as an empty list"
    )
    yield (
        "own list >= k: how many of those queries got as many hits as the depth asks for; the "
        "runs' own reports have the means over these alone"
    )
    yield (
        "p50, p95: searches one by one, from the question to its hits; failed ones and the first "
        "of each category left out; every memory embeds anew what it has not embedded itself"
    )
    yield "tokens: characters of all hits of a query divided by 4, the mean"
    yield "repeats: queries that a second, fresh store ranked the same, of those asked again"
    yield (
        "a difference between two rows is no verdict: `memruler compare` gives the paired one, "
        "and refuses what does not compare"
    )


def facts_of(found: Lineup) -> Iterator[tuple[str, str]]:
    """Who is counted, what failed, and what every report of the corpus must say."""
    yield "corpus", found.corpus
    if found.population is not None and found.clusters is not None:
        yield "population", numbers.population(found.population, found.clusters)
    for row in found.rows:
        if row.missing is not None:
            yield "no mean", f"{row.system}: {row.missing}"
        if row.failed:
            yield "failed", f"{row.system}: {row.failed} searches"
        if row.unattributed:
            yield "no source", f"{row.system}: {row.unattributed} hits that earn nothing"
    for note in found.notes:
        yield "note", note


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
