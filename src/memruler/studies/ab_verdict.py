"""Decides between the two runs: exactly, with an interval, or not at all. No ruler of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memruler.compare.exact import compare
from memruler.compare.gate import Gate, gate
from memruler.compare.headline import HEADLINE, headline_cell
from memruler.compare.load import LoadedRun
from memruler.compare.record import Comparison, Reason, ReasonCode
from memruler.compare.refusal import Incomparable
from memruler.errors import Refusal
from memruler.studies.ab_record import AbVerdict, Undecided
from memruler.studies.ab_spec import AbSpec

__all__ = ["Decided", "decide", "under_test"]

_UNDER_TEST = ("ingest", "system", "embedder")
"""Parts of the fingerprint that a side of a spec can set."""

_HINTS: dict[ReasonCode, str] = {
    "members": "write `shared = true` in the spec, or leave such depths out of its `cutoffs`; the "
    "runs are kept",
    "nothing-left": "write `shared = true` in the spec, or other `cutoffs`; the runs are kept",
    "metric": "choose another `metric` in the spec; the runs are kept",
    "shared_and_floor_disagree": "choose another `metric` in the spec; the runs are kept",
}

_OUTCOMES: dict[str, AbVerdict] = {"pass": "better", "fail": "worse", "unresolved": "unresolved"}


class Decided(NamedTuple):
    """A verdict and what it rests on; one of the three others is there."""

    verdict: AbVerdict
    comparison: Comparison | None = None
    gate: Gate | None = None
    refused: Undecided | None = None


def under_test(a: LoadedRun, b: LoadedRun) -> tuple[str, ...]:
    """Parts of the fingerprint in which the sides differ, which is what the spec sets apart."""
    one, other = a.manifest.fingerprint, b.manifest.fingerprint
    return tuple(part for part in _UNDER_TEST if one.get(part) != other.get(part))


def decide(spec: AbSpec, a: LoadedRun, b: LoadedRun, folders: tuple[Path, Path]) -> Decided:
    """Compare the runs as `memruler compare` does, or as `memruler gate` where one is a draw.

    Args:
        spec: What was asked for.
        a: The baseline.
        b: The candidate.
        folders: Their run folders.
    """
    changed = under_test(a, b)
    try:
        found = _compared(spec, changed, folders)
    except Incomparable as refusal:
        reasons = refusal.record.reasons
        if all(reason.code != "determinism" for reason in reasons):
            return _refused(reasons)
    else:
        return Decided(_exactly(found), comparison=found)
    try:
        drawn = gate(
            *folders,
            metric=spec.metric,
            cluster="conversation",
            changed=changed,
            shared=spec.shared,
            seed=spec.seed,
        )
    except Incomparable as refusal:
        return _refused(refusal.record.reasons)
    except Refusal as refusal:
        hints = (refusal.hint,) if refusal.hint else ()
        return Decided("refused", refused=Undecided(reasons=refusal.reasons, hints=hints))
    return Decided(_OUTCOMES[drawn.outcome], gate=drawn)


def _compared(spec: AbSpec, changed: tuple[str, ...], folders: tuple[Path, Path]) -> Comparison:
    """The exact comparison; depths at which other queries count are left out, but not the headline.

    Another depth in its place would be the one that the shorter lists leave.
    """
    try:
        return compare(*folders, changed=changed, metric=spec.metric, shared=spec.shared)
    except Incomparable as refusal:
        if {reason.code for reason in refusal.record.reasons} != {"members"}:
            raise
        try:
            return compare(*folders, changed=changed, metric=_headline(spec), cutoffs="common")
        except Incomparable:
            raise refusal from None


def _headline(spec: AbSpec) -> str:
    """What decides, whatever the lists reach."""
    if spec.metric is not None:
        return spec.metric
    depths = [k for k in spec.cutoffs if k <= spec.limit]
    return f"{HEADLINE}@{headline_cell([('session', k) for k in depths])[1]}"


def _exactly(found: Comparison) -> AbVerdict:
    alike = all(
        row.delta == 0 and row.base_counted == row.candidate_counted == row.counted
        for row in found.deltas
    )
    return "zero" if alike and not found.queries else found.verdict


def _refused(reasons: tuple[Reason, ...]) -> Decided:
    hints = dict.fromkeys(_hints(reasons))
    told = Undecided(reasons=tuple(reason.what for reason in reasons), hints=tuple(hints))
    return Decided("refused", refused=told)


def _hints(reasons: tuple[Reason, ...]) -> Iterator[str]:
    for reason in reasons:
        yield _HINTS.get(reason.code, reason.hint)
