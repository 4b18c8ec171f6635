"""What an audit says: the records that `memruler audit` writes and prints."""

import msgspec

from memruler.judges.base import JudgeIdentity
from memruler.model.credit import CreditLevel
from memruler.stats.agreement_record import Agreement

__all__ = [
    "SCHEMA_VERSION",
    "Audit",
    "AuditNotes",
    "AuditSlice",
    "JustifiedShare",
    "Rater",
    "RaterPair",
    "Sampled",
]

SCHEMA_VERSION = 1
"""Version of `Audit` and `AuditNotes`; raised with every change that old readers would misread."""


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """How the cases of one target were drawn.

    Attributes:
        run: Stem of the run.
        corpus: Name of the corpus.
        corpus_sha256: Of its files.
        target: Under which the credits are given.
        against: Under which they are not.
        level: What an anchor is.
        k: Depth: only the first k hits of a query count.
        seed: Of the draw.
        wanted: Cases asked for.
        contested: Contested credits there are.
        queries: Queries that have one.
        strata: Category to the contested credits of it, and those that were drawn.
        no_evidence: Drawn cases of which no source turn's text is in the store.
        no_item: Drawn cases whose item has no text that is known; nobody can label these.
        cut: Drawn cases of which a text was too long for a cell and is cut.
    """

    run: str
    corpus: str
    corpus_sha256: str
    target: str
    against: str
    level: CreditLevel
    k: int
    seed: int
    wanted: int
    contested: int
    queries: int
    strata: dict[str, tuple[int, int]]
    no_evidence: int
    no_item: int
    cut: int


class AuditNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in `CASES.csv.meta.json`, beside the file of cases.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        sampled: How the cases were drawn, one a target.
        judges: Rater to the instrument that filled its column; people are not in it.
    """

    schema_version: int = SCHEMA_VERSION
    sampled: tuple[Sampled, ...] = ()
    judges: dict[str, JudgeIdentity] = {}


class Rater(msgspec.Struct, frozen=True, kw_only=True):
    """One column of labels.

    Attributes:
        name: Of the person or judge.
        labelled: Cases with a label.
        blank: Cases without one.
        labels: Label to how often it was given.
        judge: The instrument, as noted beside the file; None for a person, or where the note is
            gone.
    """

    name: str
    labelled: int
    blank: int
    labels: dict[str, int]
    judge: JudgeIdentity | None


class RaterPair(msgspec.Struct, frozen=True, kw_only=True):
    """How far two raters agree on the cases that both labelled.

    Attributes:
        first, second: Their names.
        cases: Cases that both labelled.
        agreement: Share of these on which they agree; None without a value.
        kappa: Cohen's kappa; likewise.
        reason: Why both are None; None where they are not.
    """

    first: str
    second: str
    cases: int
    agreement: Agreement | None
    kappa: Agreement | None
    reason: str | None


class JustifiedShare(msgspec.Struct, frozen=True, kw_only=True):
    """How often relaxed credit is justified.

    Attributes:
        value: Justified cases over decided ones; None where none is decided.
        justified: Cases whose majority justifies the credit.
        of: Decided cases.
        low, high: Ends of the 95 % interval; None without one.
        queries: Queries of the decided cases; the interval resamples them whole.
        method: `exact` or `monte-carlo` for the bootstrap; `wilson` where every decided case says
            the same, with each query as one trial; None without an interval.
        no_interval: Why there is none; None where there is one.
        warnings: What a reader must know, one sentence each.
    """

    value: float | None
    justified: int
    of: int
    low: float | None
    high: float | None
    queries: int
    method: str | None
    no_interval: str | None
    warnings: tuple[str, ...] = ()


class AuditSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of one data set, target, category, or a mix of these.

    Attributes:
        by: What its cases have in common, by column; empty for all.
        cases: Cases.
        pairs: Distinct pairs of a query and an item: one item may be contested under two targets.
        queries: Distinct queries.
        majority: Label to the cases that it has the majority of.
        ties: Cases with labels, but no majority.
        unlabelled: Cases without a label.
        supports: Share with the majority for `supports`.
        supports_or_partial: Share with the majority for `supports` or for `partial`.
    """

    by: dict[str, str]
    cases: int
    pairs: int
    queries: int
    majority: dict[str, int]
    ties: int
    unlabelled: int
    supports: JustifiedShare
    supports_or_partial: JustifiedShare


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of labelled cases says.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        file: Its name.
        raters: Everybody with a column of labels, in its order.
        agreement: Pairwise agreement of all raters who labelled anything; None where it has no
            value.
        fleiss: Fleiss' kappa over the cases that every one of them labelled; likewise.
        no_agreement: Why either is None; None where neither is.
        rater_pairs: Every two raters who labelled anything.
        slices: All cases first, then by whatever differs among them.
        sampled: How the cases were drawn; empty where the note beside the file is gone.
        ignored: Columns that are neither a case's own nor a rater's.
        notes: What explains the numbers, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    file: str
    raters: tuple[Rater, ...]
    agreement: Agreement | None
    fleiss: Agreement | None
    no_agreement: str | None
    rater_pairs: tuple[RaterPair, ...]
    slices: tuple[AuditSlice, ...]
    sampled: tuple[Sampled, ...]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
