"""A sweep: every cell measured, held against the others, and scored under every target."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from memruler.compare.load import load
from memruler.compare.sensitivity import sensitivity
from memruler.compare.sensitivity_record import Sensitivity
from memruler.errors import Refusal
from memruler.model.run import Manifest
from memruler.model.summary import Level, Summary
from memruler.replay.instance import Tick
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.graded import OwnTarget
from memruler.scoring.open_target import open_each
from memruler.scoring.traced import Scored, score_traced
from memruler.store.folder import RunFolder
from memruler.store.tables import batches
from memruler.studies.cell_compare import require_comparable
from memruler.studies.cell_notes import cell_notes
from memruler.studies.cell_run import run_cell
from memruler.studies.sweep_cells import SweepCell, cells
from memruler.studies.sweep_record import Sweep, SweptCell
from memruler.studies.sweep_spec import SweepSpec
from memruler.targets.forms import Admits

__all__ = ["sweep"]

_IDLE = "two cells come to the same settings: leave one of the values out"

_UNSERVED = "leave out the target that serves no query in some cell, or that cell"


class _Measured(NamedTuple):
    manifest: Manifest
    summary: Summary


def sweep(
    spec: SweepSpec,
    folder: Path,
    out: Path,
    *,
    report: Callable[[RunFolder], object],
    tick: Tick,
) -> Sweep:
    """Measure every cell that is not finished yet, and say which one wins under each target.

    Args:
        spec: A checked one.
        folder: Where its file lies.
        out: Where the run folders of the cells lie or are made.
        report: Writes the report of one scored run.
        tick: Told about progress; `cell NAME` when a cell begins, with how many are done.

    Raises:
        Refusal: Cells do not compare, or no query is served by every target in every cell.
        UsageError: A setting or a target is wrong, or a folder holds another run.
        FormatError: A folder is damaged.
        Interrupted: A person stopped it; repeated, it goes on.
    """
    # First: a wrong target must not show after an hour of measuring.
    targets = open_each(_found_beside(name, folder) for name in spec.targets)
    planned = tuple(cells(spec, folder))
    for at, cell in enumerate(planned):
        tick(f"cell {cell.folder}", at, len(planned))
        run_cell(cell, out, spec.cutoffs, tick, report)
    tick("scoring under every target", 0, 0)
    runs = _comparable(spec, planned, out)
    scored = [_scored(spec, out / cell.folder, targets) for cell in planned]
    first = runs[planned[0].folder]
    return Sweep(
        spec=spec,
        cells=tuple(_cell(cell, runs[cell.folder].summary, out) for cell in planned),
        corpus=first.manifest.fingerprint["corpus"],
        population=first.summary.population,
        clusters=first.summary.clusters,
        sensitivity=_sensitivity(scored, spec.metric),
        notes=tuple(cell_notes({name: run.manifest for name, run in runs.items()})),
        corpus_notes=first.manifest.corpus_notes,
        degraded=first.manifest.degraded,
    )


def _found_beside(target: str, folder: Path) -> str:
    """A target's file is relative to the spec."""
    return str(folder / target) if ".py:" in target else target


def _comparable(spec: SweepSpec, planned: Sequence[SweepCell], out: Path) -> dict[str, _Measured]:
    """What every cell was, once each is held against the first one; read one at a time."""
    level: Level = "session" if spec.level == "session" else "turn"
    base = planned[0]
    first = load(out / base.folder, base.folder)
    found = {base.folder: _Measured(first.manifest, first.summary)}
    for cell in planned[1:]:
        run = load(out / cell.folder, cell.folder)
        under_test = {k: (k,) for k, value in cell.values.items() if value != base.values[k]}
        require_comparable(first, run, under_test, (level,), _IDLE)
        found[cell.folder] = _Measured(run.manifest, run.summary)
    return found


def _scored(spec: SweepSpec, path: Path, targets: Sequence[Admits | OwnTarget]) -> Scored:
    return score_traced(traced_from_run(path, targets, spec.level), spec.cutoffs, spec.credit)


def _sensitivity(scored: Sequence[Scored], metric: str | None) -> Sensitivity:
    try:
        return sensitivity(scored, metric)
    except Refusal as refusal:
        # Its hint is about options of another verb; where it happened is the count of each cell.
        where = () if refusal.where is None else (str(refusal.where),)
        raise Refusal([*refusal.reasons, *where], hint=_UNSERVED) from None


def _cell(cell: SweepCell, summary: Summary, out: Path) -> SweptCell:
    return SweptCell(
        folder=cell.folder,
        values=cell.values,
        stored=summary.store.stored,
        kinds=_kinds(out / cell.folder),
        lost=summary.store.lost,
    )


def _kinds(path: Path) -> dict[str, int]:
    found: Counter[str] = Counter()
    for batch in batches(RunFolder.open(path), "lineage", columns=["kind", "status"]):
        stored = pc.equal(batch.column("status"), pa.scalar("stored"))
        kinds: Any = pc.value_counts(pc.filter(batch.column("kind"), stored))
        found.update({str(one["values"]): one["counts"] for one in kinds.to_pylist()})
    return dict(sorted(found.items()))
