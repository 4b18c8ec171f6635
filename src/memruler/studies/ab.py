"""An A/B run: two configurations on one set of questions, asked in turns, and what differs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from memruler.compare.headline import HEADLINE
from memruler.compare.load import LoadedRun, load
from memruler.compare.record import Comparison
from memruler.metrics.names import MetricName
from memruler.model.summary import Cutoff
from memruler.replay.instance import Tick
from memruler.replay.plan import PlanSpec
from memruler.scoring.timing import timing
from memruler.store.folder import RunFolder
from memruler.studies.ab_latency import paired_latency
from memruler.studies.ab_notes import ab_notes
from memruler.studies.ab_record import Ab, AbMean, AbRun, AbTurns
from memruler.studies.ab_run import run_both
from memruler.studies.ab_spec import SIDES, AbSide, AbSpec, Side, study_of
from memruler.studies.ab_turns import RULE
from memruler.studies.ab_verdict import decide
from memruler.studies.spec_cells import plan_of, set_words

__all__ = ["ab", "plans_of"]


def plans_of(spec: AbSpec, folder: Path) -> dict[Side, PlanSpec]:
    """What is run for each side, every search by itself.

    Args:
        spec: A checked one.
        folder: Where its file lies; paths in it are relative to that.
    """
    found: dict[Side, PlanSpec] = {}
    for side in SIDES:
        study = study_of(spec, side)
        plan = plan_of(study, set_words(study.settings), folder)
        found[side] = msgspec.structs.replace(
            plan,
            settings={**plan.settings, "one_by_one": True},
            typed=(*plan.typed, "one_by_one"),
        )
    return found


def ab(
    spec: AbSpec,
    folder: Path,
    out: Path,
    *,
    report: Callable[[RunFolder], object],
    tick: Tick,
) -> Ab:
    """Measure both sides where they are not finished yet, and hold them against each other.

    Args:
        spec: A checked one.
        folder: Where its file lies.
        out: Where the run folders `a` and `b` lie or are made.
        report: Writes the report of one scored run.
        tick: Told about progress.

    Raises:
        UsageError: A setting is wrong, or a folder holds another run.
        FormatError: A folder is damaged.
        Refusal: No query of the population can be measured.
        SystemUnderTestError: A memory failed; the other side is finished all the same.
        Interrupted: A person stopped it; repeated, it goes on.
    """
    together = run_both(plans_of(spec, folder), out, spec.cutoffs, tick, report)
    tick("comparing", 0, 0)
    places = (out / SIDES[0], out / SIDES[1])
    a, b = (load(place, place.name) for place in places)
    left, right = (RunFolder.open(place) for place in places)
    decided = decide(spec, a, b, places)
    latency = paired_latency(left, right, together, seed=spec.seed)
    sides = (_run("a", spec.a, a, left), _run("b", spec.b, b, right))
    instances = a.manifest.counts["instances"]
    return Ab(
        verdict=decided.verdict,
        spec=spec,
        comparison=decided.comparison,
        gate=decided.gate,
        refused=decided.refused,
        a=sides[0],
        b=sides[1],
        means=tuple(_means(spec, a, b, decided.comparison)),
        latency=latency,
        turns=AbTurns(instances=len(together), of=instances, rule=RULE),
        corpus=a.manifest.fingerprint["corpus"],
        population=a.summary.population,
        clusters=a.summary.clusters,
        notes=tuple(ab_notes(a.manifest, b.manifest, (left, right))),
        corpus_notes=a.manifest.corpus_notes,
        degraded=tuple(dict.fromkeys((*a.manifest.degraded, *b.manifest.degraded))),
    )


def _run(side: Side, asked: AbSide, run: LoadedRun, folder: RunFolder) -> AbRun:
    manifest = run.manifest
    return AbRun(
        side=side,
        name=asked.name or asked.system,
        system=asked.system,
        version=manifest.fingerprint["system"]["version"],
        chosen=set_words(asked.settings),
        timing=timing(folder),
        context=run.summary.context,
        errors=run.summary.errors,
        determinism=manifest.determinism,
        warnings=manifest.warnings,
        degraded=manifest.degraded,
    )


def _means(
    spec: AbSpec, a: LoadedRun, b: LoadedRun, comparison: Comparison | None
) -> Iterator[AbMean]:
    """The deciding metric at every level and depth that a side has."""
    one, other = a.cutoffs(), b.cutoffs()
    cells = sorted(one.keys() | other.keys())
    metric = HEADLINE if spec.metric is None else MetricName.parse(spec.metric).metric
    deltas = {
        (row.level, row.k): row
        for row in (comparison.deltas if comparison else ())
        if row.metric == metric and row.slice == "all"
    }
    for cell in cells:
        left, right, row = one.get(cell), other.get(cell), deltas.get(cell)
        there = left or right
        if there is None:
            continue
        yield AbMean(
            level=cell[0],
            k=cell[1],
            metric=metric,
            a=row.base if row else _value(left, metric),
            b=row.candidate if row else _value(right, metric),
            delta=row.delta if row else None,
            counted=row.counted if row else None,
            comparable=(left and left.members) == (right and right.members),
            a_counted=left.counted if left else None,
            b_counted=right.counted if right else None,
            of=there.of,
            a_padded=left.padded.get(metric) if left else None,
            b_padded=right.padded.get(metric) if right else None,
        )


def _value(cutoff: Cutoff | None, metric: str) -> float | None:
    return None if cutoff is None else cutoff.values.get(metric)
