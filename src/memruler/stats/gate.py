"""May a change pass? An exact difference or an interval, held against a threshold and a band."""

from math import isfinite
from typing import Literal

from memruler.errors import Refusal, UsageError
from memruler.stats.interval import Interval

__all__ = ["DEFAULT_BAND", "Outcome", "Why", "gate_exact", "gate_interval", "own_band"]

Outcome = Literal["pass", "fail", "unresolved"]
Why = Literal["noise_floor", "under_powered"]

DEFAULT_BAND = 0.04
"""Half the width of the null band where nobody measured one's own: what two runs of one
configuration are often apart (4 percentage points)."""

_ROUNDING = 1e-12
"""What adding floats may have moved a mean by: 0.8 - 0.7 does not exceed 0.1."""


def gate_exact(delta: float, threshold: float = 0.0, *, band: float | None = None) -> Outcome:
    """Hold a fact against a threshold: `pass` above it, else `fail`; nothing is unresolved.

    Args:
        delta: Of a deterministic ruler.
        threshold: What the difference must exceed.
        band: Must be None.

    Raises:
        Refusal: A band is given: a fact has no noise.
        UsageError: A number is not finite.
    """
    _require_finite(delta, threshold)
    if band is not None:
        raise Refusal(
            ["both sides are deterministic: a difference is a fact, and no noise band applies"],
            hint="leave --band out",
        )
    return "pass" if delta - threshold > _ROUNDING else "fail"


def gate_interval(
    interval: Interval, threshold: float = 0.0, *, band: float = DEFAULT_BAND
) -> tuple[Outcome, Why | None]:
    """Hold an interval against a threshold.

    `pass` if `low > threshold`, `fail` if `high < threshold`, else `unresolved`: the interval
    straddles. Then a mean within the null band, `|mean| <= band`, is the noise floor (a change of
    this size is seen where nothing was changed); outside it the run is under-powered (there may
    well be a change, and more items would tell).

    An interval that is a point (every cluster moved alike) decides nothing by itself: what none of
    `clusters` showed may still befall a share of `3 / clusters` (the rule of three), so that a
    threshold within that of the point is not cleared: under-powered.

    Args:
        interval: Of the paired differences.
        threshold: What they must exceed; negative for non-inferiority.
        band: Half the width of the null band; not negative.

    Raises:
        UsageError: The band is negative, or a number is not finite.
    """
    _require_finite(interval.mean, interval.low, interval.high, threshold)
    if not band >= 0:
        raise UsageError(f"the band {band} is negative", hint="half its width, such as 0.04")
    point = interval.high - interval.low <= _ROUNDING
    away = abs(interval.mean - threshold)
    if point and _ROUNDING < away <= 3 / interval.clusters:
        return "unresolved", "under_powered"
    if interval.low - threshold > _ROUNDING:
        return "pass", None
    if threshold - interval.high > _ROUNDING:
        return "fail", None
    return "unresolved", "noise_floor" if abs(
        interval.mean
    ) - band <= _ROUNDING else "under_powered"


def own_band(interval: Interval) -> float:
    """Half the width of one's own null band, from two runs of one configuration.

    `max(|low|, |high|)`: the wider side, since a band that is too narrow calls noise a change.
    """
    return max(abs(interval.low), abs(interval.high))


def _require_finite(*numbers: float) -> None:
    if not all(map(isfinite, numbers)):
        raise UsageError("a number of the gate is not finite", hint="such as 0.02")
