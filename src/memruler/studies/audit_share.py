"""How often relaxed credit is justified, with an interval from whole queries."""

from collections.abc import Hashable, Sequence

from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.interval import FEW_CLUSTERS
from memruler.stats.proportion import wilson
from memruler.studies.audit_record import JustifiedShare

__all__ = ["justified_share"]


def justified_share(justified: Sequence[bool], queries: Sequence[Hashable]) -> JustifiedShare:
    """The share of decided cases that are justified.

    The cases of a query move together (it may have several items, each under several targets), so
    the bootstrap draws whole queries. Where every case says the same, the bootstrap has nothing to
    draw from: then it is Wilson's interval with each query as one trial.

    Args:
        justified: One a decided case.
        queries: Its query, in the same order.
    """
    hits, of, clusters = sum(justified), len(justified), len(set(queries))
    value = hits / of if of else None
    if clusters < 2:  # noqa: PLR2004 - the least that can differ
        return JustifiedShare(
            value=value,
            justified=hits,
            of=of,
            low=None,
            high=None,
            queries=clusters,
            method=None,
            no_interval="one query: an interval needs two" if of else "no case is decided",
        )
    warnings: tuple[str, ...] = ()
    if hits in (0, of):
        low, high = wilson(clusters if hits else 0, clusters)
        method = "wilson"
    else:
        found = paired_bootstrap([float(one) for one in justified], queries)
        low, high, method = found.low, found.high, str(found.method)
        if clusters < FEW_CLUSTERS:
            warnings = (
                f"{clusters} queries: below {FEW_CLUSTERS} a percentile interval is too narrow",
            )
    return JustifiedShare(
        value=value,
        justified=hits,
        of=of,
        low=low,
        high=high,
        queries=clusters,
        method=method,
        no_interval=None,
        warnings=warnings,
    )
