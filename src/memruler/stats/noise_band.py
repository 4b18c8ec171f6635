"""How far apart two sides come out when nothing differs: the band of the untouched baseline."""

from math import pi, sqrt

import numpy as np

from memruler.stats.sums import Floats

__all__ = ["noise_band", "own_differences", "own_sigma"]

_TO_SIGMA = 1.4826022185056018
"""1 / 0.6745, the third quartile of the normal distribution: median absolute value to sigma."""
_SMALL_SAMPLE = 2.65
"""What few rounds cost, found by simulation: see `noise_band`."""
_ROUNDING = 2.0**-48
"""What binary fractions do to values that lie on a straight line, as a share of the largest."""


def own_differences(slots: Floats, values: Floats) -> Floats:
    """The differences of one side against itself, drift removed.

    Each measurement is held against the straight line through the one before and the one after
    it. At times `t0 < t1 < t2`, with `w = (t1 - t0) / (t2 - t0)`:

        e = (x1 - (1 - w) * x0 - w * x2) / sqrt(1 + (1 - w)**2 + w**2)

    A linear drift leaves no trace in it, and its variance is that of one measurement. (Gasser,
    Sroka and Jennen-Steinmetz, Residual variance and residual pattern in nonlinear regression,
    Biometrika 73, 1986, 625-633.)

    Args:
        slots: When each was measured, ascending; the order of measurement will do.
        values: What was measured; at least three.
    """
    share = (slots[1:-1] - slots[:-2]) / (slots[2:] - slots[:-2])
    off = (values[1:-1] - values[:-2]) - share * (values[2:] - values[:-2])
    found: Floats = off / np.sqrt(1 + (1 - share) ** 2 + share**2)
    return found


def own_sigma(slots: Floats, values: Floats) -> float:
    """Robust standard deviation of one measurement: `1.4826 * median |own difference|`.

    It is also that of one round's paired difference: the difference of two midpoints of two
    measurements each has the variance of one measurement. A few wild values do not move it.

    Returns:
        0 where at least half of the differences are zero but for rounding: there is no noise to
        measure.
    """
    sigma = _TO_SIGMA * float(np.median(np.abs(own_differences(slots, values))))
    return sigma if sigma > _ROUNDING * float(np.abs(values).max()) else 0.0


def noise_band(sigma: float, rounds: int) -> float:
    """Half the width of the band: two sigma of the median of `rounds` paired differences.

        band = sigma * (2 * sqrt(pi / 2) + 2.65 / rounds) / sqrt(rounds)

    `sqrt(pi / 2) / sqrt(rounds)` is the standard deviation of a median of that many values, in
    units of theirs. The second term is what Student's t does for a mean: few rounds know sigma
    badly, and their median is not quite normal. Its constant was fitted so that the median of the
    baseline against itself lies outside the band in 4.55 % of all measurements, as two sigma
    promise, at every even number of rounds: exact to 1 % of the band (docs/timing.md).

    Args:
        sigma: See `own_sigma`.
        rounds: Even, at least 2.
    """
    return sigma * (2 * sqrt(pi / 2) + _SMALL_SAMPLE / rounds) / sqrt(rounds)
