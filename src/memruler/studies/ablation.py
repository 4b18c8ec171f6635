"""An ablation: every cell measured, held against the others, and attributed."""

from collections.abc import Callable, Iterator, Sequence
from math import copysign
from pathlib import Path

from memruler.errors import Refusal
from memruler.metrics.names import MetricName
from memruler.replay.instance import Tick
from memruler.stats.factorial import Design
from memruler.stats.shapley import shares
from memruler.store.folder import RunFolder
from memruler.studies.ablation_attribute import attribute
from memruler.studies.ablation_cells import AblationCell, cells, design_of
from memruler.studies.ablation_record import Ablation, Attribution, CellResult
from memruler.studies.ablation_scores import CellScores, read_cells
from memruler.studies.ablation_spec import AblationSpec
from memruler.studies.cell_notes import cell_notes
from memruler.studies.cell_run import run_cell

__all__ = ["ablate"]


def ablate(
    spec: AblationSpec,
    folder: Path,
    out: Path,
    *,
    report: Callable[[RunFolder], object],
    tick: Tick,
) -> Ablation:
    """Measure every cell that is not finished yet, and attribute each mean to the factors.

    Args:
        spec: A checked one.
        folder: Where its file lies.
        out: Where the run folders of the cells lie or are made.
        report: Writes the report of one scored run.
        tick: Told about progress; `cell NAME` when a cell begins, with how many are done.

    Raises:
        Refusal: Cells do not compare, or a mean would not mean what it looks like.
        UsageError: A setting is wrong, or a folder holds another run.
        FormatError: A folder is damaged.
        Interrupted: A person stopped it; repeated, it goes on.
    """
    design = design_of(tuple(spec.factors), spec.generators)
    planned = tuple(cells(spec, design, folder))
    depths = {MetricName.parse(outcome.metric).k for outcome in spec.metrics}
    for at, cell in enumerate(planned):
        tick(f"cell {cell.folder}", at, len(planned))
        run_cell(cell, out, depths, tick, report)
    scores = read_cells(spec, out, [(cell.on, cell.folder) for cell in planned])
    attributions = _attributions(spec, design, scores)
    first = scores[0]
    return Ablation(
        spec=spec,
        cells=tuple(map(_cell, planned, scores)),
        resolution=design.resolution,
        words=tuple(map(str, design.words)),
        no_shares=_no_shares(design),
        corpus=first.manifest.fingerprint["corpus"],
        population=first.summary.population,
        clusters=first.summary.clusters,
        attributions=attributions,
        notes=tuple(_notes(planned, scores, attributions)),
        corpus_notes=first.manifest.corpus_notes,
        degraded=first.manifest.degraded,
    )


def _attributions(
    spec: AblationSpec, design: Design, scores: Sequence[CellScores]
) -> tuple[Attribution, ...]:
    """Every mean attributed; all that must be refused is told at once."""
    found: list[Attribution] = []
    reasons: list[str] = []
    hints: list[str] = []
    for at, outcome in enumerate(spec.metrics):
        try:
            one = attribute(
                outcome,
                design,
                [cell.values[at] for cell in scores],
                scores[0].measured.get(outcome.level, ()),
                shared=spec.members == "shared",
            )
        except Refusal as refusal:
            reasons.extend(refusal.reasons)
            hints.append(refusal.hint or "")
        else:
            found.append(one)
    if not reasons and _turned(found[0]):
        reasons.append(_disagreement(found[0]))
        hints.append("let another metric or cut-off stand first, for which both say the same")
    if reasons:
        raise Refusal(reasons, hint="; ".join(dict.fromkeys(hints)))
    return tuple(found)


def _turned(one: Attribution) -> bool:
    """Whether the total has another sign once a missing list counts as a miss; zero is a sign."""
    return (
        one.total is not None
        and one.floor is not None
        and _way(one.total.delta) != _way(one.floor.delta)
    )


def _way(delta: float) -> float:
    return copysign(1, delta) if delta else 0


def _disagreement(one: Attribution) -> str:
    total, floor = one.total, one.floor
    shown = f"{0 if total is None else total.delta:+.3g}"
    low = f"{0 if floor is None else floor.delta:+.3g}"
    return (
        f"{one.level} {one.metric}@{one.k} changes by {shown} over the {one.counted} queries that "
        f"count in every cell, but by {low} over all {one.of} with a missing list counted as a miss"
    )


def _cell(cell: AblationCell, found: CellScores) -> CellResult:
    return CellResult(
        on=cell.on,
        folder=cell.folder,
        embedded=found.embedded,
        from_cache=found.from_cache,
        stored=found.summary.store.stored,
        lost=found.summary.store.lost,
    )


def _no_shares(design: Design) -> str | None:
    try:
        shares(design, [0] * len(design.cells))
    except Refusal as refusal:
        return refusal.reasons[0]
    return None


def _notes(
    planned: Sequence[AblationCell],
    scores: Sequence[CellScores],
    attributions: Sequence[Attribution],
) -> Iterator[str]:
    for one in attributions:
        name = f"{one.level} {one.metric}@{one.k}"
        if one.counted < max(one.cell_counted):
            yield (
                f"{name} is over the {one.counted} queries that count in every cell, of "
                f"{min(one.cell_counted)} to {max(one.cell_counted)} in a cell and {one.of} "
                "measured; a cell that returns short lists on hard questions can gain from this"
            )
        if one is not attributions[0] and _turned(one):
            yield f"not to be trusted: {_disagreement(one)}"
        turned = [
            factor.name
            for factor in one.factors
            if factor.floor is not None
            and _way(factor.floor) != _way(factor.main if factor.share is None else factor.share)
        ]
        if turned:
            yield (
                f"{name}: with a missing list counted as a miss, these factors turn their sign: "
                + ", ".join(turned)
            )
    yield from cell_notes(
        {cell.folder: one.manifest for cell, one in zip(planned, scores, strict=True)}
    )
