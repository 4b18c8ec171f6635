"""A line of least squares, its share of the variance, and t, clustered where queries return.

    slope = sxy / sxx        r2 = sxy^2 / (sxx syy)

Where every query stands there once, t = r sqrt((n - 2) / (1 - r2)). Where several systems answer
the same query, their points are not independent: t = slope / se, with the sandwich over the G
queries (u is a residual, and the sum of each query's points is squared):

    se^2 = G / (G - 1)  (n - 1) / (n - 2)  sum over queries of (sum of (x - mean x) u)^2 / sxx^2
"""

from math import sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.compare.target_record import TOLERANCE
from memruler.compare.target_sums import exact_sum

__all__ = ["Line", "line"]

_FEWEST = 3


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of least squares; what has no value is None, and `reason` says why.

    Attributes:
        slope, intercept: Of y over x.
        r2: The share of the variance of y that goes with x.
        t: Of the slope.
        clusters: How many queries t is clustered by; None where each stands there once.
        reason: Why something is None.
    """

    slope: float | None
    intercept: float | None
    r2: float | None
    t: float | None
    clusters: int | None = None
    reason: str | None = None


def line(
    x: NDArray[np.int64], y: NDArray[np.float64], query: NDArray[np.int64] | None = None
) -> Line:
    """The line of least squares through some points.

    Args:
        x: Differences in target-set size [N].
        y: Shifts [N].
        query: A number for the query of each point [N]; None where no two are of one.
    """
    if len(x) < _FEWEST:
        return _none(f"{len(x)} queries are too few for a line: it takes {_FEWEST}")
    if np.ptp(x) == 0:
        return _none("the number of eligible items differs by the same for every query")
    if np.ptp(y) <= TOLERANCE:
        return _none("the shift is the same for every query")
    dx, dy = _centred(x), _centred(y)
    xx, yy, xy = exact_sum(dx * dx), exact_sum(dy * dy), exact_sum(dx * dy)
    slope, r2 = xy / xx, min(xy * xy / (xx * yy), 1.0)
    t: float | None = None
    reason = clusters = None
    groups = len(x) if query is None else len(np.unique(query))
    if 1 - r2 <= TOLERANCE:
        reason = "every point lies on the line, so t has no bound"
    elif query is None or groups == len(x):
        t = xy / sqrt(xx * yy) * sqrt((len(x) - 2) / (1 - r2))
    elif groups == 1:
        reason = "all points are of one query, so there is no t"
    else:
        clusters = groups
        number = np.unique(query, return_inverse=True)[1]
        scores: NDArray[np.float64] = np.bincount(number, dx * (dy - slope * dx)).astype(np.float64)
        meat = exact_sum(scores * scores) * groups / (groups - 1) * (len(x) - 1) / (len(x) - 2)
        if meat <= TOLERANCE * xx * yy / len(x):
            reason = "the points of every query balance each other, so t has no bound"
        else:
            t = xy / sqrt(meat)
    return Line(
        slope=slope,
        intercept=float(y.mean() - slope * x.mean()),
        r2=r2,
        t=t,
        clusters=clusters,
        reason=reason,
    )


def _centred(values: NDArray[np.integer] | NDArray[np.floating]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = values - values.mean()
    return found


def _none(reason: str) -> Line:
    return Line(slope=None, intercept=None, r2=None, t=None, reason=reason)
