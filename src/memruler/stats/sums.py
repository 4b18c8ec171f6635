"""Differences and their clusters, checked, and reduced to a sum and a count a cluster.

The mean of a resample of whole clusters is the sum of their sums over the sum of their counts, so
nothing else of the items is ever needed again.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memruler.errors import Refusal, UsageError

__all__ = ["Floats", "Ints", "Tally", "as_columns", "cluster_codes", "refuse_few", "tally"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tally(NamedTuple):
    """Sums and counts of the clusters.

    Attributes:
        sums: Shape (clusters, columns).
        counts: Items of each cluster, shape (clusters,); at least 1 each.
    """

    sums: Floats
    counts: Ints


def as_columns(deltas: ArrayLike) -> Floats:
    """The differences as finite numbers, one row an item, one column a metric.

    Raises:
        UsageError: They are not numbers, not finite, or have no such shape.
    """
    try:
        array = np.asarray(deltas, np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"the differences are not numbers: {error}",
            hint="leave out the items that have no value in one of the runs, and count them",
        ) from None
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise UsageError(
            f"the differences have {array.ndim} dimensions", hint="give a list of them"
        )
    finite = np.isfinite(columns)
    if not finite.all():
        at = int(np.argmin(finite.all(axis=1)))
        raise UsageError(
            f"{int((~finite).sum())} differences are not finite",
            where=f"item {at}",
            hint="an item without a value in one of the runs has no difference: leave it out",
        )
    return columns


def cluster_codes(clusters: Sequence[Hashable] | NDArray[Any], n: int) -> Ints:
    """A number from 0 for each item's cluster, the same whatever order the items come in.

    Args:
        clusters: One name an item.
        n: Items.

    Raises:
        UsageError: Their number differs, or an item has none.
    """
    names = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(names) != n:
        raise UsageError(
            f"there are {n} differences and {len(names)} clusters",
            hint="give one cluster for each difference, in the same order",
        )
    for at, name in enumerate(names):
        if name is None or name != name:  # noqa: PLR0124 - only NaN is not itself
            raise UsageError(
                "an item has no cluster",
                where=f"item {at}",
                hint="give it one of its own if it stands alone",
            )
    try:
        order = sorted(set(names), key=lambda name: (type(name).__name__, name))
    except TypeError:  # names that have no order, such as mixed tuples
        order = sorted(set(names), key=repr)
    code = {name: at for at, name in enumerate(order)}
    return np.fromiter((code[name] for name in names), np.int64, n)


def refuse_few(n: int, clusters: int) -> None:
    """Refuse an interval where nothing can be resampled.

    Raises:
        Refusal: There are fewer than two clusters.
    """
    if clusters < 2:  # noqa: PLR2004 - the least that can differ
        what = f"{n} items in {clusters} cluster{'s' * (clusters != 1)}"
        raise Refusal(
            [f"{what}: resampling needs at least two, or its interval would be a point"],
            hint="measure more, or choose a finer cluster key",
        )


def tally(columns: Floats, codes: Ints | None) -> Tally:
    """Sum and count of each cluster; every item is its own where `codes` is None."""
    if codes is None:
        return Tally(columns, np.ones(len(columns), np.int64))
    counts = np.bincount(codes)
    sums = np.empty((len(counts), columns.shape[1]))
    for at in range(columns.shape[1]):
        sums[:, at] = np.bincount(codes, columns[:, at], len(counts))
    return Tally(sums, counts.astype(np.int64))
