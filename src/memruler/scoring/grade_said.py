"""What is to be said of a grading: its summary, whether it is exact, and its notes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memruler.model.answers import (
    AnswerItem,
    AnswersManifest,
    GradesManifest,
    InstrumentIdentity,
    Usage,
)
from memruler.model.run import Manifest
from memruler.scoring.grade_record import GradeSummary
from memruler.scoring.grade_scores import About
from memruler.scoring.grade_summary import judge_flips, parser_counts, summarise_grades
from memruler.scoring.graders.base import Grader
from memruler.store.grades import GradeRow

__all__ = ["Done", "GradeOutcome", "ToGrade", "is_exact", "summary_of"]


class ToGrade(NamedTuple):
    """The answers of a reader, ready to be graded.

    Attributes:
        run: The run's folder.
        manifest: The run's.
        answers: What the answers are.
        answers_sha256: Of their table.
        items: In order.
        about: Instance, query and repeat to what the scores say of an answer.
    """

    run: Path
    manifest: Manifest
    answers: AnswersManifest
    answers_sha256: str
    items: Sequence[AnswerItem]
    about: Mapping[tuple[int, int, int], About]


class GradeOutcome(NamedTuple):
    """A finished grading.

    Attributes:
        path: Its folder.
        manifest: What it is.
        summary: What it says.
        usage: What the judge cost now.
    """

    path: Path
    manifest: GradesManifest
    summary: GradeSummary
    usage: Usage


class Done(NamedTuple):
    """What a grading came to.

    Attributes:
        name: Of the grading.
        grader, sha256: Who scored, and its digest.
        judge: Who judged; None where nobody did.
        rows: Every grading.
        draws: How often the judge was asked about each answer.
        sample: How the answers were drawn; None where all were graded.
        exact: Whether a repetition gives the same to the last bit.
    """

    name: str
    grader: Grader
    sha256: str
    judge: InstrumentIdentity | None
    rows: Sequence[GradeRow]
    draws: int
    sample: dict[str, Any] | None
    exact: bool


def summary_of(given: ToGrade, done: Done) -> GradeSummary:
    """The summary of a grading."""
    grader, rows = done.grader, done.rows
    corpus = str(given.manifest.fingerprint["corpus"]["name"])
    conversations = {row.instance for row in rows}
    queries = {(row.instance, row.query) for row in rows}
    by_family = len(conversations) == len(queries)
    clusters = {
        key[:2]: about.family if by_family else about.conversation
        for key, about in given.about.items()
    }
    slices, official = summarise_grades(
        rows,
        answered={key: about.answered for key, about in given.about.items()},
        clusters=clusters,
        corpus=corpus,
        exact=done.exact,
        sample=done.sample is not None,
        official=grader.name.partition(":")[2].startswith("official"),
    )
    return GradeSummary(
        name=done.name,
        run=given.answers.run,
        answers=given.answers.name,
        corpus=corpus,
        grader=grader.name,
        grader_sha256=done.sha256,
        metric=grader.metric,
        accuracy=grader.accuracy,
        reader=given.answers.reader,
        judge=done.judge,
        ruler="exact" if done.exact else "draw",
        repeats=given.answers.repeats,
        cluster="evidence" if by_family else "conversation",
        slices=slices,
        official=official,
        parser=parser_counts(rows),
        flips=judge_flips(rows, done.draws),
        sample=done.sample,
        notes=tuple(_notes(given, done)),
        degraded=tuple(dict.fromkeys((*given.manifest.degraded, *given.answers.degraded))),
    )


def _notes(given: ToGrade, done: Done) -> Iterator[str]:
    if done.grader.judged and done.judge is None:
        yield (
            "no judge was there: what needs one has no value; name one with --judge-endpoint URL "
            "and --judge-model NAME"
        )
    if done.exact:
        yield "exact: neither the reader nor the grader draws, so that no mean has an interval"
    elif given.answers.repeats == 1 and done.draws == 1 and done.sample is None:
        yield (
            "a single draw: the intervals are over questions, and do not hold what the model would "
            "say another time"
        )
    yield from given.answers.warnings


def is_exact(given: ToGrade, judge: InstrumentIdentity | None) -> bool:
    """Whether answering and grading again would give the same to the last bit."""
    measured = given.manifest.determinism
    steady = measured is not None and 0 < measured.queries == measured.identical
    return steady and given.answers.reader.kind == "extractive" and judge is None
