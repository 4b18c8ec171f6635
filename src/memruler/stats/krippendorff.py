"""Krippendorff's alpha: any number of raters, ratings missing, labels with an order or without."""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from memruler.errors import UsageError
from memruler.stats.agreement_record import Agreement, agreement_of, one_minus
from memruler.stats.ratings import Clusters, Ratings, Table, as_ratings, numbers, tallies
from memruler.stats.statistic import Statistic
from memruler.stats.sums import Floats

__all__ = ["Level", "krippendorff_alpha"]

Level = Literal["nominal", "ordinal", "interval"]

_MOST_ORDERED = 32
"""Labels of an ordinal scale: each pair of them is a column of the resampling."""
_NO_SPREAD = 1e-13
"""Variance, as a share of the squared range, that rounding may leave of equal numbers."""


def krippendorff_alpha(
    ratings: Table,
    *,
    level: Level = "nominal",
    categories: Sequence[Hashable] | None = None,
    clusters: Clusters | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> Agreement:
    """Agreement of any number of raters, some ratings missing, at a level of measurement.

    `1 - D_o / D_e`. An item with `m` ratings adds each ordered pair of them, with the weight
    `1 / (m - 1)`, to the coincidences `o_ck`, whose sums are `n_c`, in all `n`.
    `D_o = sum(o_ck d_ck) / n` and `D_e = sum(n_c n_k d_ck) / (n (n - 1))`, with `d_ck` 1 for
    different labels (nominal), `(n_c / 2 + those between + n_k / 2)^2` (ordinal) or `(c - k)^2`
    (interval) (Krippendorff, Computing Krippendorff's alpha-reliability, 2011; Content Analysis,
    4th ed. 2018, chapter 12).

    Args:
        ratings: One row an item, one column a rater; None where a rater gave no label.
        level: Of the labels; all but `nominal` need an order.
        categories: Every label that may occur, in order; not with `interval`, which needs numbers.
        clusters: See `cohen_kappa`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: The level needs an order or numbers that are not there, or an argument is out of
            range.
        Refusal: Fewer than two items (or clusters) have two ratings.

    Example:
        >>> round(
        ...     krippendorff_alpha([[1, 1], [2, 3], [3, 3], [4, None]], level="interval").value, 3
        ... )
        0.828
    """
    build = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}.get(level)
    if build is None:
        raise UsageError(f"{level!r} is no level", hint="nominal, ordinal or interval")
    checked = as_ratings(ratings, clusters, categories)
    if level == "interval" or (level == "ordinal" and categories is None):
        numbers(checked, f"the level `{level}`")
    parts, alpha = build(checked)
    return agreement_of(
        f"krippendorff-alpha-{level}", checked, parts, alpha, resamples=resamples, seed=seed
    )


def _nominal(ratings: Ratings) -> tuple[Floats, Statistic]:
    counts = tallies(ratings)
    m = counts.sum(axis=1)
    parts = np.column_stack(((m * m - (counts**2).sum(axis=1)) / (m - 1), counts))

    def alpha(sums: Floats) -> Floats:
        pooled = sums[1:]
        total = pooled.sum(axis=0)
        return one_minus((total - 1) * sums[0], total**2 - (pooled**2).sum(axis=0))

    return parts, alpha


def _ordinal(ratings: Ratings) -> tuple[Floats, Statistic]:
    if len(ratings.labels) > _MOST_ORDERED:
        raise UsageError(
            f"there are {len(ratings.labels)} labels in order",
            hint=f"at most {_MOST_ORDERED}; numbers without end need the level `interval`",
        )
    counts = tallies(ratings)
    m = counts.sum(axis=1)
    one, other = np.triu_indices(counts.shape[1], 1)
    pairs = counts[:, one] * counts[:, other] / (m - 1)[:, None]
    parts = np.concatenate((pairs, counts), axis=1)

    def alpha(sums: Floats) -> Floats:
        observed, pooled = sums[: len(one)], sums[len(one) :]
        middle = np.cumsum(pooled, axis=0) - pooled / 2
        apart = (middle[other] - middle[one]) ** 2
        expected = (pooled[one] * pooled[other] * apart).sum(axis=0)
        return one_minus((pooled.sum(axis=0) - 1) * (observed * apart).sum(axis=0), expected)

    return parts, alpha


def _interval(ratings: Ratings) -> tuple[Floats, Statistic]:
    """Moments serve for any number of distinct values."""
    values = numbers(ratings, "the level `interval`")
    # Between -1/2 and 1/2, where squares lose least: alpha does not change.
    span = float(np.ptp(values)) or 1.0
    scaled = (values - (values.max() + values.min()) / 2) / span
    given = ratings.codes >= 0
    each = np.where(given, scaled[ratings.codes], 0.0)
    m = given.sum(axis=1)
    apart = np.zeros(len(each))
    for at in range(each.shape[1] - 1):
        both = given[:, at : at + 1] & given[:, at + 1 :]
        apart += np.where(both, (each[:, at : at + 1] - each[:, at + 1 :]) ** 2, 0.0).sum(axis=1)
    parts = np.column_stack((apart / (m - 1), m, each.sum(axis=1), (each**2).sum(axis=1)))

    def alpha(sums: Floats) -> Floats:
        observed, total, first, second = sums
        expected = total * second - first**2
        return one_minus((total - 1) * observed, expected, _NO_SPREAD * total**2)

    return parts, alpha
