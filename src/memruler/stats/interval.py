"""The record of an interval, and the words that must stand beside it."""

from typing import Literal

import msgspec

__all__ = ["FEW_CLUSTERS", "Interval", "Method"]

Method = Literal["exact", "monte-carlo"]

FEW_CLUSTERS = 30
"""Below this many clusters a percentile interval is known to be too narrow; docs/statistics.md has
the coverage that was measured."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A mean of paired differences and its percentile interval.

    Attributes:
        mean: Mean of the differences, candidate minus baseline.
        low: Lower end.
        high: Upper end; never below `low`.
        n: Differences.
        clusters: Groups of differences that were resampled whole; at least 2.
        level: Nominal share of intervals that hold the true mean.
        method: `exact` for the bootstrap distribution itself, `monte-carlo` for draws from it.
        resamples: How many draws; None where none were needed.
        seed: Of the draws; None where there were none.
        low_error: Standard error of `low` from the finite number of draws; 0 for `exact`.
        high_error: The same of `high`.
        warnings: What a reader must know, one sentence each.
    """

    mean: float
    low: float
    high: float
    n: int
    clusters: int
    level: float
    method: Method
    resamples: int | None
    seed: int | None
    low_error: float
    high_error: float
    warnings: tuple[str, ...] = ()

    @property
    def gain(self) -> bool:
        """Whether the candidate is better: only a lower end above zero says so."""
        return self.low > 0
