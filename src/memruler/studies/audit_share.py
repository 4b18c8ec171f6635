"""How often relaxed credit is justified, with an interval from whole queries."""

from collections.abc import Hashable, Sequence

import numpy as np

from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.interval import FEW_CLUSTERS
from memruler.stats.proportion import wilson
from memruler.stats.statistic import spread
from memruler.stats.sums import Floats, cluster_codes
from memruler.studies.audit_record import JustifiedShare, WeightedShare

__all__ = ["justified_share"]

_RESAMPLES, _SEED = 10_000, 7
_UNDECIDED = "no case is decided"


def justified_share(
    justified: Sequence[bool],
    queries: Sequence[Hashable],
    weights: Sequence[float] | str,
) -> JustifiedShare:
    """The share of decided pairs that are justified, plain and weighted.

    The items of a query move together, so the bootstrap draws whole queries. Where every pair says
    the same, the bootstrap has nothing to draw from: then it is Wilson's interval with each query
    as one trial.

    Args:
        justified: One a decided pair.
        queries: Its query, in the same order.
        weights: How many credits it stands for, above 0; or why that is not known.
    """
    hits, of, clusters = sum(justified), len(justified), len(set(queries))
    low = high = method = no_interval = None
    warnings: tuple[str, ...] = ()
    if clusters < 2:  # noqa: PLR2004 - the least that can differ
        no_interval = "one query: an interval needs two" if of else _UNDECIDED
    elif hits in (0, of):
        low, high = wilson(clusters if hits else 0, clusters)
        method = "wilson"
    else:
        found = paired_bootstrap([float(one) for one in justified], queries)
        low, high, method = found.low, found.high, str(found.method)
        if clusters < FEW_CLUSTERS:
            warnings = (
                f"{clusters} queries: below {FEW_CLUSTERS} a percentile interval is too narrow",
            )
    no_weights = _UNDECIDED if not of else weights if isinstance(weights, str) else None
    weighted = None
    if of and not isinstance(weights, str):
        value, *ends = _weighed(justified, queries, weights) or (hits / of, low, high)
        weighted = WeightedShare(value=value, low=ends[0], high=ends[1])
    return JustifiedShare(
        value=hits / of if of else None,
        justified=hits,
        of=of,
        low=low,
        high=high,
        queries=clusters,
        weighted=weighted,
        no_weights=no_weights,
        method=method,
        no_interval=no_interval,
        warnings=warnings,
    )


def _weighed(
    justified: Sequence[bool], queries: Sequence[Hashable], weights: Sequence[float]
) -> tuple[float, float | None, float | None] | None:
    """The weighted share and its ends; None where it is the plain one."""
    if len(set(weights)) == 1 or len(set(justified)) == 1:
        return None
    weight = np.array(weights)
    parts = np.column_stack([weight * np.array(justified), weight])
    if len(set(queries)) < 2:  # noqa: PLR2004 - nothing to draw from
        return float(parts[:, 0].sum() / weight.sum()), None, None
    codes = cluster_codes(list(queries), len(weights))
    found = spread(parts, codes, _ratio, resamples=_RESAMPLES, seed=_SEED)
    assert found.value is not None  # noqa: S101 - weights are above 0
    return found.value, found.low, found.high


def _ratio(sums: Floats) -> Floats:
    ratio: Floats = sums[0] / sums[1]
    return ratio
