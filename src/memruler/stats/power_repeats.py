"""How far drawing each item again helps, until what differs between items is all that is left."""

from math import ceil, sqrt

import msgspec
from numpy.typing import ArrayLike

from memruler.stats.power_pilot import Clusters, variances
from memruler.stats.sums import as_columns

__all__ = ["RepeatRow", "RepeatSplit", "split_repeats"]

_ROUNDING = 1e-9
_SHOWN = (1, 2, 3, 5, 10, 20)


class RepeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over the pilot's items, with so many draws of each.

    Attributes:
        repeats: Draws of each item.
        error: Standard error of the mean.
        within: Share of its variance that more draws could still remove, 0 to 1.
    """

    repeats: int
    error: float
    within: float


class RepeatSplit(msgspec.Struct, frozen=True, kw_only=True):
    """The variance of a mean difference, told apart.

    Attributes:
        items: Of the pilot.
        repeats: Draws of each item in the pilot.
        within: Variance of the mean that one draw of each item adds; with R draws, an R-th of it.
        between: Variance of the mean that no repeat removes, only more items or clusters.
        rows: The mean with more draws.
        enough: Fewest repeats with which `within` adds no more than `between`; None where nothing
            was found between items, so that every repeat still helps as much as an item.
    """

    items: int
    repeats: int
    within: float
    between: float
    rows: tuple[RepeatRow, ...]
    enough: int | None


def split_repeats(deltas: ArrayLike, clusters: Clusters | None = None) -> RepeatSplit:
    """Tell the variance within items from the variance between them; see `variances`.

    Args:
        deltas: Candidate minus baseline, shape (items, repeats), at least two repeats; finite.
        clusters: The group of each item; None where each stands alone.

    Raises:
        UsageError: Numbers are not finite, or their shape or number does not fit.
        Refusal: The pilot has one draw of each item, so that it says nothing about repeats; it
            has fewer than two clusters; or nothing varies.

    Example:
        >>> split = split_repeats([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 0]])
        >>> split.repeats, split.enough
        (2, 15)
    """
    parts = variances(deltas, clusters)
    items = len(as_columns(deltas))
    within, between = parts.within / items**2, parts.between / items**2
    return RepeatSplit(
        items=items,
        repeats=parts.repeats,
        within=within,
        between=between,
        rows=tuple(
            RepeatRow(
                repeats=repeats,
                error=sqrt(between + within / repeats),
                within=within / repeats / (between + within / repeats),
            )
            for repeats in _SHOWN
            if between + within > 0
        ),
        # What is a whole number on paper must not be rounded up for its last bit.
        enough=max(1, ceil(within / between - _ROUNDING)) if between > 0 else None,
    )
