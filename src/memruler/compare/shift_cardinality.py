"""How much of a shift is mere target-set size: one target admits more items than another.

Over the queries that both targets serve, x is the number of eligible items under `b` minus that
under `a`, and y the nDCG under `b` minus that under `a`. The line y = intercept + slope x is that
of least squares; r is Pearson's, t = r sqrt((n - 2) / (1 - r^2)). `r2` is the share of the variance
of the shift that goes with size; the bin at 0 is what cannot come from size at all.
"""

from collections.abc import Iterator, Sequence
from math import sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.compare.shift_pairs import both_served
from memruler.compare.target_record import TOLERANCE
from memruler.compare.target_sums import exact_mean, exact_sum
from memruler.scoring.traced import Scored

__all__ = ["Cardinality", "Line", "SizeBin", "cardinality", "line"]

_EDGES = (4, 8, 16)
"""Differences up to the first are bins of their own; ranges end at the others."""

_FEWEST = 3


class SizeBin(msgspec.Struct, frozen=True, kw_only=True):
    """Queries whose difference in eligible items lies from `low` to `high`, both included.

    Attributes:
        low, high: None where the bin is open at that end.
        queries: How many; each counts once for each system.
        mean: Mean shift of nDCG.
        changed: Queries whose nDCG changes.
    """

    low: int | None
    high: int | None
    queries: int
    mean: float
    changed: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of least squares; what has no value is None, and `reason` says why."""

    slope: float | None
    intercept: float | None
    r2: float | None
    t: float | None
    reason: str | None = None


class Cardinality(msgspec.Struct, frozen=True, kw_only=True):
    """The shift of nDCG from target `a` to `b` against the difference in eligible items.

    Attributes:
        a, b: The two targets.
        k: The cut-off.
        queries: Served by both; each counts once for each system.
        line: See the module.
        bins: Those that are not empty, ascending.
    """

    a: str
    b: str
    k: int
    queries: int
    line: Line
    bins: tuple[SizeBin, ...]


def cardinality(systems: Sequence[Scored], a: str, b: str, k: int) -> Cardinality:
    """Hold the shift between two targets against the difference in target-set size.

    Args:
        systems: One or more.
        a: A target that all have.
        b: Another.
        k: One of the cut-offs.
    """
    sizes, shifts = [], []
    for one in systems:
        rows = both_served(one, a, b)
        gold = one.traced.supports
        sizes.append((gold[b].eligible() - gold[a].eligible())[rows])
        shifts.append(
            (one.by_target[b].values["ndcg", k] - one.by_target[a].values["ndcg", k])[rows]
        )
    x, y = np.concatenate(sizes), np.concatenate(shifts)
    return Cardinality(a=a, b=b, k=k, queries=len(x), line=line(x, y), bins=tuple(_bins(x, y)))


def line(x: NDArray[np.int64], y: NDArray[np.float64]) -> Line:
    """The line of least squares through some points, with its t and r squared."""
    if len(x) < _FEWEST:
        return _none(f"{len(x)} queries are too few for a line: it takes {_FEWEST}")
    if np.ptp(x) == 0:
        return _none("the number of eligible items differs by the same for every query")
    if np.ptp(y) <= TOLERANCE:
        return _none("the shift is the same for every query")
    dx, dy = x - x.mean(), y - y.mean()
    xx, yy, xy = (exact_sum(one) for one in (dx * dx, dy * dy, dx * dy))
    slope, r2 = xy / xx, min(xy * xy / (xx * yy), 1.0)
    fits = 1 - r2 <= TOLERANCE
    r = xy / sqrt(xx * yy)
    return Line(
        slope=slope,
        intercept=float(y.mean() - slope * x.mean()),
        r2=r2,
        t=None if fits else r * sqrt((len(x) - 2) / (1 - r2)),
        reason="every point lies on the line, so t has no bound" if fits else None,
    )


def _none(reason: str) -> Line:
    return Line(slope=None, intercept=None, r2=None, t=None, reason=reason)


def _ranges() -> Iterator[tuple[int | None, int | None]]:
    """The bins, ascending and symmetric about 0."""
    ends = list(zip(_EDGES, (*_EDGES[1:], None), strict=True))
    for low, high in reversed(ends):
        yield None if high is None else -high, -low - 1
    for exact in range(-_EDGES[0], _EDGES[0] + 1):
        yield exact, exact
    for low, high in ends:
        yield low + 1, high


def _bins(x: NDArray[np.int64], y: NDArray[np.float64]) -> Iterator[SizeBin]:
    for low, high in _ranges():
        inside = np.ones(len(x), np.bool_)
        if low is not None:
            inside &= x >= low
        if high is not None:
            inside &= x <= high
        queries = int(inside.sum())
        if queries:
            yield SizeBin(
                low=low,
                high=high,
                queries=queries,
                mean=exact_mean(y[inside]),
                changed=int((np.abs(y[inside]) > TOLERANCE).sum()),
            )
