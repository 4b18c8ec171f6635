"""What an audit says: the records that `memruler audit` writes and prints."""

from typing import Literal

import msgspec

from memruler.judges.base import JudgeIdentity
from memruler.model.credit import CreditLevel, CreditRule
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
    "WeightedShare",
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
        rule: How credit is counted.
        k: Depth: only the first k hits of a query count.
        seed: Of the draw.
        wanted: Cases asked for.
        contested: Contested items: admitted by `target` and not by `against`.
        gaining: Those of them that gain credit at their rank.
        drawn_from: `gaining`, or all that are `contested`.
        queries: Queries that have one of these.
        strata: Category to those there are of it, and those that were drawn.
        without: Categories of the run that have none.
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
    rule: CreditRule
    k: int
    seed: int
    wanted: int
    contested: int
    gaining: int
    drawn_from: Literal["gaining", "contested"]
    queries: int
    strata: dict[str, tuple[int, int]]
    without: tuple[str, ...]
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
        apart: Pairs that it labelled in two ways under two targets; they count as blank wherever
            both targets are pooled, and in agreement.
        blind: Whether every label stands in a file that shows only the texts, or is a judge's,
            who is shown nothing else.
        judge: The instrument, as noted beside the file; None for a person, or where the note is
            gone.
    """

    name: str
    labelled: int
    blank: int
    labels: dict[str, int]
    apart: int
    blind: bool
    judge: JudgeIdentity | None


class RaterPair(msgspec.Struct, frozen=True, kw_only=True):
    """How far two raters agree on the pairs of a query and an item that both labelled.

    Attributes:
        first, second: Their names.
        pairs: Pairs that both labelled.
        agreement: Share of these on which they agree; None without a value.
        kappa: Cohen's kappa; likewise.
        reason: Why both are None; None where they are not.
    """

    first: str
    second: str
    pairs: int
    agreement: Agreement | None
    kappa: Agreement | None
    reason: str | None


class WeightedShare(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate for all the credits that were drawn from.

    Every decided case counts as many of them as it stands for: those of its category over those
    that were drawn of it.

    Attributes:
        value: Weight of the justified cases over that of the decided ones.
        low, high: Ends of the 95 % interval; None without one, for the reason of the plain share.
    """

    value: float
    low: float | None
    high: float | None


class JustifiedShare(msgspec.Struct, frozen=True, kw_only=True):
    """How often relaxed credit is justified, in pairs of a query and an item.

    Attributes:
        value: Justified pairs over decided ones; None where none is decided.
        justified: Pairs whose majority justifies the credit.
        of: Decided pairs.
        low, high: Ends of the 95 % interval; None without one.
        queries: Queries of the decided pairs; the interval resamples them whole.
        weighted: The same, weighted by category; None without.
        no_weights: Why; None where there is one.
        method: `exact` or `monte-carlo` for the bootstrap; `wilson` where every decided pair says
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
    weighted: WeightedShare | None
    no_weights: str | None
    method: str | None
    no_interval: str | None
    warnings: tuple[str, ...] = ()


class AuditSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of one data set, target, category, or a mix of these.

    Every number but `cases` counts each pair once: one item may be contested under two targets.

    Attributes:
        by: What its cases have in common, by column; empty for all.
        cases: Rows.
        pairs: Distinct pairs of a query and an item.
        queries: Distinct queries.
        majority: Label to the pairs that it has the majority of.
        ties: Pairs with labels, but no majority.
        unlabelled: Pairs without a label.
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
        files: Names of what was read.
        raters: Everybody with a column of labels, in its order.
        agreement: Pairwise agreement of all raters who labelled anything; None where it has no
            value.
        fleiss: Fleiss' kappa over the pairs that every one of them labelled; likewise.
        no_agreement: Why either is None; None where neither is.
        rater_pairs: Every two raters who labelled anything.
        same: Column to what it holds in all cases; there are no slices by it.
        slices: All cases first, then by whatever differs among them.
        sampled: How the cases were drawn; empty where the note beside the file is gone.
        ignored: Columns that are neither a case's own nor a rater's.
        notes: What explains the numbers, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    files: tuple[str, ...]
    raters: tuple[Rater, ...]
    agreement: Agreement | None
    fleiss: Agreement | None
    no_agreement: str | None
    rater_pairs: tuple[RaterPair, ...]
    same: dict[str, str]
    slices: tuple[AuditSlice, ...]
    sampled: tuple[Sampled, ...]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
