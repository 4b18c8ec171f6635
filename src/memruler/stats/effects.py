"""How large a difference is, in units that do not depend on how many items there are."""

from math import asin, sqrt

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from memruler.errors import UsageError
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.interval import Interval
from memruler.stats.proportion import whole, wilson
from memruler.stats.ratings import Clusters
from memruler.stats.statistic import spread
from memruler.stats.sums import Floats, cluster_codes
from memruler.stats.wilcoxon import as_column, wilcoxon_signed_rank

__all__ = [
    "Effect",
    "Outcomes",
    "cohen_dz",
    "cohen_h",
    "net_win_rate",
    "odds_ratio",
    "outcomes",
    "rank_biserial",
]

_CONSTANT = 1e-12
"""Standard deviation, as a share of the largest difference, that rounding may leave."""
_ROUNDING = 1e-13
"""Variance, as a share of the mean square, that rounding may leave in a resample of equal ones."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One effect size.

    Attributes:
        measure: `cohen-dz`, `cohen-h`, `odds-ratio` or `rank-biserial`.
        value: None where it has none.
        reason: Why there is no value; None where there is one.
        low: Lower end of its 95 % interval; None where none is computed.
        high: Upper end; likewise, and None where it has no bound.
        warnings: What a reader must know, one sentence each.
    """

    measure: str
    value: float | None
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    warnings: tuple[str, ...] = ()


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How many items moved which way.

    Attributes:
        wins: Differences above zero.
        ties: Differences of exactly zero.
        losses: Differences below zero.
    """

    wins: int
    ties: int
    losses: int

    @property
    def net(self) -> float:
        """`(wins - losses) / items`, from -1 to 1."""
        return (self.wins - self.losses) / (self.wins + self.ties + self.losses)


def outcomes(deltas: ArrayLike) -> Outcomes:
    """Wins, ties and losses; no tolerance, since the same ranking gives the same score.

    Args:
        deltas: Candidate minus baseline, one an item; finite.

    Raises:
        UsageError: There are none, or one is not finite.

    Example:
        >>> outcomes([0.5, 0.0, 0.25, -1.0])
        Outcomes(wins=2, ties=1, losses=1)
    """
    column = as_column(deltas)
    wins, losses = int((column > 0).sum()), int((column < 0).sum())
    return Outcomes(wins=wins, ties=len(column) - wins - losses, losses=losses)


def net_win_rate(
    deltas: ArrayLike,
    clusters: Clusters | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 7,
) -> Interval:
    """`(wins - losses) / items` with its interval: the paired bootstrap of the signs.

    Args:
        deltas: Candidate minus baseline, one an item; finite.
        clusters: See `paired_bootstrap`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: See `paired_bootstrap`.
        Refusal: See `paired_bootstrap`.
    """
    return paired_bootstrap(np.sign(as_column(deltas)), clusters, resamples=resamples, seed=seed)


def rank_biserial(deltas: ArrayLike) -> Effect:
    """The matched-pairs rank-biserial correlation, `(W+ - W-) / (W+ + W-)`.

    From -1, where every difference that is not zero is a loss, to 1 (Kerby, The simple difference
    formula, Comprehensive Psychology 3, 2014). Zeros are ranked and left out, as in
    `wilcoxon_signed_rank`, whose test belongs to it; one win among a thousand ties is a 1, so the
    net win rate must stand beside it. No interval.

    Args:
        deltas: Candidate minus baseline, one an item or task; finite.

    Raises:
        UsageError: There are none, or one is not finite.

    Example:
        >>> rank_biserial([0.4, 0.3, -0.1, 0.2, 0.5]).value
        0.8666666666666667
    """
    ranks = wilcoxon_signed_rank(deltas)
    total = ranks.plus + ranks.minus
    if total == 0:
        return Effect(measure="rank-biserial", value=None, reason="every difference is zero")
    return Effect(measure="rank-biserial", value=(ranks.plus - ranks.minus) / total)


def cohen_dz(
    deltas: ArrayLike,
    clusters: Clusters | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 7,
) -> Effect:
    """The mean difference over the standard deviation of the differences (`n - 1`).

    Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, chapter 2.
    The interval is a percentile bootstrap of whole clusters.

    Args:
        deltas: Candidate minus baseline, one an item; finite.
        clusters: See `paired_bootstrap`.
        resamples: See `paired_bootstrap`.
        seed: See `paired_bootstrap`.

    Raises:
        UsageError: See `paired_bootstrap`.
        Refusal: See `paired_bootstrap`.

    Example:
        >>> found = cohen_dz([1, 1, 1, 0, 0, 0, 0, -1])
        >>> round(found.value, 3), found.low < found.value < found.high
        (0.354, True)
    """
    column = as_column(deltas)
    codes = None if clusters is None else cluster_codes(clusters, len(column))
    largest = float(np.abs(column).max()) or 1.0
    scaled = column / largest
    # About the mean, where squares lose least; it is added back.
    centre = float(scaled.mean())
    off = scaled - centre
    parts = np.column_stack((np.ones_like(off), off, off**2))

    def ratio(sums: Floats) -> Floats:
        n, first, second = sums
        mean = first / n
        variance = (second - n * mean**2) / np.maximum(n - 1, 1)
        spreads = variance > _CONSTANT**2 + _ROUNDING * second / n
        value: Floats = np.full_like(n, np.nan)
        value[spreads] = (centre + mean[spreads]) / np.sqrt(variance[spreads])
        return value

    found = spread(parts, codes, ratio, resamples=resamples, seed=seed)
    return Effect(
        measure="cohen-dz",
        value=found.value,
        reason="every difference is the same: there is no spread to measure by"
        if found.value is None
        else None,
        low=found.low,
        high=found.high,
        warnings=found.warnings,
    )


def cohen_h(base: float, candidate: float) -> Effect:
    """The difference of two shares on a scale where its variance does not depend on them.

    `2 asin(sqrt(candidate)) - 2 asin(sqrt(base))`, from -pi to pi (Cohen 1988, chapter 6). A
    point is worth more near 0 and 1 than in the middle. It knows nothing of the pairing.

    Args:
        base: The baseline's share, from 0 to 1.
        candidate: The candidate's.

    Raises:
        UsageError: A share is out of range.

    Example:
        >>> round(cohen_h(0.5, 0.75).value, 4)
        0.5236
    """
    for name, share in (("base", base), ("candidate", candidate)):
        if not 0 <= share <= 1:
            raise UsageError(f"{name} is {share}", hint="a share from 0 to 1")
    return Effect(measure="cohen-h", value=2 * asin(sqrt(candidate)) - 2 * asin(sqrt(base)))


def odds_ratio(wins: int, losses: int) -> Effect:
    """The conditional odds ratio of a yes-or-no label, `wins / losses`.

    How many items the candidate gains for each that it loses. With `s` a Wilson end of
    `wins / (wins + losses)`, the interval's end is `s / (1 - s)` (Agresti, Categorical Data
    Analysis, 3rd ed. 2013, chapter 11). The items must be independent; `mcnemar` is its test.

    Args:
        wins: Items that only the candidate got right.
        losses: Items that only the baseline got right.

    Raises:
        UsageError: A count is negative or not whole.

    Example:
        >>> found = odds_ratio(6, 2)
        >>> found.value, round(found.low, 2), round(found.high, 1)
        (3.0, 0.69, 13.0)
    """
    up, down = whole(wins, "wins"), whole(losses, "losses")
    if up + down == 0:
        return Effect(measure="odds-ratio", value=None, reason="no item moved")
    low, high = wilson(up, up + down)
    return Effect(
        measure="odds-ratio",
        value=up / down if down else None,
        reason=None if down else "no losses: the ratio has no upper bound",
        low=low / (1 - low),
        high=high / (1 - high) if down else None,
    )
