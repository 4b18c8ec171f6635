"""At which stage an answer, or the evidence for it, was lost; in the order of the pipeline."""

from typing import Any, Literal

import msgspec

__all__ = [
    "SCHEMA_VERSION",
    "STAGES",
    "EvidencePart",
    "Failures",
    "MissedItem",
    "Stage",
    "StageCounts",
]

SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""

Stage = Literal[
    "ingest",
    "extraction",
    "graph",
    "ranking",
    "compression",
    "reader",
    "not_verbatim",
    "unknown",
]

STAGES: tuple[Stage, ...] = (
    "ingest",
    "extraction",
    "graph",
    "ranking",
    "compression",
    "reader",
    "not_verbatim",
    "unknown",
)
"""In pipeline order; the last two say that it cannot be told."""


class EvidencePart(msgspec.Struct, frozen=True, kw_only=True):
    """One gold turn, or gold session, of a missed item.

    Attributes:
        session, turn: Positions; `turn` is None where evidence is whole sessions.
        stage: Where it was lost; None where the context holds a form that comes from it.
        why: One sentence; None where it was not lost.
        text: As it was said, where the run holds that; None where it does not.
    """

    session: int
    turn: int | None
    stage: Stage | None
    why: str | None
    text: str | None = None


class MissedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A query that was missed, and the one stage that it is filed under.

    Attributes:
        instance, query: Positions.
        instance_key: The conversation.
        id: Of the query.
        category: Its category's name.
        answerable: False when the data set says that no answer exists.
        question: Its text.
        gold: The answer; None when missing.
        answer: What was said; None where only retrieval is looked at.
        value: What the grader gave, a mean over draws; None where only retrieval is looked at.
        stage: The stage.
        why: One sentence.
        evidence: Its gold.
        gold_in_context: Whether the gold answer stands word for word in what the reader was given;
            None where there is no answer, no gold text, or the texts are not known.
    """

    instance: int
    query: int
    instance_key: str
    id: str
    category: str
    answerable: bool
    question: str
    gold: str | None
    answer: str | None
    value: float | None
    stage: Stage
    why: str
    evidence: tuple[EvidencePart, ...]
    gold_in_context: bool | None


class StageCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The missed items of a category, or of all, by stage.

    Attributes:
        category: Its name; None for all.
        queries: How many there are.
        scored: Those of them that have a value.
        missed: Those of them that are missed.
        stages: Every stage to its number of missed items.
        unscored: Reason to the number of queries without a value.
    """

    category: str | None
    queries: int
    scored: int
    missed: int
    stages: dict[Stage, int]
    unscored: dict[str, int]


class Failures(msgspec.Struct, frozen=True, kw_only=True, tag="failures", tag_field="kind"):
    """Every missed item of a run under the stage that lost it.

    Attributes:
        run: Stem of the run.
        ruler: `retrieval`: missed is what lacks evidence within k; `answers`: what was answered
            wrongly. The two are never mixed.
        answers, grade, grader, metric: Which answers, which grading of them, by whom, and what
            its value is called; None under `retrieval`.
        rule: When an item is missed, one sentence.
        population: Name of the set of queries.
        level: What evidence is: `turn` or `session`.
        k: Depth of the context.
        all: Over all queries.
        categories: Over each category, by name.
        filters: Which items are listed, by name of the filter.
        selected: Missed items that pass the filters.
        items: Of these, those that are listed.
        identity: What must be equal for two to be compared.
        notes: What a reader must know, one sentence each.
        degraded: Why it must not be trusted.
    """

    run: str
    ruler: Literal["retrieval", "answers"]
    answers: str | None
    grade: str | None
    grader: str | None
    metric: str | None
    rule: str
    population: str
    level: Literal["turn", "session"]
    k: int
    all: StageCounts
    categories: tuple[StageCounts, ...]
    filters: dict[str, str]
    selected: int
    items: tuple[MissedItem, ...]
    identity: dict[str, Any]
    notes: tuple[str, ...]
    degraded: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION
