"""Shows a judge probes of known truth, and says how far its verdicts can be trusted."""

from collections import Counter
from collections.abc import Iterator, Sequence

from memruler.compare.judge_calibration import JudgeCalibration, ProbeRow
from memruler.errors import InstrumentError, UsageError
from memruler.judges.many import run_many
from memruler.model.answers import Graded
from memruler.replay.provenance import tool
from memruler.scoring.grade_rows import JudgeAsker, Tick, grade_item
from memruler.scoring.graders.base import Grader
from memruler.stats.calibration import Calibration, calibrate
from memruler.stats.proportion import wilson
from memruler.studies.judge_items import ProbeSource
from memruler.studies.judge_probes import KINDS, Probe

__all__ = ["calibrate_judge"]

_ACCEPTED = 0.5
"""A value from here on accepts; a judge of rubrics gives shares, the others 0 and 1."""

_WORTH = 0.1
"""A J above it would be of some use: few probes that leave it open do not condemn a judge."""
_INJECTED = "injected"


def calibrate_judge(
    probes: Sequence[Probe],
    source: ProbeSource,
    grader: Grader,
    judge: JudgeAsker,
    *,
    at_a_time: int = 4,
    tick: Tick = lambda *_: None,
) -> JudgeCalibration:
    """Put every probe to a judge and count what it accepts.

    `rates` are over all kinds of probes but the injected ones, since the answers of a reader hold
    no orders to the judge unless somebody put them there; how it takes those is told apart.

    Args:
        probes: At least one.
        source: Where they come from.
        grader: Whose questions the judge is asked; it must be a judged one.
        judge: Whom it asks.
        at_a_time: Probes under way.
        tick: Told how many of how many are done.

    Raises:
        UsageError: The grader asks no judge.
        InstrumentError: The judge cannot be asked, or gave no verdict on any probe.
    """
    if not grader.judged:
        raise UsageError(
            f"{grader.name} asks no judge, so there is nothing to calibrate",
            hint="name a judged grader, such as --grader answer:memruler",
        )

    def one(probe: Probe) -> Graded:
        return grade_item(grader, probe.item, judge.repeat(0))

    said = dict(run_many(one, probes, at_a_time=at_a_time, tick=tick))
    graded = [(probe, said[at]) for at, probe in enumerate(probes)]
    if all(found.value is None for _, found in graded):
        reason = Counter(found.reason for _, found in graded).most_common(1)[0][0]
        raise InstrumentError(
            f"the judge gave no verdict on any of {len(probes)} probes: {reason}",
            where=judge.identity(grader.name, grader.sha256()).host,
            hint="look at what it replies; a model that thinks aloud needs more --judge-max-tokens",
        )
    rows = tuple(_rows(graded))
    natural = [row for row in rows if row.style is None and row.kind != _INJECTED]
    rates, why = _rates(natural)
    injected = next((row for row in rows if row.kind == _INJECTED and row.style is None), None)
    obeys = (injected.accepted, injected.judged) if injected and injected.judged else None
    sha256 = grader.sha256()
    total = judge.usage_total()
    return JudgeCalibration(
        grader=grader.name,
        grader_sha256=sha256,
        metric=grader.metric,
        judge=judge.identity(grader.name, sha256),
        corpus=source.corpus,
        source=source.source,
        seed=source.seed,
        items=len({(probe.item.instance, probe.item.query) for probe in probes}),
        rows=rows,
        rates=rates,
        no_rates=why,
        with_injected=_rates([row for row in rows if row.style is None])[0],
        blind=rates is not None and rates.j <= 0,
        obeys=obeys,
        left_out=source.left_out,
        verdict=tuple(_verdict(rows, rates, why, obeys, source)),
        usage_total=total,
        tool=tool(),
    )


def _rows(graded: Sequence[tuple[Probe, Graded]]) -> Iterator[ProbeRow]:
    for kind in KINDS:
        own = [(probe, found) for probe, found in graded if probe.kind == kind]
        if not own:
            continue
        yield from (_row(kind, None, part, truth) for truth, part in _by_truth(own))
        for style in sorted({probe.style for probe, _ in own if probe.style is not None}):
            part = [(probe, found) for probe, found in own if probe.style == style]
            yield from (_row(kind, style, some, truth) for truth, some in _by_truth(part))


def _by_truth(
    graded: list[tuple[Probe, Graded]],
) -> Iterator[tuple[bool, list[tuple[Probe, Graded]]]]:
    """A person may have changed the truth of single probes."""
    for truth in (True, False):
        own = [(probe, found) for probe, found in graded if probe.truth == truth]
        if own:
            yield truth, own


def _row(
    kind: str, style: str | None, graded: Sequence[tuple[Probe, Graded]], truth: bool
) -> ProbeRow:
    values = [found.value for _, found in graded if found.value is not None]
    accepted = sum(value >= _ACCEPTED for value in values)
    low, high = wilson(accepted, len(values)) if values else (None, None)
    reasons = Counter(found.reason for _, found in graded if found.reason is not None)
    return ProbeRow(
        kind=kind,
        style=style,
        truth=truth,
        probes=len(graded),
        judged=len(values),
        accepted=accepted,
        rate=accepted / len(values) if values else None,
        low=low,
        high=high,
        unjudged=dict(sorted(reasons.items())),
    )


def _rates(rows: Sequence[ProbeRow]) -> tuple[Calibration | None, str | None]:
    right = [row for row in rows if row.truth]
    wrong = [row for row in rows if not row.truth]
    shown, foils = sum(r.judged for r in right), sum(r.judged for r in wrong)
    if not shown or not foils:
        return None, f"{shown} right and {foils} wrong answers were judged, and both are needed"
    return (
        calibrate(sum(r.accepted for r in right), shown, sum(r.accepted for r in wrong), foils),
        None,
    )


def _verdict(
    rows: Sequence[ProbeRow],
    rates: Calibration | None,
    why: str | None,
    obeys: tuple[int, int] | None,
    source: ProbeSource,
) -> Iterator[str]:
    if rates is None:
        yield f"There are no rates: {why}."
    else:
        yield _trust(rates)
    if obeys is not None:
        yield _injections(*obeys, rows)
    unjudged = sum(row.probes - row.judged for row in rows if row.style is None)
    if unjudged:
        yield f"{unjudged} probes have no verdict and count in no rate."
    for warning in (*(rates.warnings if rates else ()), *source.notes):
        yield f"{warning[0].upper()}{warning[1:]}."


def _trust(rates: Calibration) -> str:
    accepted = (
        f"it accepts {rates.true_positives} of {rates.positives} right answers and "
        f"{rates.false_positives} of {rates.negatives} wrong ones"
    )
    if rates.j <= 0:
        better = f"With so few probes J may be as high as {rates.j_high:.2f}: show it more. "
        return (
            f"J is {rates.j:.2f}: the judge carries no information, since {accepted}. "
            f"{better if rates.j_high > _WORTH else ''}Do not use its verdicts."
        )
    return (
        f"J is {rates.j:.2f} (95 % {rates.j_low:.2f} to {rates.j_high:.2f}): {accepted}. A true "
        f"difference of 10 points shows as {10 * rates.j:.1f}."
    )


def _injections(accepted: int, judged: int, rows: Sequence[ProbeRow]) -> str:
    if accepted == 0:
        high = wilson(0, judged)[1]
        return (
            f"It obeyed none of {judged} wrong answers that told it what to say; up to "
            f"{100 * high:.0f} % are not ruled out."
        )
    styles = [row.style for row in rows if row.kind == _INJECTED and row.style and row.accepted]
    plain = {row.kind: row for row in rows if row.style is None and not row.truth}
    swapped = plain.get("swapped")
    told = f"accepted {accepted} of {judged} wrong answers that told it to ({', '.join(styles)})"
    if swapped is None or not swapped.judged:
        return f"It {told}; what it accepts without an order is not known."
    beside = f"Without an order it accepts {swapped.accepted} of {swapped.judged} such answers."
    # A judge that accepts as many without an order is not steered: it is only lenient.
    if calibrate(accepted, judged, swapped.accepted, swapped.judged).j_low > 0:
        return f"An answer can steer it: it {told}. {beside}"
    return f"That an answer can steer it is not shown: it {told}. {beside}"
