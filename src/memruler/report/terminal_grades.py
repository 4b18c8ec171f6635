"""A grading on the terminal: means of answers, apart from all that was retrieved."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report import numbers
from memruler.report.grades_words import facts_of, headline, published, usage_words
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.table import print_table
from memruler.scoring.grade_record import GradeSlice, GradeSummary
from memruler.scoring.grade_said import GradeOutcome

__all__ = ["print_grades", "render_grades"]

_LONGEST = 26


def print_grades(found: Sequence[GradeOutcome]) -> None:
    """Print gradings to stdout."""
    with unpadded(stdout_console()) as console:
        for at, outcome in enumerate(found):
            if at:
                console.print()
            render_grades(outcome.summary, console)
            facts(
                console,
                [
                    *([("cost now", usage_words(outcome.usage))] if outcome.summary.judge else []),
                    ("grades", str(outcome.path)),
                ],
            )
        _side_by_side([outcome.summary for outcome in found], console)
        _next(found, console)


def render_grades(found: GradeSummary, console: Console) -> None:
    """Print one grading.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    line = Text(printable(found.grader), style="bold")
    line.append(f"  {printable(found.metric)} {headline(found)}")
    console.print(line)
    console.print()
    exact = found.ruler == "exact"
    heads = ["items", "with\nanswer", "scored", "mean"]
    heads += [] if exact else ["95 %\nlow", "\nhigh"]
    print_table(
        console,
        [""],
        [*heads, "missing\nas 0"],
        ([printable(s.name, _LONGEST), *_cells(s, exact=exact)] for s in found.slices),
    )
    lines = list(published(found))
    if lines:
        heading(console, "As the data set's own script prints it")
        facts(console, lines)
    console.print()
    facts(console, facts_of(found))


def _cells(one: GradeSlice, *, exact: bool) -> list[str]:
    ends = ["-", "-"]
    if one.interval is not None:
        ends = [numbers.mean(one.interval.low), numbers.mean(one.interval.high)]
    return [
        str(one.items),
        str(one.answered),
        str(one.scored),
        numbers.mean(one.mean),
        *([] if exact else ends),
        numbers.mean(one.floor),
    ]


def _side_by_side(found: Sequence[GradeSummary], console: Console) -> None:
    """Graders that give the same metric of the same answers, such as two profiles."""
    for metric in dict.fromkeys(one.metric for one in found):
        own = [one for one in found if one.metric == metric and one.sample is None]
        if len(own) < 2:  # noqa: PLR2004 - two sides
            continue
        heading(console, f"{metric}, side by side (mean and scored/items)")
        names = [part.name for part in own[0].slices]
        by_name = [{part.name: part for part in one.slices} for one in own]
        print_table(
            console,
            [""],
            [one.grader.replace(":", ":\n") for one in own],
            (
                [
                    printable(name, _LONGEST),
                    *(
                        f"{numbers.mean(parts[name].mean)} "
                        f"({numbers.share(parts[name].scored, parts[name].items)})"
                        for parts in by_name
                    ),
                ]
                for name in names
            ),
        )


def _next(found: Sequence[GradeOutcome], console: Console) -> None:
    scored = [outcome for outcome in found if outcome.summary.slices[0].scored]
    if not scored:  # nothing to compare, and the reasons stand above
        return
    last = scored[-1]
    told = [("next", f"memruler gate BASE {last.path} --cluster {last.summary.cluster}")]
    if last.summary.sample is not None:
        told = [("next", f"memruler judge agree FIRST {last.path}")]
    elif any(outcome.summary.judge is not None for outcome in found):
        told.append(("trust", "memruler judge calibrate --help: is this judge to be believed?"))
    console.print()
    facts(console, told)
