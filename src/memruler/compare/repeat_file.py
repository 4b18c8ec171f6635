"""Reads a file of scores as repeats: every draw of every item, with its label.

The rows are those of `score_file`. The label column holds 0 and 1, or true and false; `error` says
why a draw has no label, and `top` what its reader was given: the keys of the retrieval, best first,
separated by spaces, or a list in JSON.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.grade_side import grade_side, scores_path
from memruler.compare.score_file import (
    MISSING,
    cell_number,
    cluster_column,
    group_rows,
    metric_columns,
    read_declared,
    row_error,
)
from memruler.compare.score_rows import LIST, Row, fault, read_rows
from memruler.errors import UsageError
from memruler.stats.repeats_item import Repeat
from memruler.store.grades import read_manifest

__all__ = ["RepeatFile", "read_repeat_file"]

_SHOWN = 8
_TRUTH = {0.0: False, 1.0: True}


class RepeatFile(msgspec.Struct, frozen=True, kw_only=True):
    """The draws of one side, before it is known which column is the label.

    Attributes:
        name: What to call it.
        path: Where it lies.
        metrics: Columns that could be the label: those of numbers, or of true and false.
        declared: What was measured with what; empty where nothing is declared.
        grouped: Item to its rows, by what tells repeats apart.
    """

    name: str
    path: Path
    metrics: tuple[str, ...]
    declared: Mapping[str, Any]
    grouped: Mapping[str, Mapping[str, Row]]

    def draws(self, label: str) -> dict[str, list[Repeat]]:
        """Every item's repeats, in the order of the file.

        Args:
            label: The column of labels.

        Raises:
            UsageError: A label is neither 0 nor 1, true nor false; or there is no such column,
                although not every draw erred.
            CorpusError: A cell of `top` holds something else than keys.
        """
        rows = [row for repeats in self.grouped.values() for _, row in repeats.values()]
        sound = [row for row in rows if row_error(row) is None]
        if sound and not any(label in row for row in sound):
            raise UsageError(
                f"no such column of labels: {label!r}",
                where=self.name,
                hint=f"it has {', '.join(self.metrics[:_SHOWN]) or 'none'}",
            )
        return {
            item: [_repeat(line, row, label, self.path) for line, row in repeats.values()]
            for item, repeats in self.grouped.items()
        }

    def clusters(self, column: str) -> dict[str, str]:
        """The cluster of each item that has one.

        Raises:
            CorpusError: Repeats of one item are in different clusters.
        """
        return cluster_column(self.grouped, column, self.path, text=True)


def read_repeat_file(path: Path, name: str) -> RepeatFile:
    """Read the draws of one side.

    Args:
        path: `.csv`, or `.jsonl` with an object a line; or a folder of grades.
        name: What to call it.

    Raises:
        UsageError: It is missing, another folder, or has another ending.
        CorpusError: A row is wrong; file and line are named.
        FormatError: The grades are damaged, or the answers have changed since.
    """
    if path.is_dir():
        grades = grade_side(path, None)
        if grades is None:
            raise UsageError(
                "a folder has no repeats, but for one of grades",
                where=path,
                hint="name RUN/answers/NAME/grades/GRADE, or a .csv or .jsonl file with columns "
                "`id`, `repeat` and one of labels",
            )
        metric = read_manifest(grades).metric
        scores = scores_path(grades)
        rows = read_rows(scores)
        return RepeatFile(
            name=name,
            path=scores,
            metrics=(metric,),
            declared=read_declared(scores),
            grouped=group_rows(rows, scores),
        )
    rows = read_rows(path)
    return RepeatFile(
        name=name,
        path=path,
        metrics=tuple(metric_columns(rows)),
        declared=read_declared(path),
        grouped=group_rows(rows, path),
    )


def _repeat(line: int, row: Mapping[str, Any], label: str, path: Path) -> Repeat:
    top = _top(line, row, path)
    if (error := row_error(row)) is not None:
        return Repeat(label=None, reason=error, top=top)
    if label not in row:
        return Repeat(label=None, reason=MISSING, top=top)
    number = cell_number(row[label])
    if number not in _TRUTH:
        raise UsageError(
            f"the label {label} is {row[label]!r}",
            where=f"{path}:{line}",
            hint="a label is 0 or 1, or true or false; where there is none, say why in `error`",
        )
    return Repeat(label=_TRUTH[number], top=top)


def _top(line: int, row: Mapping[str, Any], path: Path) -> tuple[str, ...] | None:
    cell = row.get(LIST)
    if isinstance(cell, list):
        return tuple(map(str, cell))
    if isinstance(cell, bool | float):
        what = f"{LIST} is {cell!r}, which is no key"
        raise fault(path, line, what, "write keys, separated by spaces, or a list of them")
    # A cell of blanks says nothing, as an empty one: only a list can say that there were no keys.
    return None if cell is None else tuple(str(cell).split()) or None
