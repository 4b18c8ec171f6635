"""The exact ruler: what changed between two deterministic runs. A fact carries no interval."""

from collections.abc import Iterator, Sequence
from math import isclose
from pathlib import Path
from typing import Literal

from memruler.compare.changes import changed_queries
from memruler.compare.comparable import reasons
from memruler.compare.deltas import macro, paired_delta, verdict
from memruler.compare.fingerprint import Differences, differences
from memruler.compare.headline import LEVELS, Cell, choose_headline
from memruler.compare.load import LoadedRun, QueryKey, load, side
from memruler.compare.notes import notes
from memruler.compare.record import (
    SCHEMA_VERSION,
    ChangedQuery,
    Comparison,
    Delta,
    MacroDelta,
    Reason,
)
from memruler.compare.refusal import Incomparable
from memruler.compare.selection import select
from memruler.errors import FormatError, UsageError
from memruler.metrics.names import METRICS, MetricName
from memruler.model.summary import Level

__all__ = ["compare"]

_AGREE = 1e-9
"""How far the mean of scores.parquet may be from summary.json: both come from one scoring."""


def compare(
    base: Path,
    candidate: Path,
    *,
    changed: Sequence[str] = (),
    cutoffs: Sequence[int] | Literal["common"] | None = None,
    levels: Sequence[Level] | None = None,
    metric: str | None = None,
) -> Comparison:
    """Compare two finished, deterministic runs over the same queries.

    Args:
        base: Run folder of the baseline.
        candidate: Run folder of the candidate.
        changed: What is under test; see `memruler.compare.fingerprint.differences`.
        cutoffs: Depths; None for all; `common` for those where both count the same queries.
        levels: Levels; None for both.
        metric: The metric that decides, such as `ndcg@10`; None for `recall_all@5`, or the
            deepest cut-off compared where there is no 5.

    Raises:
        Incomparable: A difference would not mean what it looks like; every reason at once.
        UsageError: A declared key or a metric is unknown; both runs are the same folder.
        FormatError: A folder is no finished and scored run.
    """
    if base.resolve() == candidate.resolve():
        raise UsageError(
            "a run cannot be compared with itself", where=base, hint="name two run folders"
        )
    left, right = load(base), load(candidate)
    found = differences(left.manifest.fingerprint, right.manifest.fingerprint, changed)
    selection = select(left, right, cutoffs, levels)
    headline = choose_headline(metric, selection.cells)
    refused = [
        *reasons(left, right, found, tuple(levels or LEVELS)),
        *selection.reasons,
        # Without cut-offs the reasons above say it all already.
        *([headline] if isinstance(headline, Reason) and selection.cells else []),
    ]
    if refused or isinstance(headline, Reason):
        raise Incomparable(left.stem, right.stem, refused)
    deltas = tuple(d for cell in selection.cells for d in _deltas(left, right, cell))
    deciding = _deciding(deltas, headline, selection.cells)
    moved = changed_queries(left, right, selection.cells, deciding)
    _refuse_unexplained(left, right, found, moved)
    return Comparison(
        schema_version=SCHEMA_VERSION,
        ruler="exact",
        base=side(left),
        candidate=side(right),
        corpus=left.manifest.fingerprint["corpus"],
        population=left.summary.population,
        clusters=left.summary.clusters,
        target=left.summary.target,
        changed=found.declared,
        verdict=verdict(deciding),
        headline=deciding,
        deltas=deltas,
        macro=tuple(_macro(deltas)),
        queries=moved,
        omitted=selection.omitted,
        degraded=left.manifest.degraded,
        corpus_notes=left.manifest.corpus_notes,
        notes=notes(left, right, found, deciding if metric is None else None),
    )


def _deltas(base: LoadedRun, candidate: LoadedRun, cell: Cell) -> Iterator[Delta]:
    level, k = cell
    slices = [
        (name, cutoff)
        for name in ("all", *base.categories)
        if (cutoff := base.cutoffs(name).get(cell)) is not None
    ]
    for metric in _metrics(base, candidate, cell):
        values = base.scores[level].columns[f"{metric}@{k}"]
        others = candidate.scores[level].columns[f"{metric}@{k}"]
        if set(values) != set(others):
            raise _disagree(candidate, f"{level} {metric}@{k}")
        for name, cutoff in slices:
            pairs = [
                (value, others[key])
                for key, value in values.items()
                if name in {"all", base.queries[key].category}
            ]
            if len(pairs) != cutoff.counted:
                raise _disagree(base, f"{level} {metric}@{k}, slice {name}")
            delta = paired_delta(metric, cell, name, cutoff.of, pairs)
            _check_means(base, candidate, cell, delta)
            yield delta


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


def _check_means(base: LoadedRun, candidate: LoadedRun, cell: Cell, delta: Delta) -> None:
    for run, mean in ((base, delta.base), (candidate, delta.candidate)):
        stated = run.cutoffs(delta.slice)[cell].values.get(delta.metric)
        if stated is None or not isclose(stated, mean, rel_tol=0, abs_tol=_AGREE):
            raise _disagree(run, f"{cell[0]} {delta.metric}@{cell[1]}, slice {delta.slice}")


def _disagree(run: LoadedRun, where: str) -> FormatError:
    return FormatError(
        f"scores.parquet and summary.json of run {run.stem} disagree",
        where=where,
        hint="score the run again",
    )


def _deciding(deltas: Sequence[Delta], name: MetricName, cells: Sequence[Cell]) -> Delta:
    level = min((level for level, _ in cells), key=LEVELS.index)
    return next(
        d
        for d in deltas
        if (d.level, d.k, d.metric, d.slice) == (level, name.k, name.metric, "all")
    )


def _macro(deltas: Sequence[Delta]) -> Iterator[MacroDelta]:
    groups: dict[tuple[Level, int, str], dict[str, Delta]] = {}
    for delta in deltas:
        if delta.slice != "all":
            group = groups.setdefault((delta.level, delta.k, delta.metric), {})
            group[delta.slice] = delta
    yield from (macro(group) for group in groups.values())


def _refuse_unexplained(
    base: LoadedRun, candidate: LoadedRun, found: Differences, moved: Sequence[ChangedQuery]
) -> None:
    """Refuse a difference that nothing on record can have caused: one run was no fact."""
    same = (base.manifest.packages, base.manifest.machine) == (
        candidate.manifest.packages,
        candidate.manifest.machine,
    )
    if moved and same and not found.declared:
        reason = Reason(
            code="unexplained",
            what=f"{len(moved)} queries scored differently although nothing differs between the "
            f"runs ({QueryKey(moved[0].instance, moved[0].query)} is the first): fingerprint, "
            "packages and machine are equal",
            hint="one of the runs is not deterministic, or its system changed without changing "
            "its identity; measure both anew",
        )
        raise Incomparable(base.stem, candidate.stem, [reason])
