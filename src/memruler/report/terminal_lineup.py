"""A line-up on the terminal."""

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.lineup_words import cells, facts_of, heads, reading
from memruler.report.table import print_table
from memruler.studies.lineup_record import Lineup

__all__ = ["print_lineup", "render_lineup"]


def print_lineup(found: Lineup, out: str) -> None:
    """Print a line-up to stdout."""
    with unpadded(stdout_console()) as console:
        render_lineup(found, out, console)


def render_lineup(found: Lineup, out: str, console: Console) -> None:
    """Print a line-up.

    Args:
        found: It.
        out: Where its run folders lie.
        console: Where to print; 80 columns suffice.
    """
    for row in found.rows:
        if row.degraded:
            banner(console, f"DEGRADED: do not trust {printable(row.system)}", row.degraded)
    measured = [row for row in found.rows if row.absent is None]
    line = f"LINE-UP of {len(measured)} memories on {printable(found.corpus)}"
    console.print(Text(line, style="bold"))
    console.print()
    print_table(console, ["memory"], heads(found), [(row.system, *cells(row)) for row in measured])
    if len(measured) < len(found.rows):
        heading(console, "not measured here")
        facts(console, ((row.system, row.absent) for row in found.rows if row.absent is not None))
    heading(console, "how to read it")
    for sentence in reading(found):
        console.print(Text(f"  {sentence}", style="dim"))
    console.print()
    facts(console, [*facts_of(found), ("runs", out), ("page", f"{out}/lineup.md")])
