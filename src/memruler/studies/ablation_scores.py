"""Reads the cells of an ablation and holds each against the first: may they be compared?"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow.compute as pc

from memruler.compare.comparable import reasons
from memruler.compare.fingerprint import Differences, differences, flatten
from memruler.compare.load import LoadedRun, QueryKey, load
from memruler.compare.record import Reason
from memruler.compare.refusal import Incomparable
from memruler.metrics.names import MetricName
from memruler.model.run import Manifest
from memruler.model.summary import Level, Summary
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table
from memruler.studies.ablation_cells import words
from memruler.studies.ablation_spec import RUN_KEYS, AblationSpec, Outcome

__all__ = ["CellScores", "read_cells"]

_USE = {
    "embedded": ("ingest_embedded", "search_embedded"),
    "from_cache": ("ingest_cached", "search_cached"),
}

_HINTS = {
    "undeclared": "between two cells only what a factor sets may differ",
    "nothing-changed": "give the factor settings that differ, or leave it out",
}
"""What to do about a reason here, where it is not what two runs of one's own would need."""


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
            under_test = [f for f in spec.factors if (f in on) != (f in first_on)]
            refused = reasons(first, run, _differences(spec, under_test, first, run), levels)
            if refused:
                raise Incomparable(name, folder, [_advised(reason) for reason in refused])
        found.append(_scores(spec, out / folder, run))
    return found


def _differences(
    spec: AblationSpec, under_test: Sequence[str], base: LoadedRun, run: LoadedRun
) -> Differences:
    """The differences of two cells; a factor is idle if nothing that it sets differs."""
    sides = base.manifest.fingerprint, run.manifest.fingerprint
    known = {key for side in sides for key in flatten(side)}
    by_factor = {
        name: [part for part in _parts(spec, name) if any(_within(part, key) for key in known)]
        for name in under_test
    }
    found = differences(*sides, [part for parts in by_factor.values() for part in parts])
    idle = tuple(
        name
        for name, parts in by_factor.items()
        if not any(_within(part, d.key) for part in parts for d in found.declared)
    )
    return msgspec.structs.replace(found, idle=idle)


def _parts(spec: AblationSpec, name: str) -> Iterator[str]:
    """Parts of the fingerprint that a factor sets."""
    factor = spec.factors[name]
    for key in dict.fromkeys((*words(factor.off), *words(factor.on))):
        if key in RUN_KEYS or key.startswith("text."):
            yield f"ingest.{key}"
        else:
            # The whole table of a dotted setting: an empty one is a value, and no part.
            yield f"system.settings.{key.partition('.')[0]}"
            if key == "embedder":
                yield key


def _within(part: str, key: str) -> bool:
    return key == part or key.startswith(f"{part}.")


def _advised(reason: Reason) -> Reason:
    return msgspec.structs.replace(reason, hint=_HINTS.get(reason.code, reason.hint))


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
