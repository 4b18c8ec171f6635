"""Sums that are rounded once, and percentiles, of many values of which most are alike."""

from collections.abc import Sequence
from math import floor, fsum

import numpy as np
from numpy.typing import NDArray

__all__ = ["exact_mean", "exact_sum", "percentiles"]

_WHOLE = 2.0**31


def exact_sum(values: NDArray[np.float64]) -> float:
    """The sum, rounded once (`math.fsum`), so that the order of queries cannot change a bit."""
    some = values[values != 0]
    # Whole numbers, such as hits and flips, add up without rounding in any order.
    if not len(some) or (np.abs(some).max() < _WHOLE and np.all(some == np.rint(some))):
        return float(some.sum())
    return fsum(some.tolist())


def exact_mean(values: NDArray[np.float64]) -> float:
    """The mean by `exact_sum`; at least one value."""
    return exact_sum(values) / len(values)


def percentiles(values: NDArray[np.float64], wanted: Sequence[float]) -> list[float]:
    """Percentiles by linear interpolation between the two nearest values.

    Args:
        values: At least one.
        wanted: From 0 to 100.
    """
    some = np.sort(values[values != 0])
    below, zeros = int((some < 0).sum()), len(values) - len(some)

    def at(place: int) -> float:
        if place < below:
            return float(some[place])
        return 0.0 if place < below + zeros else float(some[place - zeros])

    found = []
    for percent in wanted:
        place = (len(values) - 1) * percent / 100
        low = floor(place)
        one, two = at(low), at(min(low + 1, len(values) - 1))
        found.append(one + (two - one) * (place - low))
    return found
