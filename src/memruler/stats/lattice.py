"""The bootstrap distribution itself, where the differences lie on a lattice.

A resample draws `C` of `C` clusters, so the distribution of (sum, count) is the `C`-fold
convolution of the empirical distribution of one cluster's (sum, count): a power of its Fourier
transform. No seed, no draws, no error but rounding (below 1e-9 in probability).
"""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from memruler.stats.sums import Floats, Ints

__all__ = ["exact_ends"]

_MOST_VALUES = 64
"""Distinct differences that are looked at; more are no lattice worth finding."""
_FINEST = 2520
"""Largest number of steps between the least and the greatest difference: shares of up to ten gold
turns, and their differences, are multiples of 1/2520."""
_OFF = 1e-12
"""How far from the lattice, as a share of the range, rounding may have moved a value."""
_MOST_CELLS = 2**20
"""Largest grid that is convolved: 16 MB, well under a second."""
_SLACK = 1e-9
"""What rounding may do to a probability; an end gives way outwards."""


class _Grid(NamedTuple):
    """Differences as `least + step * whole number`."""

    least: float
    step: float
    whole: Ints


def exact_ends(deltas: Floats, codes: Ints | None, tail: float) -> tuple[float, float] | None:
    """Both ends of the interval, or None where the distribution is too fine or too large.

    The lower end is the least mean that has at least `tail` of the probability at or below it,
    the upper end the greatest that has as much at or above it.

    Args:
        deltas: Shape (items,), finite.
        codes: The cluster of each item; None where each is its own.
        tail: Probability outside each end, between 0 and 0.5.
    """
    grid = _on_grid(deltas)
    if grid is None:
        return None
    if codes is None:
        sums, counts = grid.whole, np.ones(len(deltas), np.int64)
    else:
        counts = np.bincount(codes).astype(np.int64)
        sums = np.bincount(codes, grid.whole, len(counts)).astype(np.int64)
    found = _distribution(sums, counts)
    if found is None:
        return None
    totals, sizes, mass = found
    means = (grid.step * totals + grid.least * sizes) / sizes
    below = np.cumsum(mass)
    above = np.cumsum(mass[::-1])[::-1]
    low = int(np.argmax(below >= tail - _SLACK))
    high = len(means) - 1 - int(np.argmax(above[::-1] >= tail - _SLACK))
    # Sums that cancel on paper may leave some rounding, which must not pass for a gain.
    nothing = _OFF * float(np.abs(deltas).max())
    first, last = float(means[low]), float(means[high])
    return 0.0 if abs(first) <= nothing else first, 0.0 if abs(last) <= nothing else last


def _on_grid(deltas: Floats) -> _Grid | None:
    values = np.unique(deltas)
    if len(values) > _MOST_VALUES:
        return None
    least, span = float(values[0]), float(values[-1] - values[0])
    if span == 0:
        return _Grid(least, 0.0, np.zeros(len(deltas), np.int64))
    shares = ((values - least) / span).tolist()
    steps = lcm(*(Fraction(share).limit_denominator(_FINEST).denominator for share in shares))
    if steps > _FINEST or any(
        abs(share * steps - round(share * steps)) > steps * _OFF for share in shares
    ):
        return None
    whole = np.rint((deltas - least) * (steps / span)).astype(np.int64)
    return _Grid(least, span / steps, whole)


def _distribution(sums: Ints, counts: Ints) -> tuple[Ints, Ints, Floats] | None:
    """Every (sum, count) that a resample can have, by rising mean, with its probability."""
    draws = len(sums)
    first, least = int(sums.min()), int(counts.min())
    wide, deep = int(sums.max()) - first, int(counts.max()) - least
    shape = (draws * deep + 1, draws * wide + 1)
    if shape[0] * shape[1] > _MOST_CELLS:
        return None
    one = np.zeros((deep + 1, wide + 1))
    np.add.at(one, (counts - least, sums - first), 1 / draws)
    if deep == 0:
        padded = 1 << (shape[1] - 1).bit_length()
        mass = np.fft.irfft(np.fft.rfft(one[0], padded) ** draws, padded)[: shape[1]]
        totals = np.arange(shape[1]) + draws * first
        return totals, np.full(shape[1], draws * least), mass
    padded_2d = tuple(1 << (length - 1).bit_length() for length in shape)
    both = np.fft.irfft2(np.fft.rfft2(one, padded_2d) ** draws, padded_2d)[: shape[0], : shape[1]]
    rows, columns = np.nonzero(both > _SLACK / _MOST_CELLS)
    totals, sizes = columns + draws * first, rows + draws * least
    order = np.argsort(totals / sizes, kind="stable")
    return totals[order], sizes[order], both[rows, columns][order]
