"""May the candidate pass? One metric, paired, against a threshold; and one's own noise band."""

from math import fsum
from pathlib import Path
from typing import Literal

import msgspec

from memruler.compare.beyond import (
    Moved,
    PairedTest,
    SliceRow,
    moved,
    paired_test,
    slice_rows,
)
from memruler.compare.judge_calibration import correct, read_calibration, scaled
from memruler.compare.pairing import Pair, read_pair
from memruler.compare.record import Difference
from memruler.compare.refusal import Incomparable
from memruler.errors import Refusal
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.calibration import Corrected
from memruler.stats.gate import (
    DEFAULT_BAND,
    Outcome,
    Why,
    gate_exact,
    gate_interval,
    own_band,
)
from memruler.stats.interval import Interval

__all__ = ["SCHEMA_VERSION", "Band", "Gate", "band", "gate", "gate_pair"]

_ROUNDING = 2.0**-50
SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate decided, and all that it rests on.

    Attributes:
        ruler: `exact` where both sides are deterministic: then there is no interval and no band.
        outcome: `pass`, `fail` or `unresolved`.
        why: Of `unresolved`: `noise_floor` or `under_powered`.
        metric, cluster: See `Pair`.
        delta: Mean of the paired differences.
        wins, ties, losses: Items whose difference is above, at and below zero.
        counted: Items with a value on both sides.
        absent: Reason to the number of items without.
        interval: With its method, resamples, seed and clusters; None for `exact`.
        corrected: The difference with the judge's errors taken out, which then decides; None
            where no calibration was given.
        threshold: What the difference must exceed.
        band: Half the width of the null band; None for `exact`.
        test: Beside the interval; None for `exact`.
        by: What `slices` are; None where none were asked for.
        slices: A row a slice; the p-values are corrected for their number.
        moved: Every item whose value differs, the greatest losses first.
        changed: The declared differences.
        degraded: Why neither side is to be trusted.
        notes: What a reader must know, one sentence each.
    """

    base: str
    candidate: str
    ruler: Literal["exact", "interval"]
    outcome: Outcome
    why: Why | None
    metric: str
    cluster: str | None
    delta: float
    wins: int
    ties: int
    losses: int
    counted: int
    absent: dict[str, int]
    interval: Interval | None
    corrected: Corrected | None = None
    threshold: float
    band: float | None
    test: PairedTest | None = None
    by: str | None = None
    slices: tuple[SliceRow, ...] = ()
    moved: tuple[Moved, ...] = ()
    changed: tuple[Difference, ...]
    degraded: tuple[str, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """One's own null band.

    Attributes:
        band: Half its width: the wider side of the interval.
        interval: Of the differences of two runs of one configuration.
        degraded: Why neither side is to be trusted.
    """

    base: str
    candidate: str
    metric: str
    cluster: str | None
    band: float
    interval: Interval
    degraded: tuple[str, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION


def gate(
    base: Path,
    candidate: Path,
    *,
    metric: str | None = None,
    threshold: float = 0.0,
    band: float | None = None,
    cluster: str | None = None,
    by: str | None = None,
    changed: tuple[str, ...] = (),
    shared: bool = False,
    calibration: Path | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> Gate:
    """Decide whether a candidate passes.

    Args:
        base: A run folder or a file of scores.
        candidate: Another of the same kind.
        metric: See `read_pair`.
        threshold: What the difference must exceed; negative for non-inferiority.
        band: Half the width of the null band; None for 4 percentage points, or for none where
            both sides are deterministic.
        cluster: See `read_pair`.
        by: What to slice by, named like a cluster key; None for no slices.
        changed: See `read_pair`.
        shared: See `read_pair`.
        calibration: What `memruler judge calibrate` wrote of the judge that gave both sides their
            labels: the gate then decides on the corrected difference.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        Refusal: The two may not be compared; a band is given for a deterministic ruler; fewer
            than two clusters are left; or the calibration is of another judge, or says that the
            labels carry no information.
        UsageError: A name or a number is wrong.
    """
    pair = read_pair(
        base, candidate, metric=metric, cluster=cluster, by=by, changed=changed, shared=shared
    )
    return gate_pair(
        pair,
        threshold=threshold,
        band=band,
        by=by,
        calibration=calibration,
        resamples=resamples,
        seed=seed,
    )


def gate_pair(
    pair: Pair,
    *,
    threshold: float = 0.0,
    band: float | None = None,
    by: str | None = None,
    calibration: Path | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> Gate:
    """Decide on pairs that were read before; see `gate`.

    Args:
        pair: The two sides.
        threshold: As in `gate`.
        band: As in `gate`.
        by: What the slices of `pair` are.
        calibration: As in `gate`.
        resamples: As in `gate`.
        seed: As in `gate`.

    Raises:
        Refusal: As in `gate`.
        UsageError: A number is wrong.
    """
    total, largest = fsum(pair.deltas), max(map(abs, pair.deltas))
    # As in `deltas`: a sum that cancels on paper is zero.
    delta = (
        0.0 if abs(total) <= _ROUNDING * len(pair.deltas) * largest else total / len(pair.deltas)
    )
    interval: Interval | None = None
    why: Why | None = None
    test: PairedTest | None = None
    corrected: Corrected | None = None
    if pair.deterministic:
        if calibration is not None:
            raise Refusal(
                ["both sides are deterministic: no judge had a say, and none is corrected"],
                hint="leave --calibration out",
            )
        outcome = gate_exact(delta, threshold, band=band)
    else:
        band = DEFAULT_BAND if band is None else band
        interval = _interval(pair, resamples, seed)
        if calibration is not None:
            corrected = correct(pair, interval, read_calibration(calibration), calibration)
        outcome, why = _decided(interval, corrected, threshold, band)
        test = paired_test(pair.deltas, pair.clusters, resamples=resamples, seed=seed)
    return Gate(
        base=pair.base,
        candidate=pair.candidate,
        ruler="exact" if interval is None else "interval",
        outcome=outcome,
        why=why,
        metric=pair.metric,
        cluster=pair.cluster,
        delta=delta,
        wins=sum(d > 0 for d in pair.deltas),
        ties=sum(d == 0 for d in pair.deltas),
        losses=sum(d < 0 for d in pair.deltas),
        counted=len(pair.deltas),
        absent=pair.absent,
        interval=interval,
        corrected=corrected,
        threshold=threshold,
        band=band,
        test=test,
        by=by,
        slices=()
        if pair.slices is None
        else slice_rows(pair.deltas, pair.clusters, pair.slices, exact=pair.deterministic),
        moved=moved(pair.ids, pair.deltas),
        changed=pair.changed,
        degraded=pair.degraded,
        notes=pair.notes,
    )


def band(
    one: Path,
    other: Path,
    *,
    metric: str | None = None,
    cluster: str | None = None,
    shared: bool = False,
    resamples: int = 10_000,
    seed: int = 7,
) -> Band:
    """Measure one's own null band from two runs of one configuration.

    Raises:
        Refusal: Something differs between the two, so a difference is not noise alone; or both are
            deterministic, so that there is no noise.
        UsageError: A name or a number is wrong.
    """
    try:
        pair = read_pair(one, other, metric=metric, cluster=cluster, shared=shared)
    except Incomparable as refusal:
        raise _undeclarable(refusal) from None
    if pair.deterministic:
        raise Refusal(
            ["both runs are deterministic: their ruler has no noise, and no band"],
            hint="gate them without --band",
        )
    interval = _interval(pair, resamples, seed)
    return Band(
        base=pair.base,
        candidate=pair.candidate,
        metric=pair.metric,
        cluster=pair.cluster,
        band=own_band(interval),
        interval=interval,
        degraded=pair.degraded,
        notes=pair.notes,
    )


def _decided(
    interval: Interval, corrected: Corrected | None, threshold: float, band: float
) -> tuple[Outcome, Why | None]:
    """What the difference says; with a calibration the corrected one.

    The band is of observed differences, so it grows by 1 / J as they do. A point says as little
    after the correction as before it.
    """
    if corrected is None:
        return gate_interval(interval, threshold, band=band)
    outcome, why = gate_interval(scaled(interval, corrected), threshold, band=band / corrected.j)
    if interval.low == interval.high and outcome != "unresolved":
        seen, unsure = gate_interval(interval, threshold * corrected.j, band=band)
        return (outcome, why) if seen == outcome else ("unresolved", unsure or "under_powered")
    return outcome, why


def _interval(pair: Pair, resamples: int, seed: int) -> Interval:
    return paired_bootstrap(pair.deltas, pair.clusters, resamples=resamples, seed=seed)


def _undeclarable(refusal: Incomparable) -> Incomparable:
    """The refusal of two runs that a change lies between: a band has none to declare."""
    hint = "repeat one run with the other's settings: a band is of one configuration"
    reasons = [
        msgspec.structs.replace(reason, hint=hint) if reason.code == "undeclared" else reason
        for reason in refusal.record.reasons
    ]
    return Incomparable(refusal.record.base, refusal.record.candidate, reasons)
