"""Pairs the values of two runs, query by query, and checks each run against its own summary."""

from collections.abc import Iterator, Mapping
from math import fsum, isclose

from memruler.compare.deltas import difference, paired_delta
from memruler.compare.headline import Cell
from memruler.compare.load import LoadedRun, QueryKey
from memruler.compare.record import Delta, PaddedDelta
from memruler.errors import FormatError
from memruler.metrics.names import METRICS
from memruler.scoring.levels import SEARCH_FAILED
from memruler.scoring.slices import slice_name

__all__ = ["cell_deltas", "floor_delta", "padded_delta"]

_AGREE = 1e-9
"""How far the mean of scores.parquet may be from summary.json: both come from one scoring."""

_Values = Mapping[QueryKey, float]


def cell_deltas(
    base: LoadedRun, candidate: LoadedRun, cell: Cell, *, shared: bool
) -> Iterator[Delta]:
    """Every metric's delta at one level and depth: over all queries, then by category.

    Args:
        base: The baseline.
        candidate: The candidate; it has the same queries.
        cell: Level and depth, scored in both.
        shared: Both means are over the queries that count in both runs. A slice without such a
            query has no delta. Without it the two runs must count the same queries.

    Raises:
        FormatError: The scores of a run are not those of its summary.
    """
    level, k = cell
    slices = _slices(base)
    for metric in _metrics(base, candidate, cell):
        values = base.scores[level].columns[f"{metric}@{k}"]
        others = candidate.scores[level].columns[f"{metric}@{k}"]
        if not shared and values.keys() != others.keys():
            raise _disagree(candidate, f"{level} {metric}@{k}")
        for name, keys in slices.items():
            left = {key: values[key] for key in keys if key in values}
            right = {key: others[key] for key in keys if key in others}
            _check(base, cell, metric, name, left)
            _check(candidate, cell, metric, name, right)
            pairs = [(value, right[key]) for key, value in left.items() if key in right]
            if pairs:
                of = base.cutoffs(name)[cell].of
                yield paired_delta(metric, cell, name, of, pairs, own=(len(left), len(right)))


def floor_delta(base: LoadedRun, candidate: LoadedRun, shared: Delta) -> Delta:
    """A delta again over all measurable queries: a list shorter than `k` scores 0.

    A memory that returns fewer hits drops queries from its own mean, and the hard ones first.
    Here it gains nothing by that. Searches that failed, in both runs alike, score 0 as well.

    Args:
        base: The baseline.
        candidate: The candidate; the same queries are measured in it.
        shared: The delta over the queries that count in both; its slice is `all`.

    Raises:
        FormatError: The scores of a run are not those of its summary.
    """
    level, column = shared.level, f"{shared.metric}@{shared.k}"
    excluded = base.scores[level].excluded
    measured = [key for key in base.queries if key not in excluded]
    failed = shared.of - len(measured)
    if not 0 <= failed <= sum(reason == SEARCH_FAILED for reason in excluded.values()):
        raise _disagree(base, f"{level} {column}, measured queries")
    values, others = (run.scores[level].columns[column] for run in (base, candidate))
    return paired_delta(
        shared.metric,
        (level, shared.k),
        shared.slice,
        shared.of,
        [
            *((values.get(key, 0.0), others.get(key, 0.0)) for key in measured),
            *[(0.0, 0.0)] * failed,
        ],
        own=(shared.base_counted, shared.candidate_counted),
    )


def padded_delta(base: LoadedRun, candidate: LoadedRun, delta: Delta) -> PaddedDelta | None:
    """A delta again between the padded means that the two runs give for themselves.

    Both means are rounded once. What that can make of zero counts as zero.

    Args:
        base: The baseline.
        candidate: The candidate; the same queries are measured in it.
        delta: The delta over the queries that count in both.

    Returns:
        None where a run gives no such mean, or gives it over another number of queries.
    """
    cell = (delta.level, delta.k)
    left, right = (run.cutoffs(delta.slice).get(cell) for run in (base, candidate))
    if left is None or right is None or left.of != right.of:
        return None
    mean, other = left.padded.get(delta.metric), right.padded.get(delta.metric)
    if mean is None or other is None:
        return None
    return PaddedDelta(of=left.of, base=mean, candidate=other, delta=difference(mean, other))


def _slices(run: LoadedRun) -> dict[str, list[QueryKey]]:
    """The queries of every slice of the summary, measured or not."""
    found: dict[str, list[QueryKey]] = {name: [] for name in run.categories}
    for key, query in run.queries.items():
        # A category of which nothing is measured has no slice, and no values either.
        found.get(slice_name(query.category), []).append(key)
    return {"all": list(run.queries), **found}


def _metrics(base: LoadedRun, candidate: LoadedRun, cell: Cell) -> list[str]:
    """Per-query metrics that were scored there, in the registry's order."""
    level, k = cell
    found = []
    for metric in METRICS.values():
        there = [f"{metric.name}@{k}" in run.scores[level].columns for run in (base, candidate)]
        if metric.kind != "per-query":
            continue
        if not all(there):
            raise _disagree(candidate if there[0] else base, f"{level} {metric.name}@{k}")
        found.append(metric.name)
    return found


def _check(run: LoadedRun, cell: Cell, metric: str, name: str, values: _Values) -> None:
    """Hold the values of one slice against the count and the mean that the summary gives."""
    cutoff = run.cutoffs(name).get(cell)
    agree = len(values) == (0 if cutoff is None else cutoff.counted)
    if agree and values and cutoff is not None:
        stated = cutoff.values.get(metric)
        mean = fsum(values.values()) / len(values)
        agree = stated is not None and isclose(stated, mean, rel_tol=0, abs_tol=_AGREE)
    if not agree:
        raise _disagree(run, f"{cell[0]} {metric}@{cell[1]}, slice {name}")


def _disagree(run: LoadedRun, where: str) -> FormatError:
    return FormatError(
        f"scores.parquet and summary.json of run {run.name} disagree",
        where=where,
        hint="score the run again",
    )
