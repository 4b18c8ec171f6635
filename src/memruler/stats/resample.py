"""Draws from the bootstrap distribution: whole clusters with replacement, in bounded memory.

The draws depend on the seed and the number of clusters alone. They are made from the raw 64 bits of
PCG64, which numpy promises never to change; its own `integers` may change with a release.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memruler.stats.sums import Floats, Ints

__all__ = ["resampled_means"]

_BLOCK = 2**17
"""Draws that are held at once: small enough for a processor's cache."""
_GATHER_UP_TO = 3
"""Columns up to which looking each draw up is cheaper than counting draws and multiplying."""


def resampled_means(sums: Floats, counts: Ints, resamples: int, seed: int) -> Floats:
    """The mean of each resample, for every column from the same draws.

    Args:
        sums: Of each cluster, shape (clusters, columns).
        counts: Items of each cluster, shape (clusters,).
        resamples: How many.
        seed: Not negative.

    Returns:
        Shape (columns, resamples).
    """
    draws, columns = sums.shape
    even = bool((counts == counts[0]).all())
    means = np.empty((columns, resamples))
    weights = counts.astype(np.float64)
    start = 0
    for drawn in _drawn(draws, resamples, seed):
        end = start + len(drawn)
        if columns <= _GATHER_UP_TO:
            totals = np.stack([_at(sums[:, at], drawn) for at in range(columns)])
            sizes = draws * weights[0] if even else _at(weights, drawn)
        else:
            times = _times(drawn, draws)
            totals = (times @ sums).T
            sizes = draws * weights[0] if even else times @ weights
        means[:, start:end] = totals / sizes
        start = end
    return means


def _drawn(draws: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Blocks of resamples, shape (resamples of the block, draws): numbers of clusters.

    A number is `draws * u / 2**32` rounded down for 32 random bits `u`: no cluster's probability is
    off by more than one in `2**32 / draws`.
    """
    bits = np.random.PCG64(seed)
    rows = max(1, _BLOCK // draws)
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), draws)
        number = shape[0] * shape[1]
        words = np.asarray(bits.random_raw((number + 1) // 2), "<u8").view("<u4")[:number]
        scaled = words * np.uint64(draws)
        scaled >>= np.uint64(32)
        yield scaled.view(np.int64).reshape(shape)


def _at(values: Floats, drawn: NDArray[np.int64]) -> Floats:
    """The sum over each resample; `clip` spares the check of numbers that are right."""
    totals: Floats = values.take(drawn, mode="clip").sum(axis=1)
    return totals


def _times(drawn: NDArray[np.int64], draws: int) -> Floats:
    """How often each cluster was drawn, shape (resamples, clusters)."""
    rows = len(drawn)
    times = np.zeros(rows * draws)
    np.add.at(times, (drawn + (np.arange(rows) * draws)[:, None]).ravel(), 1.0)
    return times.reshape(rows, draws)
