"""Measures several memories on one corpus, each into a run folder of its own."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from memruler.compare.load import LoadedRun, load
from memruler.corpora.registry import open_corpus
from memruler.embedding.cache_folder import fresh_vectors
from memruler.errors import InstrumentError, SystemUnderTestError, UsageError
from memruler.model.summary import Level
from memruler.replay.instance import Tick
from memruler.replay.plan import PlanSpec, plan_run
from memruler.scoring.timing import timing
from memruler.store.folder import RunFolder
from memruler.studies.cell_run import run_cell
from memruler.studies.lineup_record import Lineup, Row
from memruler.studies.spec_cells import Cell

__all__ = ["METRIC", "USUAL", "folder_of", "lineup", "settings_of"]

USUAL = (
    "baseline:random",
    "baseline:recency",
    "builtin:lexical",
    "builtin:dense",
    "builtin:hybrid",
    "recipe:reference-hook",
    "recipe:reference-http",
    "chroma",
    "langgraph",
    "llamaindex",
    "mem0",
    "recipe:server-memory",
    "recipe:server-memory-words",
)
"""What a reader expects to see: chance, the built-in memory, its server, and real memories."""

METRIC = "recall_all"
"""What the means are of."""

_DEPTHS = (1, 3, 5, 10, 20)
"""Scored too, as `memruler retrieval` does, so that the runs' own reports are whole."""


def lineup(
    plan: PlanSpec,
    systems: Sequence[str],
    settings: Mapping[str, tuple[str, ...]],
    out: Path,
    *,
    k: int,
    level: Level,
    report: Callable[[RunFolder], object],
    tick: Tick,
) -> Lineup:
    """Measure every memory that is not measured yet, and put them side by side.

    A memory that cannot be measured here (a program that is missing, a server that does not
    start) gets a row with the reason, and the others go on. So does one of the usual memories
    whose package is missing; a memory that a person named must be there.

    Args:
        plan: Of the run of each, with `limit` among its settings; its own `system` and
            `assignments` are overlooked.
        systems: As `--system` takes them, none twice; empty for `USUAL`.
        settings: System to its settings, `KEY=VALUE` each.
        out: Where the run folders lie or are made.
        k: Depth of the metric.
        level: Of its ranks.
        report: Writes the report of one scored run.
        tick: Told about progress; `cell NAME` when a memory begins, with how many are done.

    Raises:
        UsageError: A name or a setting is wrong, or a run folder holds another run.
        FormatError: A run folder is damaged.
        Refusal: No query of the population can be measured.
        Interrupted: A person stopped it; repeated, it goes on.
    """
    names = tuple(systems) or USUAL
    _require_distinct(names)
    open_corpus(plan.corpus, None if plan.path is None else Path(plan.path))
    cells = [_cell(plan, name, settings.get(name, ())) for name in names]
    absent = {cell.folder: why for cell in cells if (why := _absent(cell, usual=not systems))}
    depths = {k, *(depth for depth in _DEPTHS if depth <= plan.settings["limit"])}
    rows, runs = [], []
    for at, cell in enumerate(cells):
        tick(f"cell {cell.folder}", at, len(cells))
        if cell.folder not in absent:
            try:
                with fresh_vectors():  # else only the first memory would pay for embedding
                    run_cell(cell, out, depths, tick, report)
            except (InstrumentError, SystemUnderTestError) as error:
                absent[cell.folder] = str(error)
        if cell.folder in absent:
            row = Row(system=cell.plan.system, folder=cell.folder, absent=absent[cell.folder])
        else:
            run = load(out / cell.folder, cell.folder)
            runs.append(run)
            row = _row(cell, RunFolder.open(out / cell.folder), run, k, level)
        rows.append(row)
    tick("cell done", len(cells), len(cells))
    return Lineup(
        corpus=plan.corpus,
        metric=f"{METRIC}@{k}",
        level=level,
        clusters=runs[0].summary.clusters if runs else None,
        population=runs[0].summary.population if runs else None,
        rows=tuple(rows),
        notes=runs[0].manifest.corpus_notes if runs else (),
    )


def folder_of(system: str) -> str:
    """Name of a memory's run folder: its own, without what a folder's name should not hold."""
    safe = "".join(c if c.isascii() and c.isalnum() else "-" for c in system)
    return safe.strip("-")[-60:].strip("-") or "memory"


def settings_of(words: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Sort `SYSTEM:KEY=VALUE` words by the memory that they are for.

    Args:
        words: As a person typed them.
        systems: The memories of the line-up; empty for `USUAL`.

    Raises:
        UsageError: A word names none of them.
    """
    found: dict[str, tuple[str, ...]] = {}
    names = tuple(systems) or USUAL
    for word in words:
        # The longest name: one may be the beginning of another.
        owner = max((n for n in names if word.startswith(f"{n}:")), key=len, default=None)
        if owner is None:
            raise UsageError(
                "a setting names no memory of the line-up",
                where=word,
                hint="write SYSTEM:KEY=VALUE, with SYSTEM as it stands in the line-up",
            )
        found[owner] = (*found.get(owner, ()), word.removeprefix(f"{owner}:"))
    return found


def _require_distinct(names: Sequence[str]) -> None:
    folders = [folder_of(name) for name in names]
    for at, folder in enumerate(folders):
        if folder in folders[:at]:
            raise UsageError(
                f"two memories would share the run folder {folder}",
                where=names[at],
                hint="name each memory once; several settings of one memory are a sweep",
            )


def _cell(plan: PlanSpec, name: str, assignments: tuple[str, ...]) -> Cell:
    own = msgspec.structs.replace(plan, system=name, assignments=assignments)
    return Cell(folder=folder_of(name), plan=own)


def _absent(cell: Cell, *, usual: bool) -> str | None:
    """Why a memory cannot be opened; None where it can.

    Raises:
        UsageError: It cannot, and a person named it.
    """
    try:
        plan_run(cell.plan)
    except UsageError as error:
        if not usual:
            raise
        return str(error)
    except (InstrumentError, SystemUnderTestError) as error:
        return str(error)
    return None


def _row(cell: Cell, folder: RunFolder, run: LoadedRun, k: int, level: Level) -> Row:
    cutoff = run.cutoffs().get((level, k))
    probe = run.manifest.determinism
    return Row(
        system=cell.plan.system,
        folder=cell.folder,
        version=run.manifest.fingerprint["system"]["version"],
        padded=cutoff.padded[METRIC] if cutoff else None,
        missing=None if cutoff else _missing(run, k, level),
        value=cutoff.values.get(METRIC) if cutoff else None,
        counted=cutoff.counted if cutoff else None,
        of=cutoff.of if cutoff else None,
        timing=timing(folder),
        context=run.summary.context,
        failed=sum(run.summary.errors.values()),
        unattributed=run.summary.hits.unattributed.get(level, 0),
        identical=probe.identical if probe else None,
        repeated=probe.queries if probe else None,
        degraded=run.manifest.degraded,
    )


def _missing(run: LoadedRun, k: int, level: Level) -> str:
    """Why the level or the depth has no mean."""
    reasons = (o.reason for o in run.summary.omitted if o.level == level and o.k in {None, k})
    return next(reasons, "no measured query has gold at this level")
