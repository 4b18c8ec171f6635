"""What a grading says: the records that reports and scripts read."""

from typing import Any, Literal

import msgspec

from memruler.model.answers import InstrumentIdentity, Usage
from memruler.scoring.grade_official import OfficialLine
from memruler.stats.interval import Interval

__all__ = [
    "SCHEMA_VERSION",
    "Detail",
    "GradeSlice",
    "GradeSummary",
    "GradesDocument",
    "JudgeFlips",
    "ParserCounts",
]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """A number beside the value.

    Attributes:
        of: Gradings that have it.
        mean: Over these.
    """

    of: int
    mean: float


class GradeSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of one category, or all.

    Attributes:
        name: `all`, or the category.
        items: Queries.
        answered: Of `items`, those with an answer, be it empty.
        scored: Of `items`, those with a value.
        mean: Over the scored; None where there are none, or where only a sample was graded.
        floor: The same with every unscored item counted as 0; None likewise.
        interval: Of the mean; None for an exact ruler, or for want of a mean.
        no_interval: Why; None where there is one.
        unscored: Reason to the gradings without a value.
        labels: Label to the gradings that carry it.
        details: Numbers beside the value, by name.
    """

    name: str
    items: int
    answered: int
    scored: int
    mean: float | None
    floor: float | None
    interval: Interval | None = None
    no_interval: str | None = None
    unscored: dict[str, int] = {}
    labels: dict[str, int] = {}
    details: dict[str, Detail] = {}


class ParserCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How often a stricter reading of the same reply disagrees.

    Attributes:
        of: Gradings with a value that have a strict reading at all.
        apart: Of these, those in which it decides nothing or otherwise.
        undecided: Of `apart`, those in which it decides nothing.
        higher: Of `apart`, those in which the rule in use gives more.
    """

    of: int
    apart: int
    undecided: int
    higher: int


class JudgeFlips(msgspec.Struct, frozen=True, kw_only=True):
    """How steady the judge is when it is asked again about the same answer.

    Attributes:
        draws: How often it was asked.
        of: Answers with at least two values.
        flipped: Of these, those whose values differ.
        ties: Of `flipped`, those without a majority; they count as wrong.
    """

    draws: int
    of: int
    flipped: int
    ties: int


class GradeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a grading says.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        name: Of the grading.
        run, answers: Stem of the run and name of the answers.
        corpus: Its name.
        grader, grader_sha256, metric: See `GradesManifest`.
        accuracy: Whether the mean may be called an accuracy.
        reader, judge: Who answered, and who judged.
        ruler: `exact` where a repetition would give the same to the last bit, else `draw`.
        repeats: Draws of the reader.
        cluster: What the intervals resample whole.
        slices: All first, then the categories in the order of the data set's own print.
        official: What the data set's own script would print, with what it hides.
        parser: None where the grader has no strict reading.
        flips: None where the judge was asked once.
        sample: See `GradesManifest`.
        notes: What a reader must know, one sentence each.
        degraded: Why it must not be trusted.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    run: str
    answers: str
    corpus: str
    grader: str
    grader_sha256: str
    metric: str
    accuracy: bool
    reader: InstrumentIdentity
    judge: InstrumentIdentity | None
    ruler: Literal["exact", "draw"]
    repeats: int
    cluster: str
    slices: tuple[GradeSlice, ...]
    official: tuple[OfficialLine, ...]
    parser: ParserCounts | None
    flips: JudgeFlips | None
    sample: dict[str, Any] | None
    notes: tuple[str, ...]
    degraded: tuple[str, ...]


class GradesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What one call graded.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        gradings: A summary a grader, in order.
        folders: Where each lies.
        usage: What the judge cost now, for each.
    """

    schema_version: int = SCHEMA_VERSION
    gradings: tuple[GradeSummary, ...]
    folders: tuple[str, ...]
    usage: tuple[Usage, ...]
