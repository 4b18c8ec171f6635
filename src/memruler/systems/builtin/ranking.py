"""The production ranking as pure functions: numbers in, order out. No clock is read here.

For an item of relevance `c`, age `a` in days, decay rate `r` and importance `m`:

    score = c * clamp(exp(-r * a), floor, cap) * (0.7 + 0.3 * m)

each factor being 1 where its term is off. The age is the question's time less the item's, negative
for an item dated later; an item without a date does not decay. A decay pulls a score towards 0, so
a negative relevance (a cosine below 0) rises with age; it stays below every positive one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.systems.builtin.vectors import Floats

__all__ = [
    "DAY",
    "decay",
    "fuse",
    "importance_weight",
    "jaccard",
    "mmr",
    "order_key",
    "rounded",
]

DAY = 86_400_000_000
"""Microseconds in a day; ages are whole microseconds, so that a shift of all dates is exact."""

_LATEST = np.iinfo(np.int64).max


def decay(
    ages: NDArray[np.int64], dated: NDArray[np.bool_], rates: Floats, floor: float, cap: float
) -> tuple[Floats, Floats]:
    """The decay factor of each item, and an exponent that orders items by it.

    The factor is `clamp(exp(-r * a), floor, cap)`. With the exponent `e`, `exp(-e)` is that
    factor divided by the largest of all: it orders items alike, but does not vanish when all of
    them are very old. Where all items are dated, share a rate and no clamp bites, `e` is
    `r * (age - youngest age)`: a shift of every date leaves each bit of it as it was.

    Args:
        ages: The question's time less the item's, in microseconds; ignored where not `dated`.
        dated: Whether the item has a time; without one the factor is 1.
        rates: Per day, at least 0.
        floor: Least factor, at least 0.
        cap: Largest factor, at least `floor`.
    """
    raw = np.where(dated, rates * (ages / DAY), 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        factor = np.where(dated, np.clip(np.exp(-raw), floor, cap), 1.0)
        least, most = -np.log(np.float64(cap)), -np.log(np.float64(floor))
    exponents = np.where(dated, np.clip(raw, least, most), 0.0)
    if dated.all() and np.all(rates == rates[:1]) and np.array_equal(exponents, raw):
        return factor, rates * ((ages - ages.min(initial=_LATEST)) / DAY)
    lowest = exponents.min(initial=np.inf)
    return factor, exponents - lowest if np.isfinite(lowest) else np.zeros_like(exponents)


def importance_weight(importance: Floats) -> Floats:
    """`0.7 + 0.3 * importance`: from 0.7 to 1."""
    return 0.7 + 0.3 * importance


def order_key(relevance: Floats, weight: Floats, relative: Floats) -> Floats:
    """What an unrounded ranking is sorted by: the score without the factor all items share."""
    key: Floats = relevance * weight * np.exp(-relative)
    return key


def rounded(scores: Floats, digits: int) -> Floats:
    """`rint(score * 10**digits) / 10**digits`, halves to even: what is sorted by, ties and all."""
    return np.round(scores, digits) + 0.0  # + 0.0 makes -0.0 plain 0.0


def fuse(
    rankings: Sequence[NDArray[np.intp]], size: int, constant: int, depth: int | None
) -> tuple[NDArray[np.intp], Floats]:
    """Reciprocal-rank fusion: an item's score is the sum of `1 / (constant + rank)`, rank from 1.

    Args:
        rankings: Positions, best first, in each ranking.
        size: Positions are below this.
        constant: Usually 60; at least 0.
        depth: How many of each ranking count; None for all.

    Returns:
        The positions that occur in at least one ranking, ascending, and their scores.
    """
    scores = np.zeros(size)
    for ranking in rankings:
        read = ranking[:depth]
        scores[read] += 1.0 / (constant + np.arange(1, read.size + 1))
    positions = np.flatnonzero(scores)
    return positions, scores[positions]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words of both, 0 to 1; 0 where neither has any."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def mmr(relevance: Sequence[float], words: Sequence[frozenset[str]], trade: float) -> list[int]:
    """Maximal marginal relevance: the order in which a window is shown.

    Each step takes the item with the largest
    `trade * relevance - (1 - trade) * (largest jaccard to an item already taken)`,
    the earlier in the window among equals.

    Args:
        relevance: Cosine of each item of the window, in window order.
        words: Words of each item.
        trade: 0 for diversity alone, 1 for relevance alone.

    Returns:
        Window positions in their new order.
    """
    left = list(range(len(relevance)))
    nearest = [0.0] * len(relevance)
    order: list[int] = []
    while left:
        taken = max(left, key=lambda at: (trade * relevance[at] - (1 - trade) * nearest[at], -at))
        order.append(taken)
        left.remove(taken)
        for at in left:
            nearest[at] = max(nearest[at], jaccard(words[taken], words[at]))
    return order
