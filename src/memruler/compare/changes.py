"""Which queries changed between two runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from memruler.compare.deltas import moved
from memruler.compare.headline import Cell
from memruler.compare.load import LoadedRun, QueryKey
from memruler.compare.record import ChangedQuery, Delta
from memruler.model.summary import Level

__all__ = ["changed_queries", "recounted"]

_Changes = dict[Level, dict[str, tuple[float, float]]]
_WAYS: Mapping[int, Literal["up", "down"] | None] = {1: "up", 0: None, -1: "down"}


def changed_queries(
    base: LoadedRun, candidate: LoadedRun, cells: Sequence[Cell], headline: Delta
) -> tuple[ChangedQuery, ...]:
    """Every query with a value that differs, at any metric, level and cut-off compared.

    A query that has no value in one of the runs changed nothing that can be compared; the counts
    beside each delta say how many there are.

    Args:
        base: The baseline.
        candidate: The candidate.
        cells: Levels and depths compared.
        headline: The delta that decides; each query says which way it moved there.
    """
    found: dict[QueryKey, _Changes] = {}
    for level, column, key, pair in _differing(base, candidate, cells):
        found.setdefault(key, {}).setdefault(level, {})[column] = pair
    column = f"{headline.metric}@{headline.k}"
    return tuple(
        ChangedQuery(
            instance=key.instance,
            query=key.query,
            id=query.id,
            text=query.text,
            category=query.category,
            headline=_way(found[key], headline.level, column),
            changes=found[key],
        )
        for key, query in base.queries.items()
        if key in found
    )


def recounted(base: LoadedRun, candidate: LoadedRun) -> frozenset[QueryKey]:
    """The queries that count in one run only, at some level and depth scored in both."""
    unlike: set[QueryKey] = set()
    for level in base.scores.keys() & candidate.scores.keys():
        left, right = base.scores[level].columns, candidate.scores[level].columns
        for column in left.keys() & right.keys():
            unlike |= left[column].keys() ^ right[column].keys()
    return frozenset(unlike)


def _way(changes: _Changes, level: Level, column: str) -> Literal["up", "down"] | None:
    pair = changes.get(level, {}).get(column)
    return None if pair is None else _WAYS[moved(*pair)]


def _differing(
    base: LoadedRun, candidate: LoadedRun, cells: Sequence[Cell]
) -> Iterator[tuple[Level, str, QueryKey, tuple[float, float]]]:
    for level, k in cells:
        for column, values in base.scores[level].columns.items():
            if column.endswith(f"@{k}"):
                others = candidate.scores[level].columns[column]
                for key, value in values.items():
                    if key in others and moved(value, others[key]):
                        yield level, column, key, (value, others[key])
