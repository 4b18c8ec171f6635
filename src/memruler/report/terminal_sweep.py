"""A sweep on the terminal."""

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memruler.compare.winner_record import Recommendation
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import (
    banner,
    column_head,
    facts,
    heading,
    numeric_table,
    stdout_console,
    unpadded,
)
from memruler.report.sweep_words import metric, notes, outcome, over, swept, won
from memruler.studies.sweep_record import Sweep

__all__ = ["print_sweep", "render_sweep"]

_SHOWN_CELLS = 24
_LONGEST_LINE = 2000
_LONGEST_NAME = 10
"""Characters of a cell's name up to which it stands in the tables; beyond, `c1`, `c2`, ... do."""


def print_sweep(found: Sweep, out: str) -> None:
    """Print a sweep to stdout."""
    with unpadded(stdout_console()) as console:
        render_sweep(found, out, console)


def render_sweep(found: Sweep, out: str, console: Console) -> None:
    """Print a sweep.

    Args:
        found: What to print.
        out: Where its run folders lie.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    lead = found.sensitivity.headline
    labels = _labels(found)
    changed = "CHANGED BY THE TARGET" if lead.outcome == "changed" else lead.outcome.upper()
    if lead.outcome == "same" and len(lead.choices[0].winners) > 1:
        changed = "A TIE UNDER EVERY TARGET"
    console.print(
        Text(
            f"SWEEP of {len(found.cells)} cells by {metric(lead)}: {changed}",
            style="bold red" if lead.outcome == "changed" else "bold",
        )
    )
    console.print(Text(printable(outcome(lead, labels), _LONGEST_LINE)))
    heading(console, f"{metric(lead)} over {found.sensitivity.queries} queries (* wins)")
    console.print(_cells(found, lead, labels))
    if (hidden := len(found.cells) - _SHOWN_CELLS) > 0:
        console.print(f"... and {hidden} more in sweep.md")
    heading(console, "which cell wins")
    console.print(_winners(found, labels))
    console.print()
    facts(console, _facts(found, out))


def _cells(found: Sweep, lead: Recommendation, labels: Mapping[str, str]) -> Table:
    """One row a cell: its mean under each target, the winner marked."""
    targets = [choice.target for choice in lead.choices]
    left = ["cell", "run folder"] if labels else ["cell"]
    table = numeric_table(left, [*map(column_head, targets), "stored"])
    for cell in found.cells[:_SHOWN_CELLS]:
        means = (
            _mean(choice.means[cell.folder], wins=cell.folder in choice.winners)
            for choice in lead.choices
        )
        names = [labels[cell.folder], cell.folder] if labels else [cell.folder]
        table.add_row(*map(_text, names), *means, str(cell.stored))
    return table


def _labels(found: Sweep) -> dict[str, str]:
    """Short names of the cells; none where their own are short enough."""
    folders = [cell.folder for cell in found.cells]
    if max(map(len, folders)) <= _LONGEST_NAME:
        return {}
    return {folder: f"c{number}" for number, folder in enumerate(folders, 1)}


def _text(words: str) -> Text:
    return Text(printable(words, _LONGEST_LINE), overflow="fold")


def _mean(value: float, *, wins: bool) -> Text:
    return Text(f"{numbers.mean(value)}{'*' if wins else ' '}", style="green" if wins else "")


def _winners(found: Sweep, labels: Mapping[str, str]) -> Table:
    """One row a metric and cut-off: who wins under each target."""
    targets = found.sensitivity.targets
    table = numeric_table(["metric", *map(column_head, targets), "choice"], [])
    for one in found.sensitivity.recommendations:
        names = (_text(won(choice, labels)) for choice in one.choices)
        table.add_row(metric(one), *names, one.outcome)
    return table


def _facts(found: Sweep, out: str) -> Iterator[tuple[str, str]]:
    corpus, side = found.corpus, found.sensitivity
    yield "system", found.spec.system
    yield "swept", swept(found)
    yield "credit", f"per {side.rule}, at the {side.level} level"
    yield "means over", over(found)
    yield "corpus", f"{corpus['name']} {corpus['version']} (sha256 {corpus['sha256'][:12]})"
    yield "population", numbers.population(found.population, found.clusters)
    yield "not measured", numbers.counts(found.population.excluded)
    for note in notes(found):
        yield "note", note
    yield "pages", f"{out}/sweep.md; shifts, query types and target cards: {out}/targets.md"
