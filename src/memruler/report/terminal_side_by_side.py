"""Several runs beside each other, on the terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import banner, facts, heading, numeric_table, stdout_console, unpadded
from memruler.report.side_by_side import RunLine, SideBySide

__all__ = ["print_side_by_side", "render_side_by_side"]

_LONGEST = 28


def print_side_by_side(found: SideBySide) -> None:
    """Print several runs to stdout."""
    with unpadded(stdout_console()) as console:
        render_side_by_side(found, console)


def render_side_by_side(found: SideBySide, console: Console) -> None:
    """Print several runs.

    Args:
        found: They.
        console: Where to print; 80 columns suffice.
    """
    for run in found.runs:
        if run.degraded:
            banner(console, f"DEGRADED: do not trust {run.name}", run.degraded)
    compared = sum(run.delta is not None for run in found.runs)
    console.print(
        Text(f"{len(found.runs)} runs; {compared} of {len(found.runs) - 1} compare with ")
        + Text(printable(found.runs[0].name, _LONGEST), style="bold")
    )
    console.print()
    table = numeric_table(["run"], ["headline", "value", "n/N", "delta", "up", "down"])
    for at, run in enumerate(found.runs):
        table.add_row(Text(printable(run.name, _LONGEST)), *_cells(run, first=at == 0))
    console.print(table)
    console.print()
    facts(console, _facts(found))
    for run in found.runs:
        if run.refused:
            heading(console, f"{run.name} does not compare")
            facts(console, ((reason.code, reason.what) for reason in run.refused))
            console.print()
            hints = dict.fromkeys(reason.hint for reason in run.refused)
            facts(console, (("instead", hint) for hint in hints))


def _cells(run: RunLine, *, first: bool) -> tuple[str, ...]:
    head = "-" if run.metric is None else f"{run.metric} {run.level}"
    own = (head, numbers.mean(run.value), numbers.share(run.counted, run.of))
    if run.delta is not None:
        moved = (numbers.delta(run.delta.delta), str(run.delta.wins), str(run.delta.losses))
        return (*own, *moved)
    return (*own, "base" if first else "refused", "-", "-")


def _facts(found: SideBySide) -> Iterator[tuple[str, str]]:
    for people in dict.fromkeys((r.corpus, r.population, r.measured, r.target) for r in found.runs):
        corpus, population, measured, target = people
        yield "population", f"{corpus}, {population}: {measured} measured; target {target}"
    for run in found.runs:
        if run.delta is not None and run.delta.counted != run.counted:
            yield "delta", f"of {run.name}: over the {run.delta.counted} queries that count in both"
        for warning in run.warnings:
            yield "warning", f"{run.name}: {warning}"
