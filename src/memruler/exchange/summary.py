"""The means of a bundle, small enough to be compared at a glance."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memruler.exchange.bundle_record import BundleDepth, BundleSummary, BundleTarget
from memruler.metrics.credited import CREDIT_METRICS
from memruler.scoring.per_query import NO_ELIGIBLE
from memruler.scoring.traced import Scored

__all__ = ["summary_of"]


def summary_of(scored: Scored) -> BundleSummary:
    """The means of each target over the queries that it serves."""
    return BundleSummary(targets=tuple(_target(scored, name) for name in scored.by_target))


def _target(scored: Scored, target: str) -> BundleTarget:
    traced, values = scored.traced, scored.by_target[target]
    served = scored.served(target)
    excluded = {
        reason: int((traced.reason == place).sum()) for place, reason in enumerate(traced.reasons)
    }
    excluded[NO_ELIGIBLE] = int((traced.counts() & ~served).sum())
    anchors = int(values.anchors[served].sum())
    return BundleTarget(
        target=target,
        served=int(served.sum()),
        excluded={reason: count for reason, count in excluded.items() if count},
        anchors=anchors,
        anchors_of=int(values.of[served].sum()),
        depths=tuple(_depth(scored, target, k, served, anchors) for k in scored.cutoffs),
    )


def _depth(
    scored: Scored, target: str, k: int, served: NDArray[np.bool_], anchors: int
) -> BundleDepth:
    values = scored.by_target[target]
    found = math.fsum(values.found[k][served])
    queries = int(served.sum())
    means: dict[str, Any] = {
        metric: math.fsum(values.values[metric, k][served]) / queries if queries else None
        for metric in CREDIT_METRICS
    }
    return BundleDepth(
        k=k, found=found, recall_pooled=found / anchors if anchors else None, **means
    )
