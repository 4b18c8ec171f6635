"""How far a judge can be trusted, as a document; and whose verdicts it may correct."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.pairing import Pair
from memruler.errors import FormatError, Refusal
from memruler.model.answers import InstrumentIdentity, Usage
from memruler.scoring.grade_scores import instrument
from memruler.stats.calibration import Calibration, Corrected, corrected_delta
from memruler.stats.interval import Interval
from memruler.store.safe import read_bytes

__all__ = [
    "SCHEMA_VERSION",
    "JudgeCalibration",
    "ProbeRow",
    "correct",
    "read_calibration",
    "scaled",
]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""

_AGAIN = "calibrate this judge: memruler judge calibrate RUN --json > FILE"
_LABELS = {-1.0, 0.0, 1.0}
_SHARES = {"f1", "rubric"}


class ProbeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge made of one kind of probes.

    Attributes:
        kind: `gold`, `refusal` (right); `swapped`, `vague`, `answered`, `injected` (wrong).
        style: Of injected probes, how they try; None for the row of the whole kind.
        truth: Whether these answers are right.
        probes: How many were shown.
        judged: Of `probes`, those with a verdict.
        accepted: Of `judged`, those that it called right.
        rate: `accepted / judged`; None where nothing was judged.
        low, high: Ends of its 95 % Wilson interval; None likewise.
        unjudged: Reason to the number without a verdict.
    """

    kind: str
    style: str | None = None
    truth: bool
    probes: int
    judged: int
    accepted: int
    rate: float | None
    low: float | None
    high: float | None
    unjudged: dict[str, int] = {}


class JudgeCalibration(msgspec.Struct, frozen=True, kw_only=True):
    """What probes of known truth say of a judge.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        grader, grader_sha256, metric: Whose questions it was asked.
        judge: Which instrument it is.
        corpus: Name and SHA-256 of the corpus that the probes are made from.
        source: Stem of the run, or name of the file of probes.
        seed: Of the draw; None for probes from a file.
        items: Distinct questions that were probed.
        rows: A row a kind, and of injected probes one a style.
        rates: TPR, FPR and J over all kinds but `injected`, as readers answer; None where one of
            the two sides has no verdict.
        no_rates: Why; None where there are rates.
        with_injected: The same with injected probes among the wrong ones; None likewise.
        blind: Whether its verdicts carry no information: J is not above 0.
        obeys: Of injected probes that were judged, how many it accepted; None without any.
        left_out: Why questions of the corpus gave no probe, and how many.
        verdict: What it comes to, one sentence each, the gravest first.
        usage_total: Tokens and cost of all replies that it stands on.
        tool: memruler's version, commit, digest; as in a run's manifest.
    """

    schema_version: int = SCHEMA_VERSION
    grader: str
    grader_sha256: str
    metric: str
    judge: InstrumentIdentity
    corpus: dict[str, Any]
    source: str
    seed: int | None
    items: int
    rows: tuple[ProbeRow, ...]
    rates: Calibration | None
    no_rates: str | None
    with_injected: Calibration | None
    blind: bool
    obeys: tuple[int, int] | None
    left_out: dict[str, int]
    verdict: tuple[str, ...]
    usage_total: Usage
    tool: dict[str, Any] = {}


def read_calibration(path: Path) -> JudgeCalibration:
    """Read a calibration that `memruler judge calibrate` wrote.

    Raises:
        UsageError: There is no such file.
        FormatError: It is none, or of another version.
    """
    data = read_bytes(path, managed=False)
    try:
        raw = msgspec.json.decode(data)
        version = raw.get("schema_version") if isinstance(raw, dict) else None
        if version != SCHEMA_VERSION:
            raise FormatError(
                f"a calibration of version {version}, and this memruler reads {SCHEMA_VERSION}",
                where=path,
                hint=_AGAIN,
            )
        return msgspec.convert(raw, JudgeCalibration)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"no calibration: {error}", where=path, hint=_AGAIN) from error


def correct(pair: Pair, observed: Interval, found: JudgeCalibration, path: Path) -> Corrected:
    """The difference that a judge without errors would have shown.

    Args:
        pair: Labels of two sides under one judge.
        observed: The interval of their differences.
        found: Of that judge.
        path: Where it stands, for messages.

    Raises:
        Refusal: It is of another judge or grader, the differences are not those of single labels,
            or the labels carry no information.
    """
    reasons = [*_unlike(pair, found), *_not_labels(pair, found), *_uninformed(found)]
    if reasons or found.rates is None:
        raise Refusal(reasons, where=path, hint="leave --calibration out, or calibrate the judge")
    return corrected_delta(observed, found.rates)


def scaled(interval: Interval, corrected: Corrected) -> Interval:
    """The interval that decides: the observed one with the corrected mean and ends."""
    return msgspec.structs.replace(
        interval, mean=corrected.value, low=corrected.low, high=corrected.high
    )


def _unlike(pair: Pair, found: JudgeCalibration) -> list[str]:
    told = []
    ruler = {"grader": found.grader, "sha256": found.grader_sha256, "metric": found.metric}
    wanted = instrument(found.judge)
    for side, declared in zip((pair.base, pair.candidate), pair.declared, strict=True):
        judge = declared.get("judge")
        if not isinstance(judge, Mapping):
            told.append(f"{side} does not say which judge gave its labels")
            continue
        unlike = [name for name, value in wanted.items() if judge.get(name) != value]
        if unlike:
            told.append(
                f"the calibration is of another judge than that of {side}: other "
                f"{', '.join(unlike)}"
            )
        if declared.get("ruler") != ruler:
            told.append(f"the calibration is of another grader than that of {side}")
        if judge.get("draws", 1) != 1:
            told.append(f"{side} has a majority of several verdicts, and rates are of single ones")
    return told


def _not_labels(pair: Pair, found: JudgeCalibration) -> list[str]:
    # Shares may differ by 0 and 1 alone, and are no labels for that.
    if found.metric in _SHARES or not set(pair.deltas) <= _LABELS:
        return [f"{pair.metric} is no label: a share of right answers is what rates correct"]
    if pair.repeats > 1:
        return ["repeats became majorities, and the rates are of single verdicts"]
    return []


def _uninformed(found: JudgeCalibration) -> list[str]:
    if found.rates is None:
        return [f"the calibration has no rates: {found.no_rates}"]
    rates, told = found.rates, None
    if rates.j <= 0:
        told = (
            "this judge accepts wrong answers at least as often as right ones, so its labels carry "
            "no information"
        )
    elif rates.j_low <= 0:
        told = (
            f"with so few probes it may be 0 (95 % from {rates.j_low:.3f}), so whether the labels "
            "carry information is not known"
        )
    return [] if told is None else [f"J is {rates.j:.3f}: {told}"]
