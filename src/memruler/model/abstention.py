"""What a memory and a reader do with questions that have no answer."""

from typing import Any, Literal

import msgspec

__all__ = [
    "SCHEMA_VERSION",
    "Abstention",
    "Counts",
    "HeldOut",
    "ReaderAbstention",
    "RetrievalAbstention",
    "Signal",
    "SweepPoint",
]

SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""

Signal = Literal["top1", "margin", "mean"]
"""What of the scores is looked at: the first hit's, its lead over the second, or the mean of all
within k."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Refusals over queries with and without an answer; see `memruler.metrics.abstention`.

    Attributes:
        name: Of the category; `all` for all.
        refused_unanswerable: Of `unanswerable`, those that were refused.
        refused_answerable: Of `answerable`, those that were refused.
        precision: Refused ones without an answer, of all refused; None where nothing was refused
            or all queries are of one kind, which alone would decide it.
        recall: Refused ones of those without an answer; None where there are none of these.
        over_refusal: Refused ones of those with an answer; None where there are none of these.
        f1: Of precision and recall; None where both have nothing to be over, or all queries are of
            one kind.
        balanced_accuracy: Mean of recall and 1 - over_refusal; None where either is.
        absent: Name of each that is None to the reason.
    """

    name: str
    refused_unanswerable: int
    unanswerable: int
    refused_answerable: int
    answerable: int
    precision: float | None
    recall: float | None
    over_refusal: float | None
    f1: float | None
    balanced_accuracy: float | None
    absent: dict[str, str]


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What one threshold would have done.

    Attributes:
        threshold: Below it, refuse; None for the one that refuses all.
        counts: The outcome.
        youden: J = recall - over-refusal; None where either is.
    """

    threshold: float | None
    counts: Counts
    youden: float | None


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """Each conversation refused by the threshold that is best in all the others.

    Attributes:
        folds: Conversations that had one.
        of: Conversations.
        skipped: Queries of the other ones.
        lowest, highest: Of the thresholds; None for one that refuses all.
        counts: All held-out verdicts together.
    """

    folds: int
    of: int
    skipped: int
    lowest: float | None
    highest: float | None
    counts: Counts


class RetrievalAbstention(msgspec.Struct, frozen=True, kw_only=True):
    """Would the scores have told that there is no answer?

    Attributes:
        signal: What of the scores was looked at.
        k: Depth of `mean`.
        queries: That were looked at.
        empty: Of these, those that nothing was returned to: refused at every threshold.
        unscored: Reason to the number of queries that were left out.
        auroc: How often a query with an answer has the higher signal; ties count half.
        distinct: Different values of the signal.
        best: The threshold with the largest Youden J, chosen on the very queries that it is
            counted on, which flatters.
        held_out: The same without that; None where there is one conversation.
        no_held_out: Why there is none; None where there is.
        sweep: Some thresholds, from one that refuses least to one that refuses all.
        categories: `best`, by category.
    """

    signal: Signal
    k: int
    queries: int
    empty: int
    unscored: dict[str, int]
    auroc: float
    distinct: int
    best: SweepPoint
    held_out: HeldOut | None
    no_held_out: str | None
    sweep: tuple[SweepPoint, ...]
    categories: tuple[Counts, ...]


class ReaderAbstention(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader refused.

    Attributes:
        answers: Name of the answers.
        reader: Kind and model.
        rule: What counts as a refusal: `official` or `wide` phrases.
        grade: A grading whose labels say whether queries without an answer were refused; None
            where the phrases say it of all.
        queries: Answers that were looked at; of every query the first draw.
        unscored: Reason to the number that were left out.
        degraded: What the answers and the grades say against themselves.
        all: Over all categories.
        categories: By category.
    """

    answers: str
    reader: str
    rule: str
    grade: str | None
    queries: int
    unscored: dict[str, int]
    degraded: tuple[str, ...]
    all: Counts
    categories: tuple[Counts, ...]


class Abstention(msgspec.Struct, frozen=True, kw_only=True):
    """Abstention in a run; never one table with recall.

    Attributes:
        run: Stem of the run.
        corpus: Name and digest.
        answerable, unanswerable: Queries of the run that the data set says have an answer, or none.
        retrieval: None where it cannot be measured.
        no_retrieval: Why; None where it can.
        reader: None where there is no answer.
        notes: What a reader must know, one sentence each.
        degraded: Why it must not be trusted.
    """

    run: str
    corpus: dict[str, Any]
    answerable: int
    unanswerable: int
    retrieval: RetrievalAbstention | None
    no_retrieval: str | None
    reader: ReaderAbstention | None
    notes: tuple[str, ...]
    degraded: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION
