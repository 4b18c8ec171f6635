"""A table in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["table"]


def table(heads: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table and an empty one behind it.

    Args:
        heads: Of the columns, escaped.
        sides: `l` or `r` for each column.
        rows: Cells, escaped.
    """
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('--:' if side == 'r' else '---' for side in sides)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
