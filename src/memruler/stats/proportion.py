"""A share of independent trials and its interval."""

from math import sqrt

from memruler.errors import UsageError

__all__ = ["Z", "whole", "wilson"]

Z = 1.959963984540054
"""97.5th percentile of the standard normal distribution."""


def whole(number: int, what: str, least: int = 0) -> int:
    """A count, checked.

    Args:
        number: Python's or numpy's.
        what: Its name, for the error.
        least: Smallest that is allowed.

    Raises:
        UsageError: It is not a whole number, or below `least`.
    """
    try:
        checked = number.__index__()
    except AttributeError:
        raise UsageError(f"{what} is {number!r}", hint="a count is a whole number") from None
    if checked < least:
        raise UsageError(f"{what} is {checked}", hint=f"at least {least}")
    return checked


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a share.

    `(h + z^2/2 +- z sqrt(h (n - h) / n + z^2/4)) / (n + z^2)` with `h` hits of `n` trials (Wilson,
    Probable inference, the law of succession, and statistical inference, JASA 22, 1927). Unlike the
    textbook interval it is no point where every trial hits. The trials must be independent.

    Args:
        hits: From 0 to `trials`.
        trials: At least 1.

    Returns:
        Both ends, from 0 to 1.

    Raises:
        UsageError: A count is out of range.

    Example:
        >>> [round(end, 3) for end in wilson(9, 10)]
        [0.596, 0.982]
    """
    n, h = whole(trials, "the number of trials", 1), whole(hits, "the number of hits")
    if h > n:
        raise UsageError(f"{h} hits of {n} trials", hint="no more hits than trials")
    middle, off = h + Z * Z / 2, Z * sqrt(h * (n - h) / n + Z * Z / 4)
    # At the edges the formula is exactly 0 or 1 and only rounding says otherwise.
    low = 0.0 if h == 0 else (middle - off) / (n + Z * Z)
    return low, 1.0 if h == n else (middle + off) / (n + Z * Z)
