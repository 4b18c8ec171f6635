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

__all__ = ["finish", "kept", "named", "run_cell"]

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
    with named(cell.folder, out):
        plan = plan_run(cell.plan)
        check_measurable(plan.corpus, plan.settings)
        with RunFolder.claim(out, cell.folder) as folder:
            if not kept(plan, folder):
                measure(plan, folder, tick)
            finish(folder, cutoffs, report)


def finish(
    folder: RunFolder, cutoffs: Collection[int], report: Callable[[RunFolder], object]
) -> None:
    """Score and report a sealed run, unless it is finished and scored at all of the depths.

    Args:
        folder: The claimed run folder.
        cutoffs: As in `run_cell`.
        report: As in `run_cell`.
    """
    scored = _scored(folder)
    if folder.has(_FINISHED) and scored.issuperset(cutoffs):
        return
    score(folder, tuple(sorted(scored.union(cutoffs))))
    report(folder)


def kept(plan: Plan, folder: RunFolder) -> bool:
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
def named(folder: str, out: Path, what: str = "cell") -> Iterator[None]:
    """Say which cell an error is of, and what to do about it here.

    Args:
        folder: Name of its run folder.
        out: Where it lies.
        what: What a cell is called.
    """
    try:
        yield
    except Interrupted as stop:
        raise Interrupted(stop.what, where=out, hint="repeat the same command to go on") from None
    except (UsageError, FormatError) as error:
        raise type(error)(
            f"{what} {folder}: {error.what}", where=error.where, hint=_hint(folder, error)
        ) from error


def _hint(folder: str, error: MemrulerError) -> str | None:
    if (error.hint or "").startswith("wait for it"):
        return "wait for it, or choose another `out`"  # removing it would ruin what is going on
    if isinstance(error, FormatError) or "--stem" in (error.hint or ""):
        return f"remove the folder {folder} to measure it anew, or choose another `out`"
    return error.hint
