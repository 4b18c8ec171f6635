"""Loads what is to be graded, and what was."""

from pathlib import Path

import msgspec

from memruler.errors import FormatError, UsageError, printable
from memruler.model.answers import AnswerItem, Graded, GradesManifest
from memruler.scoring.answer_load import load_items
from memruler.scoring.grade_record import GradeSummary
from memruler.scoring.grade_said import ToGrade
from memruler.scoring.grade_scores import About, evidence_families, item_keys
from memruler.store.answers import ANSWERS, answers_path, read_answers_manifest
from memruler.store.folder import RunFolder
from memruler.store.grades import (
    GradeRow,
    grade_names,
    grades_path,
    read_manifest,
    read_rows,
)
from memruler.store.tables import batches

__all__ = ["Grades", "choose_grades", "load_grades", "load_to_grade", "read_summary"]

_AGAIN = "grade the answers again: memruler grade RUN"


class Grades(msgspec.Struct, frozen=True, kw_only=True):
    """A finished grading.

    Attributes:
        manifest: What it is.
        rows: Every grading, in order.
    """

    manifest: GradesManifest
    rows: tuple[GradeRow, ...]

    def by_item(self) -> dict[tuple[int, int, int], tuple[Graded, ...]]:
        """Instance, query and repeat to what the judge's draws made of that answer."""
        found: dict[tuple[int, int, int], list[Graded]] = {}
        for row in self.rows:
            found.setdefault((row.instance, row.query, row.repeat), []).append(row.graded)
        return {key: tuple(graded) for key, graded in found.items()}


def load_grades(path: Path) -> Grades:
    """Read a grading.

    Args:
        path: Its folder; see `memruler.store.grades.grades_path`.

    Raises:
        FormatError: It is no grading, damaged, or the answers have changed since.
    """
    return Grades(manifest=read_manifest(path), rows=tuple(read_rows(path)))


def read_summary(path: Path) -> GradeSummary:
    """The summary of a grading.

    Raises:
        FormatError: As for `load_grades`.
    """
    read_manifest(path)
    try:
        data = RunFolder(path.resolve()).read("summary.json")
        return msgspec.json.decode(data, type=GradeSummary)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"summary.json cannot be read: {error}", where=path, hint=_AGAIN
        ) from error


def choose_grades(run: RunFolder, answers: str, name: str | None) -> Path:
    """The grading that is meant; without a name the only one that the answers have.

    Raises:
        UsageError: There are none, several, or none of that name.
    """
    there = grade_names(run.path, answers)
    if name is not None and name in there:
        return grades_path(run.path, answers, name)
    listed = ", ".join(map(printable, there))
    if not there:
        raise UsageError(
            "the answers are not graded yet", where=answers, hint="grade them: memruler grade RUN"
        )
    if name is not None:
        raise UsageError(f"there are no grades {name}", where=answers, hint=f"it has {listed}")
    if len(there) > 1:
        raise UsageError(
            "the answers are graded several times", where=answers, hint=f"name one of {listed}"
        )
    return grades_path(run.path, answers, there[0])


def load_to_grade(run: RunFolder, answers: str) -> ToGrade:
    """Read the answers of a run for grading.

    Args:
        run: A sealed run.
        answers: Their name.

    Raises:
        FormatError: There are no such answers, or the run is not the one they were made from.
    """
    manifest = run.manifest()
    if manifest is None:
        raise FormatError("no manifest in the run folder", where=run.path)
    own = read_answers_manifest(run, answers)
    items = list(load_items(run, answers))
    return ToGrade(
        run=run.path,
        manifest=manifest,
        answers=own,
        answers_sha256=own.tables[ANSWERS],
        items=items,
        about=_about(run, answers, items),
    )


def _about(
    run: RunFolder, answers: str, items: list[AnswerItem]
) -> dict[tuple[int, int, int], About]:
    keys = item_keys(run)

    def named(rows: list[int]) -> tuple[str, ...]:
        if rows and not 0 <= min(rows) <= max(rows) < len(keys):
            raise FormatError(
                "the answers name an item that the run does not have",
                where=answers,
                hint="answer the run again: memruler answer RUN",
            )
        return tuple([keys[at] for at in rows])

    found: dict[tuple[int, int, int], About] = {}
    folder = RunFolder(answers_path(run.path, answers))
    columns = ["instance", "query", "repeat", "items"]
    given = {
        (row["instance"], row["query"], row["repeat"]): named(row["items"])
        for batch in batches(folder, ANSWERS, columns)
        for row in batch.to_pylist()
    }
    families = evidence_families(items)
    for item in items:
        place = (item.instance, item.query, item.repeat)
        about = About(
            item.instance_key,
            answered=item.response is not None,
            # A memory's own answer was given no hits, and an empty list would say so.
            top=given.get(place) or None,
        )
        about.family = families[item.instance, item.query]
        found[place] = about
    return found
