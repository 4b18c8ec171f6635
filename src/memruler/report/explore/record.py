"""What the explorer of queries shows, as records; also the JSON that a page gets.

Three calls give it all: `Overview`, `Found` and `QueryDetail`. A tuple with one entry a run has the
baseline first; None stands there where a run lacks the query or the value.
"""

from typing import Final, Literal

import msgspec

from memruler.model.summary import Level

__all__ = [
    "CUT",
    "QUESTION",
    "AnswerDetail",
    "Changed",
    "Count",
    "Evidence",
    "Filter",
    "Found",
    "GradeDetail",
    "HitDetail",
    "Index",
    "Overview",
    "QueryDetail",
    "Row",
    "RunDetail",
    "RunHead",
    "Text",
    "Value",
]

CUT: Final = 4_000
"""Most characters of a text that a page gets."""

QUESTION: Final = 300
"""Most characters of a question in a list."""

Changed = Literal["up", "down", "other"]
"""Which way a query moved on the headline; `other` where only another metric or cut-off moved."""


class Text(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text from a run, perhaps cut.

    Attributes:
        text: Its first characters; None where it is not known.
        length: Characters of the whole; 0 where it is not known.
        why: Why it is not known.
    """

    text: str | None = None
    length: int = 0
    why: str | None = None


class Count(msgspec.Struct, frozen=True):
    """How many rows one choice of a filter has: `of` counts a row once, whichever run it is of."""

    name: str
    of: int


class RunHead(msgspec.Struct, frozen=True, kw_only=True):
    """One run, as far as the explorer needs it.

    Attributes:
        name: What to call it.
        system: Name of the system measured.
        population: Name of the set of queries that means are over.
        metric: The headline as a metric id, such as `recall_all@5`; None where the run has none.
        level: The headline's level; None as `metric`.
        counted: Queries that have a value of it.
        of: Queries of the run.
        mean: Mean over `counted`; None where that is 0.
        stages: When a query counts as missed for its stage: one sentence.
        targets: Target to None, or to the reason why it cannot be asked of this store.
        anchors: What a piece of evidence is: a turn, or a session where no turns are stored.
        answers: Names of the answers shown.
        notes: What a reader must know.
    """

    name: str
    system: str
    population: str
    metric: str | None
    level: Level | None
    counted: int
    of: int
    mean: float | None
    stages: str
    targets: dict[str, str | None]
    anchors: Level
    answers: tuple[str, ...]
    notes: tuple[str, ...]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What a page needs before it shows a row.

    Attributes:
        runs: One run, or baseline and candidate.
        rows: How many there are.
        categories: In the order of the runs.
        stages: In pipeline order; only those that occur.
        excluded: Rows that have no headline value in some run.
        missed: Rows whose headline value is below 1 in some run.
        changed: How many moved; None where the runs do not compare, or there is one.
        why: Why `changed` is not offered, one reason each; empty where it is, or there is one run.
    """

    runs: tuple[RunHead, ...]
    rows: int
    categories: tuple[Count, ...]
    stages: tuple[Count, ...]
    excluded: int
    missed: int
    changed: dict[Changed, int] | None
    why: tuple[str, ...]


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Every row as columns of one length [N]; texts stay on disk.

    Attributes:
        key: Instance key.
        id: The data set's id of the query.
        category: Name.
        stage: A column a run: where the query was lost, None where it was not or has no value.
        value: A column a run: the headline; None where there is none.
        reason: A column a run: why there is no headline value; None where there is one.
        rank: A column a run: of the first hit that is evidence; None where no hit is, 1-based.
        changed: None where it did not change, or where `Overview.changed` is None.
    """

    key: tuple[str, ...]
    id: tuple[str, ...]
    category: tuple[str, ...]
    stage: tuple[tuple[str | None, ...], ...]
    value: tuple[tuple[float | None, ...], ...]
    reason: tuple[tuple[str | None, ...], ...]
    rank: tuple[tuple[int | None, ...], ...]
    changed: tuple[Changed | None, ...]


class Filter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which rows are wanted; all that is set must hold.

    Attributes:
        category: Name.
        stage: Of some run.
        changed: A way, or `any`.
        excluded: Whether some run has no headline value.
        missed: Whether the headline value is below 1 in some run.
        text: Part of the question (its first `CUT` characters), the id or the instance key;
            upper and lower case are one.
    """

    category: str | None = None
    stage: str | None = None
    changed: Literal["up", "down", "other", "any"] | None = None
    excluded: bool | None = None
    missed: bool | None = None
    text: str | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a list; `row` names it in links and in `detail`. See `Index`."""

    row: int
    key: str
    id: str
    category: str
    question: Text
    stage: tuple[str | None, ...]
    value: tuple[float | None, ...]
    reason: tuple[str | None, ...]
    rank: tuple[int | None, ...]
    changed: Changed | None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the rows that a filter lets through, in order; `total` counts all of them."""

    total: int
    offset: int
    rows: tuple[Row, ...]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One gold turn, or gold session.

    Attributes:
        session, turn: Positions; `turn` is None where evidence is whole sessions.
        text: As the store holds it, with the speaker and the date where these were stored.
        rank: A run each: of the first hit that comes from it, 1-based; None where none does.
        stage: A run each: where it was lost; None where it was not.
    """

    session: int
    turn: int | None
    text: Text
    rank: tuple[int | None, ...]
    stage: tuple[str | None, ...]


class HitDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One returned item.

    Attributes:
        rank: 1-based.
        score: As the system gave it; None where it gave none.
        item: The system's id of it.
        kind: What form it is: `turn`, `fact`, `summary`, ...
        sources: Source sessions and turns, by position; `turn` is None for a whole session.
        text: Of the item.
        credit: Target to the levels at which it earns credit; a target without any is left out.
        moved: Ranks that the item gained from the baseline to the candidate, below 0 where it
            lost some; None where only one of them returned it, or there is one run. What was said
            is the same item by its source; what a system made, by kind, sources and text.
    """

    rank: int
    score: float | None
    item: str
    kind: str
    sources: tuple[tuple[int, int | None], ...]
    text: Text
    credit: dict[str, tuple[Level, ...]]
    moved: int | None = None


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of this query, as scores.parquet holds it; None with its reason."""

    level: Level
    metric: str
    value: float | None
    reason: str | None


class GradeDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What a grader said of an answer; `value` is None with a reason."""

    name: str
    value: float | None
    reason: str | None
    label: str | None


class AnswerDetail(msgspec.Struct, frozen=True, kw_only=True):
    """The first answer to a query, and its gradings.

    Attributes:
        name: Of the answers.
        text: What was said; not known where it failed.
        grades: First draw of each grading.
    """

    name: str
    text: Text
    grades: tuple[GradeDetail, ...]


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One query in one run.

    Attributes:
        hits: By rank.
        error: Of a failed search.
        stage: Where the query was lost; None where it was not.
        values: Every metric at the headline's cut-off, both levels.
        answers: Those that the run holds.
    """

    hits: tuple[HitDetail, ...]
    error: Text | None
    stage: str | None
    values: tuple[Value, ...]
    answers: tuple[AnswerDetail, ...]


class QueryDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One query in full.

    Attributes:
        row, key, id, category, changed: As in `Row`.
        query: Position within the instance.
        question: Its text.
        gold: The answer of the data set.
        answerable: False where the data set says that no answer exists.
        asked: When, as ISO 8601; None where that is not known.
        evidence: Its gold under the population's rule.
        unresolved: References of the data set that lead to no turn.
        runs: One a run; None where the run lacks the query.
    """

    row: int
    key: str
    id: str
    query: int
    category: str
    changed: Changed | None
    question: Text
    gold: Text
    answerable: bool
    asked: str | None
    evidence: tuple[Evidence, ...]
    unresolved: tuple[str, ...]
    runs: tuple[RunDetail | None, ...]
