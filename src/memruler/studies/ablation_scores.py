"""Reads the cells of an ablation and holds each against the first: may they be compared?"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow.compute as pc

from memruler.compare.load import LoadedRun, QueryKey, load
from memruler.metrics.names import MetricName
from memruler.model.run import Manifest
from memruler.model.summary import Level, Summary
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table
from memruler.studies.ablation_spec import AblationSpec, Outcome
from memruler.studies.cell_compare import require_comparable
from memruler.studies.spec_cells import words

__all__ = ["CellScores", "read_cells"]

_USE = {
    "embedded": ("ingest_embedded", "search_embedded"),
    "from_cache": ("ingest_cached", "search_cached"),
}

_IDLE = "give the factor settings that differ, or leave it out"


class CellScores(msgspec.Struct, frozen=True, kw_only=True):
    """What an attribution needs of a run.

    Attributes:
        manifest: Of the run.
        summary: Of the run.
        measured: Level to the queries that could count there.
        values: One an outcome: the queries that count, with their values.
        embedded: See `CellResult`.
        from_cache: See `CellResult`.
    """

    manifest: Manifest
    summary: Summary
    measured: Mapping[Level, Sequence[QueryKey]]
    values: Sequence[Mapping[QueryKey, float]]
    embedded: int | None
    from_cache: int | None


def read_cells(
    spec: AblationSpec, out: Path, cells: Sequence[tuple[tuple[str, ...], str]]
) -> list[CellScores]:
    """Read every cell, one at a time, and refuse those that do not compare with the first.

    Args:
        spec: Tells what may differ between two cells.
        out: Where the run folders lie.
        cells: The factors that are on, and the run folder, of each.

    Raises:
        Incomparable: Something else differs, or a cell is not deterministic; every reason of the
            first such cell.
        FormatError: A folder is damaged.
    """
    levels = tuple(dict.fromkeys(outcome.level for outcome in spec.metrics))
    first_on, name = cells[0]
    first = load(out / name, name)
    found = []
    for on, folder in cells:
        run = first if folder == name else load(out / folder, folder)
        if run is not first:
            under_test = {
                key: tuple(dict.fromkeys((*words(factor.off), *words(factor.on))))
                for key, factor in spec.factors.items()
                if (key in on) != (key in first_on)
            }
            require_comparable(first, run, under_test, levels, _IDLE)
        found.append(_scores(spec, out / folder, run))
    return found


def _scores(spec: AblationSpec, path: Path, run: LoadedRun) -> CellScores:
    use = read_table(
        RunFolder.open(path), "ingest", columns=[c for cs in _USE.values() for c in cs]
    )
    embedded, from_cache = (
        None if None in totals else sum(totals)
        for totals in (
            [pc.sum(use.column(c)).as_py() for c in columns] for columns in _USE.values()
        )
    )
    return CellScores(
        manifest=run.manifest,
        summary=run.summary,
        measured={
            level: [key for key in run.queries if key not in scores.excluded]
            for level, scores in run.scores.items()
        },
        values=[_column(run, outcome) for outcome in spec.metrics],
        embedded=embedded,
        from_cache=from_cache,
    )


def _column(run: LoadedRun, outcome: Outcome) -> Mapping[QueryKey, float]:
    scores = run.scores.get(outcome.level)
    name = str(MetricName.parse(outcome.metric))
    return {} if scores is None else scores.columns.get(name, {})
