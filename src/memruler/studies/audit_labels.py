"""What raters wrote, as labels of the rubric, and the majority of a case.

Only the synonyms below are understood. Anything else is an error with its row: a label that is
guessed would be nobody's.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from memruler.errors import CorpusError
from memruler.studies.audit_csv import LABEL, CaseTable

__all__ = ["LABELS", "SYNONYMS", "BadLabelsError", "labels_of", "majority", "normalised"]

LABELS: Final = ("supports", "partial", "does_not_support")
"""Of the rubric `support`, best first."""

SYNONYMS: Final = {
    "supports": ("supports", "support", "supported", "full", "yes", "y"),
    "partial": ("partial", "partially", "partly"),
    "does_not_support": (
        "does not support",
        "not supported",
        "unsupported",
        "no support",
        "no",
        "n",
    ),
}
"""Label to what may be written for it, in any case, with spaces, dashes or underscores."""

_OF: Final = {word: label for label, words in SYNONYMS.items() for word in words}
_SHOWN = 8


class BadLabelsError(CorpusError):
    """Cells that hold no label.

    Attributes:
        cells: Column and what is written to the spreadsheet's numbers of its rows.
    """

    def __init__(self, cells: dict[tuple[str, str], list[int]], path: Path) -> None:
        number = sum(map(len, cells.values()))
        super().__init__(
            f"{number} cell{'s' * (number != 1)} hold{'s' * (number == 1)} no label",
            where=path,
            hint=f"write {', '.join(LABELS[:-1])} or {LABELS[-1]}, or leave the cell empty",
        )
        self.cells = cells

    def lines(self) -> Iterator[str]:
        """One line for each thing that is written in a column."""
        for (column, text), rows in self.cells.items():
            more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
            said = ", ".join(map(str, rows[:_SHOWN]))
            many = "s" * (len(rows) > 1)
            yield f"{column} {text!r}: {len(rows)} time{many}, in row{many} {said}{more}"


def normalised(cell: str) -> str | None:
    """The label that a cell means; None for an empty one.

    Raises:
        KeyError: It means none.
    """
    word = " ".join(cell.lower().replace("_", " ").replace("-", " ").split())
    return _OF[word] if word else None


def labels_of(table: CaseTable, raters: Sequence[str], path: Path) -> dict[str, list[str | None]]:
    """Rater to the label of every case, in order; None where there is none.

    Raises:
        BadLabelsError: A cell holds something else.
    """
    found: dict[str, list[str | None]] = {}
    bad: dict[tuple[str, str], list[int]] = {}
    for rater in raters:
        column = LABEL + rater
        found[rater] = []
        for number, cell in zip(table.numbers, table.column(column), strict=True):
            try:
                found[rater].append(normalised(cell))
            except KeyError:
                bad.setdefault((column, cell.strip()), []).append(number)
    if bad:
        raise BadLabelsError(bad, path)
    return found


def majority(given: Sequence[str | None]) -> str | None:
    """The label that more than half of those who labelled a case gave; None where there is none.

    Example:
        >>> majority(["supports", "partial", None, "supports"])
        'supports'
        >>> majority(["supports", "partial"]) is None
        True
    """
    said = [label for label in given if label is not None]
    return next((label for label in LABELS if 2 * said.count(label) > len(said)), None)
