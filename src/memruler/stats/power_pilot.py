"""A pilot for power: paired differences, checked, reduced to clusters, and the plant they bear."""

from collections.abc import Hashable, Sequence
from math import fsum
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from memruler.errors import Refusal, UsageError
from memruler.stats.interval import FEW_CLUSTERS
from memruler.stats.sums import Floats, Ints, as_columns, cluster_codes, refuse_few, tally

__all__ = ["Clusters", "Pilot", "Planting", "Variances", "read_pilot", "variances"]

Clusters = Sequence[Hashable] | NDArray[Any]

Planting = Literal["flips", "shift"]
"""How a known effect is planted: by turning outcomes (the differences stay -1, 0 or 1), or by
moving every difference by the same amount."""


class Variances(msgspec.Struct, frozen=True, kw_only=True):
    """The two parts of the squared residuals of the clusters, summed; divide by items squared.

    Attributes:
        between: What remains however often each item is drawn.
        within: What one draw of each item adds; `within / repeats` with more.
        repeats: Draws of each item that these were told from.
    """

    between: float
    within: float
    repeats: int

    def total(self, repeats: int) -> float:
        """Both together, with so many draws of each item."""
        return self.between + self.within / repeats


class Pilot(NamedTuple):
    """A pilot run, one entry a cluster.

    Attributes:
        sums, counts: Of the differences of each cluster.
        outcomes: Wins, ties and losses of each cluster, [clusters, 3]; None where differences are
            other than -1, 0 and 1, or are means over repeats.
        mean: Of all differences.
        items: Differences.
        spread: By how much residuals are stretched for the repeats wanted; 1 as the pilot is.
        repeats: Draws of each item in what is simulated.
        warnings: What a reader must know, one sentence each.
    """

    sums: Floats
    counts: Ints
    outcomes: Ints | None
    mean: float
    items: int
    spread: float
    repeats: int
    warnings: tuple[str, ...]

    @property
    def planting(self) -> Planting:
        """How an effect is planted."""
        return "shift" if self.outcomes is None else "flips"


def read_pilot(
    deltas: ArrayLike, clusters: Clusters | None = None, *, repeats: int | None = None
) -> Pilot:
    """Check and reduce a pilot.

    Args:
        deltas: Candidate minus baseline; shape (items,), or (items, repeats) where each item was
            drawn several times. Finite.
        clusters: The group of each item; None where each stands alone.
        repeats: Draws of each item to be simulated; None for as many as the pilot has.

    Raises:
        UsageError: Numbers are not finite, or their shape or number does not fit.
        Refusal: There are fewer than two clusters; there is no spread to simulate from; or
            repeats are asked of a pilot that has none.
    """
    columns = as_columns(deltas)
    drawn = columns.shape[1]
    wanted = drawn if repeats is None else repeats
    if wanted < 1:
        raise UsageError(f"{wanted} repeats", hint="at least 1")
    means = columns.mean(axis=1)
    codes = None if clusters is None else cluster_codes(clusters, len(columns))
    number = len(columns) if codes is None else len(np.unique(codes))
    refuse_few(len(columns), number)
    spread = 1.0
    if wanted != drawn:
        parts = variances(columns, clusters)
        spread = float(np.sqrt(parts.total(wanted) / parts.total(drawn)))
    sums, counts = tally(means[:, None], codes)
    binary = drawn == 1 and wanted == 1 and bool(np.isin(means, (-1, 0, 1)).all())
    if not binary:
        _refuse_without_spread(means, spread)
    outcomes = None
    if binary:
        kinds = np.stack([means == 1, means == 0, means == -1], axis=1).astype(np.float64)
        outcomes = np.rint(tally(kinds, codes).sums).astype(np.int64)
    return Pilot(
        sums=sums[:, 0],
        counts=counts,
        outcomes=outcomes,
        mean=fsum(means.tolist()) / len(means),
        items=len(means),
        spread=spread,
        repeats=wanted,
        warnings=_warnings(number, differs=bool(means.any())),
    )


def variances(deltas: ArrayLike, clusters: Clusters | None = None) -> Variances:
    """Tell what an item's own draws add to the variance of the mean from the rest.

    With `d[i, r]` the draws and `m[i]` the mean of item i, R repeats and C clusters:
    `within = sum_i var_r(d[i, r])` (unbiased), `between = max(0, C / (C - 1) * sum_c (sum of
    m[i] - mean over the cluster)^2 - within / R)`: the method of moments of the one-way random
    effects model (Searle, Casella and McCulloch, Variance Components, 1992, section 3.5), with
    whole clusters as the units that are resampled.

    Args:
        deltas: Shape (items, repeats), at least two repeats; finite.
        clusters: See `read_pilot`.

    Raises:
        UsageError: See `read_pilot`.
        Refusal: The pilot has one draw of each item, or nothing varies.
    """
    columns = as_columns(deltas)
    drawn = columns.shape[1]
    if drawn == 1:
        raise Refusal(
            ["the pilot has one draw of each item: nothing can be said about repeats"],
            hint="draw each item at least twice in the pilot",
        )
    codes = None if clusters is None else cluster_codes(clusters, len(columns))
    means = columns.mean(axis=1)
    residuals = tally((means - means.mean())[:, None], codes).sums
    number = len(residuals)
    refuse_few(len(columns), number)
    within = float(columns.var(axis=1, ddof=1).sum())
    all_of_it = number / (number - 1) * float((residuals**2).sum())
    between = max(0.0, all_of_it - within / drawn)
    if between + within == 0:
        _refuse_without_spread(means, 1.0)
    return Variances(between=between, within=within, repeats=drawn)


def _refuse_without_spread(means: Floats, spread: float) -> None:
    if spread == 0 or bool((means == means[0]).all()):
        raise Refusal(
            ["every difference of the pilot is the same, so there is no spread to simulate from"],
            hint="take a pilot of which at least some items differ",
        )


def _warnings(clusters: int, *, differs: bool) -> tuple[str, ...]:
    told = []
    if clusters < FEW_CLUSTERS:
        told.append(f"the pilot has {clusters} clusters: how they spread is hardly known from them")
    if not differs:
        told.append(
            "no item differs in the pilot: all spread is that of the planted effect, so a real"
            " change that moves items both ways needs more"
        )
    return tuple(told)
