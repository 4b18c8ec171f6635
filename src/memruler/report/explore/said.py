"""The answers to the queries of a run, and what graders made of them; read query by query."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.errors import MemrulerError, printable
from memruler.report.explore.record import AnswerDetail, GradeDetail
from memruler.report.explore.rows import Rows
from memruler.report.explore.scores import places_of
from memruler.report.explore.texts import cut
from memruler.store.answers import ANSWERS, answer_names, answers_path, read_answers_manifest
from memruler.store.folder import RunFolder
from memruler.store.grades import GRADES, grade_names, grades_path, read_manifest
from memruler.store.tables import read_table

__all__ = ["Said", "said_of"]

_Ints = NDArray[np.int64]


class _Part(msgspec.Struct, frozen=True, eq=False):
    """A table with at most one row shown a query."""

    name: str
    at: _Ints
    """Row of each query; -1 where there is none [Q]."""
    rows: Rows


class _Answers(msgspec.Struct, frozen=True, eq=False):
    own: _Part
    grades: tuple[_Part, ...]


class Said(msgspec.Struct, frozen=True, eq=False):
    """All answers of a run.

    Attributes:
        names: Of those shown.
        notes: Which are not, and why.
    """

    _answers: tuple[_Answers, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the answers shown, sorted."""
        return tuple(answers.own.name for answers in self._answers)

    def of(self, query: int) -> tuple[AnswerDetail, ...]:
        """What was said to one query, by the row of it; its first draw."""
        return tuple(
            AnswerDetail(
                name=answers.own.name,
                text=cut(row["text"], why=row["error"] or "there is no answer"),
                grades=tuple(
                    GradeDetail(
                        name=grades.name,
                        value=grade["value"],
                        reason=grade["reason"],
                        label=grade["label"],
                    )
                    for grades in answers.grades
                    for grade in _row(grades, query)
                ),
            )
            for answers in self._answers
            for row in _row(answers.own, query)
        )


def said_of(run: RunFolder, key: _Ints) -> Said:
    """Find the answers and gradings of a run.

    Those that are damaged, or made from another state of the run, are left out with a note.

    Args:
        run: A sealed run.
        key: Of each query, `instance << 32 | query` [Q].
    """
    found: list[_Answers] = []
    notes: list[str] = []
    for name in answer_names(run.path):
        try:
            read_answers_manifest(run, name)
            folder = RunFolder(answers_path(run.path, name))
            own = _Part(name, _at(folder, ANSWERS, key), Rows(folder, ANSWERS, ["text", "error"]))
        except MemrulerError as error:
            notes.append(f"the answers {printable(name)} are not shown: {printable(error.what)}")
            continue
        graded: list[_Part] = []
        for grade in grade_names(run.path, name):
            try:
                path = grades_path(run.path, name, grade)
                read_manifest(path)
                folder = RunFolder(path.resolve())
                rows = Rows(folder, GRADES, ["value", "reason", "label"])
                graded.append(_Part(grade, _at(folder, GRADES, key), rows))
            except MemrulerError as error:
                notes.append(
                    f"the grades {printable(grade)} of the answers {printable(name)} are not "
                    f"shown: {printable(error.what)}"
                )
        found.append(_Answers(own, tuple(graded)))
    return Said(tuple(found), tuple(notes))


def _row(part: _Part, query: int) -> list[dict[str, Any]]:
    at = int(part.at[query])
    return [] if at < 0 else part.rows.take([at])


def _at(folder: RunFolder, table: str, key: _Ints) -> _Ints:
    """The row of each query: of its first answer, and of the first draw of that."""
    draws = ["repeat"] if table == ANSWERS else ["repeat", "draw"]
    places: pa.Table = read_table(folder, table, columns=["instance", "query", *draws])
    column = {name: np.asarray(places.column(name), np.int64) for name in places.column_names}
    first = np.flatnonzero(np.all([column[name] == 0 for name in draws], axis=0))
    there = (column["instance"] << 32 | column["query"])[first]
    at = places_of(there, key)
    return np.where(at >= 0, np.append(first, -1)[at], -1)
