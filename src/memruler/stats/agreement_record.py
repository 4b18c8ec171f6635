"""The record of an agreement, and how each of them is made."""

import msgspec
import numpy as np

from memruler.stats.ratings import Ratings
from memruler.stats.statistic import Statistic, spread
from memruler.stats.sums import Floats

__all__ = ["Agreement", "agreement_of", "one_minus"]


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """One statistic of agreement and its 95 % percentile interval.

    Attributes:
        statistic: `cohen-kappa`, `krippendorff-alpha-ordinal` and so on.
        value: 1 for full agreement, 0 for what chance would give (except `pairwise-agreement`, a
            share from 0 to 1); None where it has none.
        reason: Why there is no value; None where there is one.
        low: Lower end; None without a value.
        high: Upper end; likewise.
        n: Items with at least two ratings.
        left_out: Items with fewer, which say nothing of agreement.
        raters: Columns of ratings.
        labels: Distinct labels, those given in advance included.
        clusters: Groups of items that were resampled whole; at least 2.
        resamples: How many; None where the interval is exact.
        seed: Of the draws; likewise.
        low_error: Standard error of `low` from the finite number of draws; None without a value.
        high_error: The same of `high`.
        undefined: Share of the resamples that have no value and count in neither end.
        warnings: What a reader must know, one sentence each.
    """

    statistic: str
    value: float | None
    reason: str | None
    low: float | None
    high: float | None
    n: int
    left_out: int
    raters: int
    labels: int
    clusters: int
    resamples: int | None
    seed: int | None
    low_error: float | None
    high_error: float | None
    undefined: float
    warnings: tuple[str, ...] = ()


def one_minus(observed: Floats, expected: Floats, least: Floats | float = 0.0) -> Floats:
    """`1 - observed / expected`, NaN where no disagreement is expected.

    Args:
        observed: Disagreement.
        expected: Disagreement by chance; not negative.
        least: What is no more than rounding.
    """
    ratio = np.full_like(expected, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > least)
    left: Floats = 1 - ratio
    return left


def agreement_of(
    name: str, ratings: Ratings, parts: Floats, statistic: Statistic, *, resamples: int, seed: int
) -> Agreement:
    """The record of a statistic that is a function of sums over items.

    Args:
        name: Of the statistic.
        ratings: Checked.
        parts: See `spread`.
        statistic: See `spread`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: `resamples` or `seed` is out of range.
        Refusal: There are fewer than two clusters.
    """
    found = spread(parts, ratings.clusters, statistic, resamples=resamples, seed=seed)
    reason = None
    if found.value is None:
        only = ratings.labels[int(ratings.codes.max(axis=1)[0])]
        reason = (
            f"every rating is {only!r}: chance alone would agree, so no more than that can show"
        )
    return Agreement(
        statistic=name,
        value=found.value,
        reason=reason,
        low=found.low,
        high=found.high,
        n=found.n,
        left_out=ratings.left_out,
        raters=ratings.codes.shape[1],
        labels=len(ratings.labels),
        clusters=found.clusters,
        resamples=found.resamples,
        seed=found.seed,
        low_error=found.low_error,
        high_error=found.high_error,
        undefined=found.undefined,
        warnings=found.warnings,
    )
