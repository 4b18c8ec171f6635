"""Measures the cells of a study, each into a run folder of its own, and keeps finished ones."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memruler.errors import FormatError, Interrupted, MemrulerError, UsageError
from memruler.model.summary import Summary
from memruler.replay.begin import check_measurable, require_same_run
from memruler.replay.instance import Tick
from memruler.replay.plan import Plan, plan_run
from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.studies.spec_cells import Cell

__all__ = ["run_cell"]

_FINISHED = "report.json"


def run_cell(
    cell: Cell,
    out: Path,
    cutoffs: Collection[int],
    tick: Tick,
    report: Callable[[RunFolder], object],
) -> None:
    """Measure a cell, or go on with it, or keep it where it is finished; score and report it.

    Args:
        cell: What to run.
        out: Where the run folders of the study lie.
        cutoffs: Depths that must be scored; those that are scored already stay.
        tick: Told about progress.
        report: Writes the report of a scored run; with it a run is finished.

    Raises:
        UsageError: A setting is wrong, or the folder holds another run.
        FormatError: The folder is damaged.
        Refusal: No query of the population can be measured.
        Interrupted: A person stopped it; what is finished is kept.
    """
    with _named(cell, out):
        plan = plan_run(cell.plan)
        check_measurable(plan.corpus, plan.settings)
        with RunFolder.claim(out, cell.folder) as folder:
            kept = _kept(plan, folder)
            if not kept:
                measure(plan, folder, tick)
            scored = _scored(folder)
            if kept and scored.issuperset(cutoffs):
                return
            score(folder, tuple(sorted(scored.union(cutoffs))))
            report(folder)


def _kept(plan: Plan, folder: RunFolder) -> bool:
    """Whether the folder holds this very run, finished."""
    found = folder.manifest()
    if found is None or found.state != "sealed" or not folder.has(_FINISHED):
        return False
    require_same_run(plan, folder, found)
    return True


def _scored(folder: RunFolder) -> set[int]:
    """The depths that a sealed run is scored at."""
    if not folder.has("summary.json"):
        return set()
    try:
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(f"summary.json cannot be read: {error}", where=folder.path) from error
    reached = {cutoff.k for part in summary.slices for cutoff in part.cutoffs}
    return reached | {gone.k for gone in summary.omitted if gone.k is not None}


@contextmanager
def _named(cell: Cell, out: Path) -> Iterator[None]:
    """Say which cell an error is of, and what to do about it here."""
    try:
        yield
    except Interrupted as stop:
        raise Interrupted(stop.what, where=out, hint="repeat the same command to go on") from None
    except (UsageError, FormatError) as error:
        raise type(error)(
            f"cell {cell.folder}: {error.what}", where=error.where, hint=_hint(cell, error)
        ) from error


def _hint(cell: Cell, error: MemrulerError) -> str | None:
    if (error.hint or "").startswith("wait for it"):
        return "wait for it, or choose another `out`"  # removing it would ruin what is going on
    if isinstance(error, FormatError) or "--stem" in (error.hint or ""):
        return f"remove the folder {cell.folder} to measure it anew, or choose another `out`"
    return error.hint
