"""How far raters (people, judges, repeats of a judge) agree, beyond chance and before it.

Each chance-corrected statistic is `1 - observed / expected` disagreement. Both are functions of
sums over items, so one vectorised resampling gives the interval of any of them.
docs/agreement.md says which one to use.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.stats.agreement_record import Agreement, agreement_of, one_minus
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.krippendorff import Level, krippendorff_alpha
from memruler.stats.ratings import Clusters, Ratings, Table, as_ratings, numbers, plain, tallies
from memruler.stats.sums import Floats

__all__ = [
    "Agreement",
    "Level",
    "Weights",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "pairwise_agreement",
]

Weights = Literal["linear", "quadratic"]
_Labels = Sequence[Hashable] | NDArray[Any]


def cohen_kappa(
    first: _Labels,
    second: _Labels,
    *,
    weights: Weights | None = None,
    categories: Sequence[Hashable] | None = None,
    clusters: Clusters | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> Agreement:
    """Agreement of two raters beyond what their own habits would give.

    `1 - sum(w_ij o_ij) / sum(w_ij r_i c_j / N)`, with `o_ij` the items that the first calls `i` and
    the second `j`, `r` and `c` their sums, and `w_ij` 0 on the diagonal and 1 off it (Cohen,
    Educational and Psychological Measurement 20, 1960). Weighted: `|i - j|` or `(i - j)^2` of the
    numbers, or of the places in `categories` where those are given (Cohen, Psychological Bulletin
    70, 1968).

    Args:
        first: The first rater's labels; None where there is none.
        second: The second's, of the same items.
        weights: How much worse a far miss is than a near one; None for labels without order.
        categories: Every label that may occur, in order.
        clusters: The group of each item, resampled whole; None where each stands alone.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: The numbers of labels differ, weights need an order that is not there, or an
            argument is out of range.
        Refusal: Fewer than two items (or clusters) have both labels.

    Example:
        >>> found = cohen_kappa("yyyyynnnnn", "yyyynynnnn")
        >>> round(found.value, 2), found.low < found.value < found.high
        (0.6, True)
    """
    one_says, other_says = plain(first), plain(second)
    if len(one_says) != len(other_says):
        raise UsageError(
            f"the first rater has {len(one_says)} labels, the second {len(other_says)}",
            hint="give both raters' labels of the same items, in the same order",
        )
    ratings = as_ratings(list(zip(one_says, other_says, strict=True)), clusters, categories)
    weight = _weights(ratings, weights, placed=categories is not None)
    size = len(weight)
    ones = np.eye(size)
    one, other = ratings.codes.T
    parts = np.column_stack((weight[one, other], ones[one], ones[other]))

    def kappa(sums: Floats) -> Floats:
        rows, columns = sums[1 : size + 1], sums[size + 1 :]
        expected = ((weight @ columns) * rows).sum(axis=0)
        return one_minus(sums[0] * rows.sum(axis=0), expected)

    name = "cohen-kappa" if weights is None else f"cohen-kappa-{weights}"
    return agreement_of(name, ratings, parts, kappa, resamples=resamples, seed=seed)


def fleiss_kappa(
    ratings: Table,
    *,
    categories: Sequence[Hashable] | None = None,
    clusters: Clusters | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> Agreement:
    """Agreement of any number of raters, as many for each item, beyond that of the pooled labels.

    `(P - P_e) / (1 - P_e)`, with `P` the mean over items of the share of rater pairs that agree and
    `P_e = sum(p_j^2)` from each label's share of all ratings (Fleiss, Measuring nominal scale
    agreement among many raters, Psychological Bulletin 76, 1971).

    Args:
        ratings: One row an item, one column a rater (not the same person in each row); None for no
            label.
        categories: Every label that may occur.
        clusters: See `cohen_kappa`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: Items have different numbers of ratings, or an argument is out of range.
        Refusal: Fewer than two items (or clusters) have two ratings.

    Example:
        >>> round(fleiss_kappa(["aaa", "aab", "bbb", "abb"]).value, 3)
        0.333
    """
    checked = as_ratings(ratings, clusters, categories)
    counts = tallies(checked)
    each = counts.sum(axis=1)
    m = each[0]
    if (each != m).any():
        raise UsageError(
            f"some items have {int(each.min())} ratings, some {int(each.max())}",
            hint="Fleiss' kappa needs as many for each item; Krippendorff's alpha does not",
        )
    parts = np.column_stack(((m * m - (counts**2).sum(axis=1)) / (m * (m - 1)), counts))

    def kappa(sums: Floats) -> Floats:
        pooled = sums[1:]
        total = pooled.sum(axis=0)
        return one_minus(sums[0] * m * total, total**2 - (pooled**2).sum(axis=0))

    return agreement_of("fleiss-kappa", checked, parts, kappa, resamples=resamples, seed=seed)


def pairwise_agreement(
    ratings: Table, *, clusters: Clusters | None = None, resamples: int = 10_000, seed: int = 7
) -> Agreement:
    """The share of rater pairs that agree, as a mean over items; chance is not taken out.

    `sum(c_j (c_j - 1)) / (m (m - 1))` for an item with `m` ratings, `c_j` of them with label `j`:
    `P` of Fleiss (1971), for two raters the share of items on which they agree.

    Args:
        ratings: One row an item, one column a rater; None where a rater gave no label.
        clusters: See `cohen_kappa`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: An argument is out of range.
        Refusal: Fewer than two items (or clusters) have two ratings.

    Example:
        >>> round(pairwise_agreement(["aaa", "aab", "bbb", "abb"]).value, 3)
        0.667
    """
    checked = as_ratings(ratings, clusters)
    counts = tallies(checked)
    m = counts.sum(axis=1)
    shares = (counts * (counts - 1)).sum(axis=1) / (m * (m - 1))
    found = paired_bootstrap(shares, checked.clusters, resamples=resamples, seed=seed)
    return Agreement(
        statistic="pairwise-agreement",
        value=found.mean,
        reason=None,
        low=found.low,
        high=found.high,
        n=found.n,
        left_out=checked.left_out,
        raters=checked.codes.shape[1],
        labels=len(checked.labels),
        clusters=found.clusters,
        resamples=found.resamples,
        seed=found.seed,
        low_error=found.low_error,
        high_error=found.high_error,
        undefined=0.0,
        warnings=found.warnings,
    )


def _weights(ratings: Ratings, weights: Weights | None, *, placed: bool) -> Floats:
    """How much each pair of labels disagrees, shape (labels, labels)."""
    size = tallies(ratings).shape[1]  # refuses too many
    if weights is None:
        return 1.0 - np.eye(size)
    if weights not in ("linear", "quadratic"):
        raise UsageError(f"{weights!r} are no weights", hint="linear, quadratic or None")
    at = np.arange(size, dtype=np.float64) if placed else numbers(ratings, "a weighted kappa")
    apart = np.abs(at[:, None] - at)
    return apart if weights == "linear" else apart**2
