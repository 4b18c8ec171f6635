"""One or two files of repeated draws, summed up: majorities, flips, and what is left between."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from memruler.compare.comparable import declared_reasons
from memruler.compare.fingerprint import differences
from memruler.compare.load import names
from memruler.compare.record import Difference, Reason
from memruler.compare.refusal import Incomparable
from memruler.compare.repeat_file import RepeatFile, read_repeat_file
from memruler.compare.score_file import RESERVED
from memruler.errors import Refusal, UsageError
from memruler.stats.repeats import RepeatedSide, repeated_side
from memruler.stats.repeats_pair import RepeatedPair, repeated_pair

__all__ = ["SCHEMA_VERSION", "Repeats", "repeats"]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""

_SHOWN = 8
_NO_DRAW = Reason(
    code="determinism",
    what="both sides are declared deterministic: their difference is a fact, without repeats and "
    "without an interval",
    hint="memruler gate decides on it",
)


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """What the repeats of one side, or of two, say.

    Attributes:
        base: Name of the file, or of the baseline.
        candidate: Name of the candidate; None where there is one file.
        label: The column of labels.
        cluster: The column that items are clustered by; None where each stands alone.
        side: Of one file; None where there are two.
        pair: Of two files, each side in it; None where there is one.
        changed: The declared differences.
        notes: What a reader must know, one sentence each.
    """

    base: str
    candidate: str | None
    label: str
    cluster: str | None
    side: RepeatedSide | None
    pair: RepeatedPair | None
    changed: tuple[Difference, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION


def repeats(
    base: Path,
    candidate: Path | None = None,
    *,
    label: str | None = None,
    cluster: str | None = None,
    changed: tuple[str, ...] = (),
    resamples: int = 10_000,
    seed: int = 7,
) -> Repeats:
    """Sum up the repeats of one file, or hold those of two against each other.

    Args:
        base: A file of scores with a column of labels; see `repeat_file`.
        candidate: Another over the same items; None for one side.
        label: The column of labels; None where there is one such column.
        cluster: The column that items are clustered by, for the intervals; None where each item
            stands alone.
        changed: What is under test; see `differences`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        Incomparable: The two files differ in what they declare, or in their items.
        UsageError: A name is wrong, or a label is neither 0 nor 1.
        CorpusError: A row is wrong.
    """
    for option, column in (("--label", label), ("--cluster", cluster)):
        if column in RESERVED:
            raise UsageError(f"{option} {column}: that column has a meaning of its own")
    if candidate is None:
        if cluster is not None or changed:
            raise UsageError(
                f"{'--cluster' if cluster is not None else '--changed'} is of two files",
                hint="name a candidate too, or leave it out",
            )
        return _one(read_repeat_file(base, base.name), label)
    # Only where both exist: a file that is missing is told by its reader.
    if base.exists() and candidate.exists() and base.samefile(candidate):
        raise UsageError("both sides are the same", where=base, hint="name two")
    one, other = names(base, candidate)
    left, right = read_repeat_file(base, one), read_repeat_file(candidate, other)
    chosen = _label([left, right], label, cluster)
    found = differences(left.declared, right.declared, changed)
    reasons = declared_reasons(found)
    if _deterministic(left) and _deterministic(right):
        reasons.append(_NO_DRAW)
    base_draws, candidate_draws = left.draws(chosen), right.draws(chosen)
    clusters = None if cluster is None else _clusters(left, right, cluster)
    try:
        pair = repeated_pair(
            base_draws, candidate_draws, clusters=clusters, resamples=resamples, seed=seed
        )
    except Refusal as refusal:
        reasons += _told(refusal)
        raise Incomparable(one, other, reasons) from None
    if reasons:
        raise Incomparable(one, other, reasons)
    return Repeats(
        base=left.name,
        candidate=right.name,
        label=chosen,
        cluster=cluster,
        side=None,
        pair=pair,
        changed=found.declared,
        notes=tuple(_pair_notes(left, right, pair)),
    )


def _one(file: RepeatFile, asked: str | None) -> Repeats:
    label = _label([file], asked, None)
    side = repeated_side(file.draws(label))
    return Repeats(
        base=file.name,
        candidate=None,
        label=label,
        cluster=None,
        side=side,
        pair=None,
        changed=(),
        notes=tuple(_side_notes(file, side)),
    )


def _label(files: Sequence[RepeatFile], asked: str | None, cluster: str | None) -> str:
    """The column of labels: the one asked for, else the only one that could be it."""
    if asked is not None:
        return asked
    # A side on which everything erred has no label to show, and does not hide the other's.
    known = [file.metrics for file in files if file.metrics]
    could = [
        column
        for column in (known[0] if known else ())
        if column != cluster and all(column in metrics for metrics in known)
    ]
    where = " against ".join(file.name for file in files)
    if not could:
        raise UsageError(
            "no column holds labels alone",
            where=where,
            hint="name it with --label: the first cell that is neither 0 nor 1 will be named",
        )
    if len(could) > 1:
        raise UsageError(
            "which column holds the labels?",
            where=where,
            hint=f"--label with one of {', '.join(could[:_SHOWN])}",
        )
    return could[0]


def _told(refusal: Refusal) -> list[Reason]:
    hint = refusal.hint or "score the same items on both sides"
    return [Reason(code="queries", what=what, hint=hint) for what in refusal.reasons]


def _clusters(left: RepeatFile, right: RepeatFile, column: str) -> dict[str, str]:
    """The cluster of each item, from either side; where both name one it must be the same."""
    one, other = left.clusters(column), right.clusters(column)
    if not one and not other:
        raise UsageError(
            f"no such column to cluster by: {column!r}", hint="neither file has it; check the name"
        )
    for item in one.keys() & other.keys():
        if one[item] != other[item]:
            raise UsageError(
                f"an item has not the same {column} on both sides",
                where=item,
                hint="mend the files",
            )
    return {**other, **one}


def _deterministic(file: RepeatFile) -> bool:
    return file.declared.get("deterministic") is True


def _side_notes(file: RepeatFile, side: RepeatedSide) -> Iterator[str]:
    if _deterministic(file) and side.flips is not None and side.flips.items:
        yield f"{file.name} is declared deterministic, but its labels flip"


def _pair_notes(left: RepeatFile, right: RepeatFile, pair: RepeatedPair) -> Iterator[str]:
    yield from _side_notes(left, pair.base)
    yield from _side_notes(right, pair.candidate)
    if pair.base.repeats != pair.candidate.repeats:
        yield (
            "the sides do not have the same numbers of repeats: their flip rates do not "
            "compare, the chances that two draws disagree do"
        )
    if not (left.declared and right.declared):
        yield (
            "what was measured is not declared (a file NAME.meta.json beside each side): whether "
            "the two may be compared was not checked"
        )
