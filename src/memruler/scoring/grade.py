"""Grades the answers of a reader: every answer by one grader, into a folder of its own.

The same answers and the same replies of the judge give the same bytes. What a judge said is kept
by whoever asks it, so that a grading that was stopped pays for nothing twice.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from memruler.errors import FormatError, Refusal, UsageError
from memruler.model.answers import ANSWERS_VERSION, GradesManifest, InstrumentIdentity, Usage
from memruler.replay.provenance import tool
from memruler.scoring.grade_record import GradeSummary
from memruler.scoring.grade_rows import JudgeAsker, Tick, graded_rows, row_counts
from memruler.scoring.grade_said import Done, GradeOutcome, ToGrade, is_exact, summary_of
from memruler.scoring.grade_scores import declared, instrument, scores_csv
from memruler.scoring.graders.base import Grader
from memruler.store.below import NewerFormatError
from memruler.store.folder import MANIFEST
from memruler.store.grades import claim_grades, grades_path, read_manifest, write_grades

__all__ = ["grade_answers", "grade_name"]


def grade_name(grader: str, judge: str | None, sample: int | None = None) -> str:
    """The usual name of a grading: its grader, its judge's model, and whether it is a sample.

    Example:
        >>> grade_name("answer:memruler", "org/judge-1", 40)
        'answer-memruler-org-judge-1-sample-40'
    """
    parts = [grader, judge or "", "" if sample is None else f"sample-{sample}"]
    text = "-".join(part for part in parts if part)
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in text)[:120].strip("-. ")


def grade_answers(
    given: ToGrade,
    grader: Grader,
    judge: JudgeAsker | None,
    *,
    name: str,
    report: Callable[[GradeSummary], str],
    draws: int = 1,
    chosen: Sequence[int] | None = None,
    sample: dict[str, Any] | None = None,
    at_a_time: int = 4,
    tick: Tick = lambda *_: None,
) -> GradeOutcome:
    """Grade every answer and write the folder of the grading.

    Args:
        given: The answers.
        grader: Who scores them.
        judge: Whom it asks; None where it asks nobody, or nobody is there to be asked.
        name: Of the grading.
        report: Writes the page `report.md`.
        draws: How often the judge is asked about each answer.
        chosen: Places of the answers to grade; None for all.
        sample: How they were drawn.
        at_a_time: Answers under way, where a judge is asked.
        tick: Told how many of how many are done.

    Raises:
        UsageError: The grading there is of another judge or reader, or repeats are asked of a
            grader that asks nobody.
        Refusal: There is no answer at all.
        InstrumentError: The judge cannot be asked; what it said is kept, and nothing was written.
    """
    asked = judge if grader.judged else None
    if draws > 1 and asked is None:
        raise UsageError(
            f"{grader.name} asks no judge: graded again it says the same",
            hint="leave --repeats out, or name a judged grader and its --judge-endpoint",
        )
    path = grades_path(given.run, given.answers.name, name)
    sha256 = grader.sha256()
    _require_same(
        path, grader, None if asked is None else asked.identity(grader.name, sha256), sample
    )
    items = given.items if chosen is None else [given.items[place] for place in chosen]
    if not items:
        raise Refusal(["there is no answer to grade"], where=given.answers.name)
    started = datetime.now(UTC).replace(tzinfo=None)
    before = (Usage(), Usage()) if asked is None else (asked.usage(), asked.usage_total())
    work = [(item, draw) for item in items for draw in range(draws)]
    rows = graded_rows(grader, asked, work, at_a_time, tick)
    identity = None if asked is None else asked.identity(grader.name, sha256)
    exact = is_exact(given, identity)
    summary = summary_of(given, Done(name, grader, sha256, identity, rows, draws, sample, exact))
    manifest = GradesManifest(
        version=ANSWERS_VERSION,
        name=name,
        grader=grader.name,
        grader_sha256=sha256,
        metric=grader.metric,
        judge=identity,
        answers=given.answers,
        answers_sha256=given.answers_sha256,
        draws=draws,
        sample=sample,
        counts=row_counts(rows),
        usage=Usage() if asked is None else _since(before[0], asked.usage()),
        usage_total=Usage()
        if asked is None
        else _whoever_paid(_since(before[1], asked.usage_total())),
        started=started,
        finished=datetime.now(UTC).replace(tzinfo=None),
        tool=tool(),
        warnings=summary.notes,
        degraded=summary.degraded,
    )
    meta = declared(
        given.manifest,
        given.answers,
        identity,
        grader=grader.name,
        grader_sha256=sha256,
        metric=grader.metric,
        draws=draws,
        members={f"{row.instance_key}#{row.query}" for row in rows},
        exact=exact,
    )
    files = {
        "scores.csv": scores_csv(rows, given.about, grader.metric),
        "scores.csv.meta.json": msgspec.json.format(msgspec.json.encode(meta), indent=1) + b"\n",
        "summary.json": msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n",
        "report.md": report(summary).encode(),
    }
    with claim_grades(path) as folder:
        _require_same(path, grader, identity, sample)  # another process may have been first
        written = write_grades(folder, manifest, rows, files)
    return GradeOutcome(path, written, summary, manifest.usage)


def _require_same(
    path: Path,
    grader: Grader,
    judge: InstrumentIdentity | None,
    sample: dict[str, Any] | None,
) -> None:
    """One folder, one grader and one judge; a damaged one may be replaced."""
    if not (path / MANIFEST).exists():
        return
    try:
        before = read_manifest(path)
    except NewerFormatError:
        raise
    except FormatError:
        return
    served = None if before.judge is None or judge is None else before.judge.served
    told = []
    if before.grader != grader.name:
        told.append(f"its grader is {before.grader}")
    if _who(before.judge, None) != _who(judge, served):
        told.append("its judge is another one")
    if before.sample != sample:
        told.append("it is of other answers of the reader")
    if told:
        raise UsageError(
            f"there is another grading of this name: {', '.join(told)}",
            where=path,
            hint="choose another --name; two judges do not belong in one folder",
        )


def _who(judge: InstrumentIdentity | None, served: str | None) -> dict[str, Any] | None:
    """The identity but for the grader's digest: a newer grader may grade anew.

    Args:
        judge: Whose.
        served: What stands in where the server was not asked yet.
    """
    if judge is None:
        return None
    found = instrument(judge)
    return {**found, "prompt_sha256": None, "served": found["served"] or served}


def _since(before: Usage, now: Usage) -> Usage:
    """What was used in between: one judge may serve several graders."""

    def less(name: str) -> Any:
        one, other = getattr(now, name), getattr(before, name)
        return one if one is None or other is None else one - other

    names = (name for name in Usage.__struct_fields__ if name != "currency")
    return Usage(**{name: less(name) for name in names}, currency=now.currency)


def _whoever_paid(total: Usage) -> Usage:
    """All that the grades stand on, whoever paid for it and when."""
    return msgspec.structs.replace(total, requests=total.requests + total.reused, reused=0)
