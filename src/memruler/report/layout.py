"""The few shapes that the terminal's pages are made of; all of them fit 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memruler.errors import printable
from memruler.metrics.names import METRICS

__all__ = [
    "banner",
    "column_head",
    "facts",
    "heading",
    "numeric_table",
    "stdout_console",
    "unpadded",
]

WIDTH = 80
"""Columns that every page fits into; a wider terminal gets no wider tables."""

_NARROWEST = 60
"""Columns below which a table would break inside its numbers; a narrower terminal wraps instead."""

_LONGEST = 2000


def stdout_console(*, stderr: bool = False) -> Console:
    """A console on stdout (or stderr) that colours only on a terminal and obeys NO_COLOR.

    Markup and emoji codes are off: what looks like one came from a file.
    """
    found = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    found.width = max(_NARROWEST, min(found.width, WIDTH))
    return found


@contextmanager
def unpadded(console: Console) -> Iterator[Console]:
    """Let pages be printed inside; a file or a pipe gets them without the tables' padding."""
    if console.is_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    console.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    # Now, and not when the program ends: a reader that left (`| head`) is noticed in time.
    console.file.flush()


def column_head(metric: str) -> str:
    """A metric's name for the head of a column: `recall_all` on two lines, to save width."""
    return metric.replace("_", "_\n") if metric in METRICS else printable(metric)


def heading(console: Console, text: str) -> None:
    """A heading with an empty line above."""
    console.print()
    console.print(Text(printable(text), style="bold"))


def banner(console: Console, title: str, reasons: Iterable[str]) -> None:
    """What must be seen before any number."""
    console.print(Text(printable(title), style="bold white on red"))
    for reason in reasons:
        console.print(Text(f"  {printable(reason)}", style="red"))
    console.print()


def facts(console: Console, lines: Iterable[tuple[str, str]]) -> None:
    """Short labelled lines; a long one wraps under its own start."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(label, Text(printable(text, _LONGEST), overflow="fold"))
    console.print(grid)


def numeric_table(left: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table with text columns first and right-aligned numbers after them."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for head in left:
        table.add_column(head, overflow="fold", vertical="top")
    for head in numbers:
        table.add_column(head, justify="right", overflow="fold", vertical="top")
    return table
