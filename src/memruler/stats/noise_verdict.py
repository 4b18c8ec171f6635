"""What a difference means, by the kind of ruler that it was measured with."""

from math import isfinite
from typing import Literal

from memruler.errors import Refusal, UsageError

__all__ = ["Better", "NoiseVerdict", "Ruler", "noise_verdict"]

Ruler = Literal["exact", "noisy"]
"""`exact`: measured again it gives the same number. `noisy`: a clock, a network or an LLM is in
it."""

Better = Literal["higher", "lower"]

NoiseVerdict = Literal["better", "worse", "unchanged", "inconclusive"]
"""`unchanged` is exactly zero on an exact ruler. Inside the band of a noisy one it cannot be told
whether anything changed: `inconclusive`, also at zero."""


def noise_verdict(
    delta: float, *, ruler: Ruler, band: float | None, better: Better
) -> NoiseVerdict:
    """The verdict on one difference.

    Args:
        delta: Candidate minus baseline, finite.
        ruler: What it was measured with.
        band: How far apart two measurements of the same thing come out; None exactly where the
            ruler is exact.
        better: Which direction is the better one.

    Raises:
        Refusal: A band for an exact ruler, or none for a noisy one.
        UsageError: A number is not finite, or the band is not above zero.
    """
    if not isfinite(delta):
        raise UsageError(f"the difference is not finite: {delta}")
    if ruler == "exact":
        if band is not None:
            raise Refusal(
                ["a deterministic ruler has no noise, so a band would hide real differences"],
                hint="leave the band out: every difference is a fact",
            )
        if delta == 0:
            return "unchanged"
    else:
        if band is None:
            raise Refusal(
                ["a noisy measurement without a band: chance would pass for a change"],
                hint="measure the baseline against itself, in alternation with the candidate",
            )
        if not (isfinite(band) and band > 0):
            raise UsageError(f"the band is {band}", hint="it is above zero and finite")
        if abs(delta) <= band:
            return "inconclusive"
    return "better" if (delta > 0) == (better == "higher") else "worse"
