"""The clustered bootstrap of what is no mean, but a function of sums over items.

A kappa, an alpha, a mean over a standard deviation: each is computed from a few sums to which every
item adds its part. A resample takes a cluster's part as often as it drew the cluster, so the draws
of `paired_bootstrap` serve, and the statistic is computed for all resamples at once.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from memruler.stats.bootstrap import check_draws, percentiles
from memruler.stats.interval import FEW_CLUSTERS
from memruler.stats.resample import resampled_means
from memruler.stats.sums import Floats, Ints, refuse_few, tally

__all__ = ["Spread", "Statistic", "spread"]

Statistic = Callable[[Floats], Floats]
"""From sums, shape (parts, resamples), to values, shape (resamples,). NaN where a resample has no
value; it goes no further than this module."""

_MOST_UNDEFINED = 0.025
"""A larger share than a tail's could hide a whole tail."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A statistic and its 95 % percentile interval.

    Attributes:
        value: Of all items; None where it has none there.
        low: Lower end, over the resamples in which the statistic has a value; None if none has.
        high: Upper end; likewise.
        n: Items.
        clusters: Groups of items that were resampled whole; at least 2.
        resamples: How many.
        seed: Of the draws.
        low_error: Standard error of `low` from the finite number of draws; None if `value` is.
        high_error: The same of `high`.
        undefined: Share of the resamples in which the statistic has no value.
        warnings: What a reader must know, one sentence each.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    resamples: int
    seed: int
    low_error: float | None
    high_error: float | None
    undefined: float
    warnings: tuple[str, ...] = ()


def spread(
    parts: Floats, codes: Ints | None, statistic: Statistic, *, resamples: int, seed: int
) -> Spread:
    """The statistic of all items, and its interval.

    Args:
        parts: What each item adds to each sum, shape (items, parts), finite.
        codes: The cluster of each item, from 0 without gaps; None where each is its own.
        statistic: See `Statistic`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: `resamples` or `seed` is out of range.
        Refusal: There are fewer than two clusters.
    """
    check_draws(resamples, seed)
    sums, counts = tally(parts, codes)
    number = len(sums)
    refuse_few(len(parts), number)
    value = float(statistic(sums.sum(axis=0)[:, None])[0])
    known = not np.isnan(value)
    low = high = low_error = high_error = None
    undefined = 1.0
    if known:
        # Means per drawn cluster, times the clusters drawn.
        totals = resampled_means(sums, np.ones_like(counts), resamples, seed)
        totals *= number
        drawn = statistic(totals)
        defined = np.sort(drawn[~np.isnan(drawn)])
        undefined = 1 - len(defined) / resamples
        if len(defined):
            low, high, low_error, high_error = percentiles(defined)
    return Spread(
        value=value if known else None,
        low=low,
        high=high,
        n=len(parts),
        clusters=number,
        resamples=resamples,
        seed=seed,
        low_error=low_error,
        high_error=high_error,
        undefined=undefined,
        warnings=_warnings(number, undefined if known else 0.0),
    )


def _warnings(clusters: int, undefined: float) -> tuple[str, ...]:
    told = []
    if clusters < FEW_CLUSTERS:
        told.append(
            f"{clusters} clusters: below {FEW_CLUSTERS} a percentile interval is too narrow"
        )
    if undefined > _MOST_UNDEFINED:
        told.append(
            f"{undefined:.1%} of the resamples have no value: the interval is over the others and"
            " may be too narrow"
        )
    return tuple(told)
