"""A table of plain cells on the terminal; whatever a cell holds is shown and does nothing."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report.layout import numeric_table

__all__ = ["print_table"]


def print_table(
    console: Console,
    left: Sequence[str],
    numbers: Sequence[str],
    rows: Iterable[Sequence[str]],
) -> None:
    """Print a table.

    Args:
        console: Where to print.
        left: Heads of the text columns; a line end in a head stays one.
        numbers: Heads of the right-aligned columns after them.
        rows: Their cells.
    """
    table = numeric_table([_head(head) for head in left], [_head(head) for head in numbers])
    for row in rows:
        table.add_row(*(Text(printable(cell), overflow="fold") for cell in row))
    console.print(table)


def _head(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
