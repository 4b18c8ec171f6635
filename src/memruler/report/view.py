"""What both the terminal and Markdown show, picked from the records once."""

from collections.abc import Iterable

from memruler.compare.headline import HEADLINE, LEVELS, headline_cell
from memruler.compare.record import ChangedQuery, Comparison, Delta, MacroDelta
from memruler.metrics.names import METRICS
from memruler.model.summary import Cutoff, Level, Summary

__all__ = [
    "PER_QUERY",
    "category_deltas",
    "category_rows",
    "ceilings",
    "deltas_at",
    "floors",
    "headline_moves",
    "headline_of",
    "levels_of",
    "macro_of",
    "metrics_of",
    "moved_headline",
    "slice_rows",
]

PER_QUERY = tuple(metric.name for metric in METRICS.values() if metric.kind == "per-query")
"""The metrics that every query has a value of, in the order of columns."""


def headline_of(summary: Summary) -> tuple[str, Cutoff] | None:
    """The id of a run's headline and the row it stands in; None if there is no cut-off at all."""
    rows = {(row.level, row.k): row for row in summary.slices[0].cutoffs}
    if not rows:
        return None
    row = rows[headline_cell(list(rows))]
    return f"{HEADLINE}@{row.k}", row


def moved_headline(summary: Summary) -> str | None:
    """Why the headline is not the usual one; None where it is, or where there is none."""
    head = headline_of(summary)
    usual = ("session", 5)
    if head is None or (head[1].level, head[1].k) == usual:
        return None
    return (
        f"{HEADLINE}@{usual[1]} at the {usual[0]} level is not there (not asked for, or no query "
        f"found as many), so {head[0]} at the {head[1].level} level leads; do not hold it against "
        "the headline of another run"
    )


def levels_of(rows: Iterable[Cutoff | Delta]) -> list[Level]:
    """The levels that occur, the headline's first."""
    there = {row.level for row in rows}
    return [level for level in LEVELS if level in there]


def metrics_of(rows: Iterable[Cutoff]) -> list[str]:
    """Every metric that has a mean: those of the registry in its order, then any others."""
    there = dict.fromkeys(name for row in rows for name in row.values)
    return [*(name for name in METRICS if name in there), *(n for n in there if n not in METRICS)]


def slice_rows(summary: Summary, level: Level, k: int) -> list[tuple[str, Cutoff | None, int]]:
    """Every category at one cut-off: name, its row (None where no list is so long), queries."""
    return [
        (
            part.name,
            next((row for row in part.cutoffs if (row.level, row.k) == (level, k)), None),
            part.queries,
        )
        for part in summary.slices[1:]
    ]


def ceilings(summary: Summary, level: Level) -> dict[int, float]:
    """Depth to the most that `recall_all` can be, where that is less than 1.

    It cannot be 1 where a counted query has more gold than the window holds.
    """
    return {
        row.k: row.attainable / row.counted
        for row in summary.slices[0].cutoffs
        if row.level == level and row.attainable < row.counted
    }


def floors(summary: Summary, level: Level) -> dict[int, float]:
    """Depth to `recall_all` over padded lists, where a query's list is shorter than k.

    Silence must not pay: a memory that returns few hits leaves hard queries out of its own mean.
    """
    return {
        row.k: row.padded[HEADLINE]
        for row in summary.slices[0].cutoffs
        if row.level == level and row.counted < row.of
    }


def deltas_at(comparison: Comparison, level: Level) -> list[list[Delta]]:
    """The deltas over all queries at one level: one list a cut-off, in the order of columns."""
    whole = [d for d in comparison.deltas if d.level == level and d.slice == "all"]
    return [[d for d in whole if d.k == k] for k in sorted({d.k for d in whole})]


def category_deltas(comparison: Comparison, level: Level) -> list[list[Delta]]:
    """As `deltas_at`, but one list a category and cut-off."""
    groups: dict[tuple[str, int], list[Delta]] = {}
    for d in comparison.deltas:
        if d.level == level and d.slice != "all":
            groups.setdefault((d.slice, d.k), []).append(d)
    return [group for _, group in sorted(groups.items())]


def category_rows(comparison: Comparison) -> list[Delta]:
    """The headline's deltas by category."""
    head = comparison.headline
    return [
        d
        for d in comparison.deltas
        if (d.metric, d.level, d.k) == (head.metric, head.level, head.k) and d.slice != head.slice
    ]


def macro_of(comparison: Comparison) -> MacroDelta | None:
    """The headline's delta over categories; None where there is no category."""
    head = comparison.headline
    wanted = (head.metric, head.level, head.k)
    return next((m for m in comparison.macro if (m.metric, m.level, m.k) == wanted), None)


def headline_moves(comparison: Comparison) -> list[ChangedQuery]:
    """The queries that moved on the headline: those that got worse first, in corpus order."""
    moved = [query for query in comparison.queries if query.headline is not None]
    return sorted(moved, key=lambda query: query.headline == "up")
