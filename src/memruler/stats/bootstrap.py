"""The paired, clustered bootstrap of a mean difference.

`mean* = sum of the drawn clusters' sums / sum of their counts`, with as many clusters drawn, with
replacement, as there are. The interval is from the 2.5th to the 97.5th percentile of `mean*` (Efron
and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13; whole clusters as in
Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
"""

from collections.abc import Hashable, Sequence
from math import ceil, fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memruler.errors import UsageError
from memruler.stats.interval import FEW_CLUSTERS, Interval
from memruler.stats.lattice import exact_ends
from memruler.stats.resample import resampled_means
from memruler.stats.sums import Floats, as_columns, cluster_codes, refuse_few, tally

__all__ = ["check_draws", "paired_bootstrap", "paired_bootstraps", "percentiles", "ranks"]

_LEVEL = 0.95
_TAIL = 0.025
_FEW_MOVED = 10
_LEAST_RESAMPLES = 1000
_MOST_RESAMPLES = 10_000_000

_Clusters = Sequence[Hashable] | NDArray[Any]


def paired_bootstrap(
    deltas: ArrayLike,
    clusters: _Clusters | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 7,
    exact: bool = True,
) -> Interval:
    """The mean of paired differences with its 95 % percentile interval.

    Where the differences are few and discrete the bootstrap distribution is computed exactly and
    neither `resamples` nor `seed` is used; the interval says which was done.

    Args:
        deltas: Candidate minus baseline, one an item; finite.
        clusters: The group of each item, resampled whole; None where each item stands alone.
        resamples: Draws where draws are needed, from 1,000 to 10,000,000.
        seed: Of the draws; not negative. The same seed gives the same interval.
        exact: Compute the distribution itself where that is possible; False always draws.

    Raises:
        UsageError: A difference is not finite, an item has no cluster, or a number is out of range.
        Refusal: There are fewer than two clusters.

    Example:
        >>> found = paired_bootstrap([1] * 6 + [0] * 52 + [-1] * 2)
        >>> [round(100 * end, 1) for end in (found.mean, found.low, found.high)]
        [6.7, -1.7, 16.7]
        >>> found.method, found.clusters, found.gain
        ('exact', 60, False)
    """
    (interval,) = paired_bootstraps(deltas, clusters, resamples=resamples, seed=seed, exact=exact)
    return interval


def paired_bootstraps(
    deltas: ArrayLike,
    clusters: _Clusters | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 7,
    exact: bool = True,
) -> list[Interval]:
    """`paired_bootstrap` of every column of a table, resampled once for all of them.

    Args:
        deltas: One row an item, one column a metric; finite.
        clusters: See `paired_bootstrap`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.
        exact: See `paired_bootstrap`.

    Returns:
        One interval a column, in order.

    Raises:
        UsageError: See `paired_bootstrap`.
        Refusal: See `paired_bootstrap`.
    """
    check_draws(resamples, seed)
    columns = as_columns(deltas)
    n = len(columns)
    codes = None if clusters is None else cluster_codes(clusters, n)
    number = n if codes is None else len(np.unique(codes))
    refuse_few(n, number)
    ends = [
        exact_ends(columns[:, at], codes, _TAIL) if exact else None
        for at in range(columns.shape[1])
    ]
    drawn = [at for at, found in enumerate(ends) if found is None]
    means = np.empty((0, 0))
    if drawn:
        sums, counts = tally(columns[:, drawn], codes)
        means = np.partition(
            resampled_means(sums, counts, resamples, seed), sorted(ranks(resamples)), axis=1
        )
    intervals = []
    for at, found in enumerate(ends):
        column = columns[:, at]
        low, high, low_error, high_error = (
            (*found, 0.0, 0.0) if found else percentiles(means[drawn.index(at)])
        )
        intervals.append(
            Interval(
                mean=fsum(column.tolist()) / n,
                low=low,
                high=high,
                n=n,
                clusters=number,
                level=_LEVEL,
                method="exact" if found else "monte-carlo",
                resamples=None if found else resamples,
                seed=None if found else seed,
                low_error=low_error,
                high_error=high_error,
                warnings=_warnings(column, number),
            )
        )
    return intervals


def check_draws(resamples: int, seed: int) -> None:
    """Refuse numbers that no interval could be drawn with.

    Raises:
        UsageError: One is out of range.
    """
    if not _LEAST_RESAMPLES <= resamples <= _MOST_RESAMPLES:
        raise UsageError(
            f"{resamples} resamples", hint=f"from {_LEAST_RESAMPLES} to {_MOST_RESAMPLES}"
        )
    if seed < 0:
        raise UsageError(f"the seed {seed} is negative", hint="any whole number from 0")


def ranks(resamples: int) -> tuple[int, ...]:
    """Ranks of the lower end and of its error's two sides, then the same of the upper end.

    An end is an order statistic, the same one from either side. The rank of the true percentile
    has a standard deviation of `sqrt(R * p * (1 - p))`.
    """
    low = ceil(_TAIL * resamples) - 1
    off = ceil(sqrt(resamples * _TAIL * (1 - _TAIL)))
    from_below = (low, max(low - off, 0), low + off)
    return (*from_below, *(resamples - 1 - rank for rank in from_below))


def percentiles(means: Floats) -> tuple[float, float, float, float]:
    """Both ends of partitioned means, and their standard errors.

    An error is half of what lies between its two sides; see `ranks`.

    Args:
        means: Resampled means with the numbers of `ranks` in their places.
    """
    low, under, over, high, beyond, within = (means[rank] for rank in ranks(len(means)))
    return float(low), float(high), float(over - under) / 2, float(beyond - within) / 2


def _warnings(column: Floats, clusters: int) -> tuple[str, ...]:
    told = []
    if clusters < FEW_CLUSTERS:
        told.append(
            f"{clusters} clusters: below {FEW_CLUSTERS} a percentile interval is too narrow"
        )
    moved = int((column != 0).sum())
    if 0 < moved < _FEW_MOVED:
        told.append(
            f"only {moved} items moved: percentile intervals of rare changes are too narrow"
        )
    if (column == column[0]).all():
        told.append(
            "every difference is the same, so the interval is a point; how rare another one is"
            " cannot be told from these items"
        )
    return tuple(told)
