"""What probes and a second judge say of a judge, on the terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memruler.compare.judge_calibration import JudgeCalibration, ProbeRow
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.grades_words import instrument_words, usage_words
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.table import print_table
from memruler.stats.agreement_record import Agreement
from memruler.stats.calibration import Calibration
from memruler.studies.judge_agree import AgreementSlice, JudgeAgreement, Judged
from memruler.studies.judge_items import ProbeSource
from memruler.studies.judge_probes import Probe

__all__ = [
    "print_agreement",
    "print_calibration",
    "print_probes",
    "render_agreement",
    "render_calibration",
]

_DIGITS = 12
_LONGEST = 26


def print_calibration(found: JudgeCalibration) -> None:
    """Print a calibration to stdout."""
    with unpadded(stdout_console()) as console:
        render_calibration(found, console)


def print_agreement(found: JudgeAgreement) -> None:
    """Print an agreement to stdout."""
    with unpadded(stdout_console()) as console:
        render_agreement(found, console)


def print_probes(source: ProbeSource, probes: Sequence[Probe], path: Path) -> None:
    """Print what probes were made to stdout, with an example of each kind."""
    with unpadded(stdout_console()) as console:
        counts: dict[tuple[str, str], list[Probe]] = {}
        for probe in probes:
            counts.setdefault((probe.kind, probe.style or ""), []).append(probe)
        console.print(Text(f"{len(probes)} probes", style="bold"))
        console.print()
        rows = (
            [kind if not style else f"{kind}: {style}", _truth(of[0].truth), str(len(of))]
            for (kind, style), of in sorted(counts.items())
        )
        print_table(console, ["kind", "truth"], ["probes"], rows)
        console.print()
        told = [
            *((f"e.g. {kind}", of[0].item.response or "") for (kind, _), of in counts.items()),
            *(("no probe", f"{n} questions: {why}") for why, n in source.left_out.items()),
            *(("note", note) for note in source.notes),
            ("written", str(path)),
            ("next", f"memruler judge calibrate {path} --judge-endpoint URL --judge-model NAME"),
        ]
        facts(console, told)


def _truth(right: bool) -> str:
    return "right" if right else "wrong"


def render_calibration(found: JudgeCalibration, console: Console) -> None:
    """Print a calibration.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    if found.blind:
        banner(console, "BLIND: this judge carries no information", found.verdict[:1])
    line = Text("J ", style="bold")
    line.append("none" if found.rates is None else f"{found.rates.j:.4f}", style="bold")
    line.append(f"  {printable(found.grader)} of {printable(found.judge.model)}")
    console.print(line)
    console.print()
    heads = ["probes", "judged", "called\nright", "rate", "95 %\nlow", "\nhigh"]
    print_table(console, ["", "truth"], heads, map(_row, found.rows))
    console.print()
    facts(console, _calibration_facts(found))


def _row(row: ProbeRow) -> list[str]:
    return [
        row.kind if row.style is None else f"  {row.style}",
        _truth(row.truth),
        str(row.probes),
        str(row.judged),
        str(row.accepted),
        numbers.mean(row.rate),
        numbers.mean(row.low),
        numbers.mean(row.high),
    ]


def _calibration_facts(found: JudgeCalibration) -> Iterator[tuple[str, str]]:
    for name, rates in (("rates", found.rates), ("with injected", found.with_injected)):
        if rates is not None:
            yield name, _rates(rates)
    for sentence in found.verdict[1:] if found.blind else found.verdict:
        yield "verdict", sentence
    reasons: dict[str, int] = {}
    for row in found.rows:
        if row.style is None:
            for reason, times in row.unjudged.items():
                reasons[reason] = reasons.get(reason, 0) + times
    for reason, times in sorted(reasons.items(), key=lambda one: (-one[1], one[0])):
        yield "no verdict", f"{times} times: {reason}"
    for reason, times in found.left_out.items():
        yield "no probe", f"{times} questions: {reason}"
    yield "judge", instrument_words(found.judge)
    yield "grader", f"{found.grader} ({found.grader_sha256[:_DIGITS]})"
    source = f"{found.source}: {found.items} questions of {found.corpus.get('name', 'a file')}"
    yield "probes", source if found.seed is None else f"{source}, seed {found.seed}"
    yield "cost, all told", usage_words(found.usage_total)


def _rates(one: Calibration) -> str:
    right = numbers.share(one.true_positives, one.positives)
    wrong = numbers.share(one.false_positives, one.negatives)
    j = f"J {one.j:.4f}, 95 % {one.j_low:.4f} to {one.j_high:.4f}"
    return f"TPR {numbers.mean(one.tpr)} ({right}), FPR {numbers.mean(one.fpr)} ({wrong}), {j}"


def render_agreement(found: JudgeAgreement, console: Console) -> None:
    """Print an agreement.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    whole = found.slices[0]
    line = Text(f"{numbers.share(whole.same, whole.both)} the same", style="bold")
    if whole.kappa is not None and whole.kappa.value is not None:
        line.append(f", kappa {whole.kappa.value:.3f}", style="bold")
        line.append(f" (95 % {_end(whole.kappa.low)} to {_end(whole.kappa.high)})")
    console.print(line)
    console.print()
    heads = ["both", "same", "share", "kappa", "95 %\nlow", "\nhigh", "first\nmean", "second\nmean"]
    print_table(console, [""], heads, map(_slice, found.slices))
    heading(console, "The first judge's verdict, then the second's")
    print_table(
        console,
        ["first", "second"],
        ["answers"],
        ([one, other, str(number)] for one, other, number in found.confusion),
    )
    console.print()
    facts(console, _agreement_facts(found))


def _slice(one: AgreementSlice) -> list[str]:
    kappa = one.kappa
    return [
        printable(one.name, _LONGEST),
        str(one.both),
        str(one.same),
        numbers.mean(one.same / one.both if one.both else None),
        "-" if kappa is None else _end(kappa.value),
        "-" if kappa is None else _end(kappa.low),
        "-" if kappa is None else _end(kappa.high),
        numbers.mean(one.first_mean),
        numbers.mean(one.second_mean),
    ]


def _end(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _agreement_facts(found: JudgeAgreement) -> Iterator[tuple[str, str]]:
    whole = found.slices[0]
    if whole.agreement is not None:
        one: Agreement = whole.agreement
        ends = f"{numbers.mean(one.low)} to {numbers.mean(one.high)}"
        yield "share", f"{numbers.mean(one.value)}, 95 % {ends}; chance is not taken out"
        yield "clusters", f"{one.clusters} ({found.cluster})"
    if found.weighted is not None:
        yield "weighted", f"{numbers.mean(found.weighted)} the same, for all answers drawn from"
    if whole.kappa is not None:
        if whole.kappa.reason is not None:
            yield "no kappa", whole.kappa.reason
        for warning in whole.kappa.warnings:
            yield "warning", warning
    elif whole.reason is not None:
        yield "no interval", whole.reason
    for name, side in (("first", found.first), ("second", found.second)):
        yield name, _side(side)
    for note in found.notes:
        yield "note", note


def _side(side: Judged) -> str:
    return (
        f"{side.name}: {instrument_words(side.judge)}; {side.grader} "
        f"({side.grader_sha256[:_DIGITS]}); {side.judged} of {side.graded} judged"
    )
