"""Abstention on the terminal: what scores would have refused, and what a reader did."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.model.abstention import (
    Abstention,
    Counts,
    HeldOut,
    ReaderAbstention,
    RetrievalAbstention,
    SweepPoint,
)
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.numbers import counts, mean, share
from memruler.report.table import print_table

__all__ = ["print_abstention", "render_abstention"]

_SIGNALS = {
    "top1": "score of the first hit",
    "margin": "score of the first hit less that of the second",
    "mean": "mean score of all hits within k",
}


def print_abstention(found: Abstention) -> None:
    """Print abstention to stdout."""
    with unpadded(stdout_console()) as console:
        render_abstention(found, console)


def render_abstention(found: Abstention, console: Console) -> None:
    """Print abstention.

    Args:
        found: The measurement.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    console.print(
        Text(
            f"Abstention: {found.unanswerable} queries without an answer, "
            f"{found.answerable} with one",
            style="bold",
        )
    )
    facts(console, [("run", found.run), *(("note", note) for note in found.notes)])
    heading(console, "Retrieval: refuse below a score")
    if found.retrieval is None:
        facts(console, [("not measured", str(found.no_retrieval))])
    else:
        _retrieval(found.retrieval, console)
    if found.reader is not None:
        heading(console, "Reader")
        _reader(found.reader, console)


def _retrieval(found: RetrievalAbstention, console: Console) -> None:
    facts(console, _about(found))
    console.print()
    rows = [_row(_threshold(point.threshold), point.counts, point.youden) for point in found.sweep]
    _table(console, "refuse below", rows)
    if found.held_out is not None:
        console.print()
        facts(console, _held(found.held_out))
    else:
        facts(console, [("held out", f"none: {found.no_held_out}")])


def _about(found: RetrievalAbstention) -> Iterator[tuple[str, str]]:
    deep = f", k {found.k}" if found.signal == "mean" else ""
    yield "signal", f"{_SIGNALS[found.signal]}{deep}; {found.distinct} distinct values"
    empty = f"; {found.empty} had no hit, which refuses" if found.empty else ""
    left = f"; left out: {counts(found.unscored)}" if found.unscored else ""
    yield "queries", f"{found.queries}{empty}{left}"
    yield "AUROC", f"{mean(found.auroc)} (0.5 tells nothing; 1 parts them wholly)"
    yield "best", f"{_best(found.best)}; chosen on these very queries, which flatters"


def _best(point: SweepPoint) -> str:
    youden = "-" if point.youden is None else f"{point.youden:+.4f}"
    return f"below {_threshold(point.threshold)}: J {youden}, {_told(point.counts)}"


def _held(found: HeldOut) -> Iterator[tuple[str, str]]:
    span = f"{_threshold(found.lowest)} to {_threshold(found.highest)}"
    how = f"the threshold of each of {found.folds} conversations is the best of all others"
    yield "held out", f"{_told(found.counts)}; {how} ({span})"
    if found.skipped:
        yield "skipped", f"{found.skipped} queries of {found.of - found.folds} conversations"


def _told(found: Counts) -> str:
    return (
        f"precision {mean(found.precision)} "
        f"({share(found.refused_unanswerable, _refused(found))}), "
        f"recall {mean(found.recall)} ({share(found.refused_unanswerable, found.unanswerable)}), "
        f"over-refusal {mean(found.over_refusal)} "
        f"({share(found.refused_answerable, found.answerable)})"
    )


def _refused(found: Counts) -> int:
    return found.refused_unanswerable + found.refused_answerable


def _threshold(value: float | None) -> str:
    return "all" if value is None else f"{value:.6g}"


def _reader(found: ReaderAbstention, console: Console) -> None:
    judged = "" if found.grade is None else f"; those without an answer by the grades {found.grade}"
    lines = [
        ("answers", f"{found.answers} ({found.reader})"),
        ("refusal", f"phrases, rule {found.rule}{judged}"),
        ("queries", str(found.queries)),
    ]
    if found.unscored:
        lines.append(("left out", counts(found.unscored)))
    facts(console, lines)
    console.print()
    _table(console, "category", [_row(one.name, one, None) for one in found.categories])
    console.print()
    whole = found.all
    facts(
        console,
        [
            ("all", _told(whole)),
            ("F1", f"{mean(whole.f1)}, balanced accuracy {mean(whole.balanced_accuracy)}"),
            *(("absent", f"{name}: {why}") for name, why in whole.absent.items()),
        ],
    )


def _row(name: str, found: Counts, youden: float | None) -> tuple[str, ...]:
    return (
        name,
        share(found.refused_unanswerable, found.unanswerable),
        share(found.refused_answerable, found.answerable),
        mean(found.precision),
        mean(found.recall),
        mean(found.over_refusal),
        "-" if youden is None else f"{youden:+.4f}",
    )


def _table(console: Console, first: str, rows: Sequence[tuple[str, ...]]) -> None:
    heads = [
        "refused\nunanswerable",
        "refused\nanswerable",
        "precision",
        "recall",
        "over-\nrefusal",
        "J",
    ]
    if all(row[-1] == "-" for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    print_table(console, [first], heads, rows)
