"""A check against a baseline on the terminal: the headline first, then what differs."""

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.baseline_words import headline, title
from memruler.report.layout import stdout_console, unpadded
from memruler.report.view import category_rows
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["print_baseline", "render_baseline"]

_STYLES = {
    "better": "bold green",
    "worse": "bold red",
    "incomparable": "bold yellow",
    "broken": "bold red",
}
_ROWS = 12


def print_baseline(check: BaselineCheck) -> None:
    """Print a check to stdout."""
    with unpadded(stdout_console()) as console:
        render_baseline(check, console)


def render_baseline(check: BaselineCheck, console: Console) -> None:
    """Print a check.

    Args:
        check: It.
        console: Where to print; 80 columns suffice.
    """
    line = Text(title(check).upper(), style=_STYLES.get(check.verdict or check.outcome, "bold"))
    line.append(f"  {printable(headline(check), 2000)}", style="not bold")
    console.print(line)
    if check.refused is not None:
        for reason in check.refused.reasons:
            console.print(Text(f"refused: {printable(reason.what)}"))
            console.print(Text(f"instead: {printable(reason.hint)}"))
    for difference in check.changed[:_ROWS]:
        console.print(Text(f"differs: {shown(difference)}"))
    if len(check.changed) > _ROWS:
        console.print(Text(f"         and {len(check.changed) - _ROWS} more"))
    for d in category_rows(check.exact) if check.exact else ():
        console.print(
            Text(
                f"{printable(d.slice, 24):<24} {numbers.mean(d.base)} -> "
                f"{numbers.mean(d.candidate)}  {numbers.delta(d.delta):>9}  {d.counted} of {d.of}"
            )
        )
    if check.figures is not None:
        for note in check.notes:
            console.print(Text(f"note: {printable(note, 1000)}"))
        console.print(Text("A score that moves fails nothing: a person decides what it means."))
