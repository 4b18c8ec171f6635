"""Answers with their grades, one a query: was it missed, what was said, what had been given."""

from collections import defaultdict
from math import fsum
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import FormatError, UsageError, printable
from memruler.model.answers import AnswersManifest, GradesManifest
from memruler.scoring.answer_load import choose_answers
from memruler.store.answers import ANSWERS, answers_path, read_answers_manifest
from memruler.store.folder import RunFolder
from memruler.store.grades import GradeRow, grade_names, grades_path, read_manifest, read_rows
from memruler.store.tables import batches

__all__ = ["DEFAULT_BELOW", "Said", "choose_grade", "graded_answers", "missed_rule"]

DEFAULT_BELOW = 0.5
"""A value below this is missed, where a grader gives shares."""

_COLUMNS = ["instance", "query", "repeat", "text", "items"]
_UNGRADED = "not graded"


class Said(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What was answered to Q queries.

    Attributes:
        answers, grades: Their manifests.
        value: Mean over all draws that have a value; NaN where there is none [Q].
        reason: Why there is none; None where there is one [Q].
        text: The answer: of the first draw that was missed, else of the first one [Q].
        given: Lineage rows that it was given; None where that is not known [Q].
        missed: Which were missed [Q].
        rule: When one is missed, one sentence.
    """

    answers: AnswersManifest
    grades: GradesManifest
    value: NDArray[np.float64]
    reason: list[str | None]
    text: list[str | None]
    given: list[tuple[int, ...]] | None
    missed: NDArray[np.bool_]
    rule: str


def choose_grade(run: RunFolder, answers: str, name: str | None) -> str:
    """The grading that is meant; without a name the one that the answers have alone.

    Raises:
        UsageError: There is none, there are several, or none has that name.
    """
    there = grade_names(run.path, answers)
    if name is not None and name in there:
        return name
    listed = ", ".join(map(printable, there))
    if not there:
        raise UsageError(
            f"the answers {answers} are not graded yet",
            where=run.path,
            hint=f"grade them: memruler grade RUN --answers {answers}",
        )
    if name is not None:
        raise UsageError(f"no grading {name} of {answers}", where=run.path, hint=f"it has {listed}")
    if len(there) > 1:
        raise UsageError(
            f"the answers {answers} have several gradings",
            where=run.path,
            hint=f"name one with --grade: {listed}",
        )
    return there[0]


def missed_rule(metric: str, below: float | None) -> tuple[float, bool, str]:
    """When a value is missed: below a number, or also at it; and that in words.

    A label of right or wrong is missed where no majority of the draws says right. A share is missed
    below a threshold, which is a choice and no fact.
    """
    if below is None and metric == "accuracy":
        return 0.5, True, "missed: not right in more than half of the draws"
    limit = DEFAULT_BELOW if below is None else below
    return limit, False, f"missed: {printable(metric)} below {limit:g}, a threshold"


def graded_answers(
    run: RunFolder,
    keys: dict[tuple[int, int], int],
    *,
    answers: str | None,
    grade: str | None,
    below: float | None,
) -> Said:
    """Read answers and a grading of them.

    Args:
        run: A sealed run.
        keys: `(instance, query)` to the row of the query, from 0.
        answers: Their name; None where the run has only these.
        grade: Name of the grading; None where they have only this.
        below: Missed is what is below it; None for the usual rule of the metric.

    Raises:
        FormatError: Something is damaged, or does not belong to the run.
        UsageError: See `choose_grade`.
    """
    name = choose_answers(run, answers)
    manifest = read_answers_manifest(run, name)
    path = grades_path(run.path, name, choose_grade(run, name, grade))
    grades = read_manifest(path)
    limit, at_too, rule = missed_rule(grades.metric, below)

    def wrong(value: float) -> bool:
        return value < limit or (at_too and value == limit)

    by_query: dict[int, list[GradeRow]] = defaultdict(list)
    for row in read_rows(path):
        at = keys.get((row.instance, row.query))
        if at is None:
            raise FormatError(
                "the grades name a query that the run does not have",
                where=path,
                hint="grade the answers again: memruler grade RUN",
            )
        by_query[at].append(row)
    value = np.full(len(keys), np.nan)
    reason: list[str | None] = [_UNGRADED] * len(keys)
    shown = np.zeros(len(keys), np.int64)
    for at, rows in by_query.items():
        draws = [(row.repeat, row.graded.value) for row in rows if row.graded.value is not None]
        shown[at] = rows[0].repeat
        if not draws:
            reason[at] = rows[0].graded.reason or "no value"
            continue
        value[at] = fsum(found for _, found in draws) / len(draws)
        reason[at] = None
        failed = [repeat for repeat, found in draws if wrong(found)]
        if wrong(float(value[at])) and failed:
            shown[at] = failed[0]
    text, given = _answers(run, name, keys, shown)
    known = manifest.reader.kind not in {"system", "file"}
    missed = np.array([bool(not np.isnan(one) and wrong(float(one))) for one in value], np.bool_)
    return Said(
        answers=manifest,
        grades=grades,
        value=value,
        reason=reason,
        text=text,
        given=given if known else None,
        missed=missed,
        rule=rule,
    )


def _answers(
    run: RunFolder, name: str, keys: dict[tuple[int, int], int], shown: NDArray[np.int64]
) -> tuple[list[str | None], list[tuple[int, ...]]]:
    """The answer of one draw a query, and the rows that it was given."""
    text: list[str | None] = [None] * len(keys)
    given: list[tuple[int, ...]] = [()] * len(keys)
    for batch in batches(RunFolder(answers_path(run.path, name)), ANSWERS, columns=_COLUMNS):
        found: list[dict[str, Any]] = batch.to_pylist()
        for row in found:
            at = keys[row["instance"], row["query"]]
            if row["repeat"] == shown[at]:
                text[at], given[at] = row["text"], tuple(row["items"])
    return text, given
