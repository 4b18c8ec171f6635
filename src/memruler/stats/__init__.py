"""Numbers in, intervals and verdicts out: pure functions that know nothing of runs."""

from memruler.stats.bootstrap import paired_bootstrap, paired_bootstraps
from memruler.stats.interval import Interval

__all__ = ["Interval", "paired_bootstrap", "paired_bootstraps"]
