"""McNemar's test: did a yes-or-no label move more often one way than the other?"""

from math import exp, lgamma, log

import msgspec
import numpy as np

from memruler.stats.proportion import whole

__all__ = ["McNemar", "mcnemar"]


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Both p-values of one table.

    Attributes:
        wins: Items that only the candidate got right.
        losses: Items that only the baseline got right.
        p: Exact, two-sided; its true error rate is at most the nominal one.
        mid_p: Half of the observed table's probability taken off each tail; less conservative, and
            now and then a little above the nominal error rate.
        warnings: What a reader must know, one sentence each.
    """

    wins: int
    losses: int
    p: float
    mid_p: float
    warnings: tuple[str, ...] = ()


def mcnemar(wins: int, losses: int) -> McNemar:
    """The exact test of discordant pairs; items that did not move say nothing.

    Were both directions as likely, wins would be binomial: `X ~ Bin(wins + losses, 1/2)`. With `m`
    the smaller count, `p = min(1, 2 P(X <= m))` and `mid_p = 2 P(X <= m) - P(X = m)` (McNemar,
    Psychometrika 12, 1947; both forms in Fagerland, Lydersen and Laake, The McNemar test for
    binary matched-pairs data, BMC Medical Research Methodology 13:91, 2013).

    The items must be independent. Where they come in clusters, use `paired_bootstrap`.

    Args:
        wins: Not negative.
        losses: Not negative.

    Raises:
        UsageError: A count is negative or not whole.

    Example:
        >>> found = mcnemar(wins=6, losses=2)
        >>> round(found.p, 4), round(found.mid_p, 4)
        (0.2891, 0.1797)
    """
    up, down = whole(wins, "wins"), whole(losses, "losses")
    n, fewer = up + down, min(up, down)
    here = exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2))
    # P(X = k - 1) = P(X = k) * k / (n - k + 1): the tail as multiples of its largest term.
    k = np.arange(fewer, 0, -1)
    tail = here * (1.0 + float(np.cumprod(k / (n - k + 1.0)).sum()))
    return McNemar(
        wins=up,
        losses=down,
        p=min(1.0, 2 * tail),
        mid_p=min(1.0, 2 * tail - here) if n else 1.0,
        warnings=() if n else ("no item moved: there is nothing to test",),
    )
