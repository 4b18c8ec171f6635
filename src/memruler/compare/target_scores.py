"""Means of one store under every target, each beside its own and the shared population."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from memruler.compare.shift_pairs import pair_shift
from memruler.compare.target_record import (
    NO_ITEM,
    CategoryMeans,
    Depth,
    Means,
    TargetResult,
    TargetScores,
)
from memruler.compare.target_sums import exact_mean, exact_sum
from memruler.metrics.credited import Credited
from memruler.scoring.slices import slice_name
from memruler.scoring.traced import Scored, Traced

__all__ = ["category_masks", "excluded_by_reason", "means_over", "target_scores"]


def target_scores(scored: Scored) -> TargetScores:
    """Sum up what one store scores under each target, and the shifts between them.

    Args:
        scored: The values of every query.
    """
    traced = scored.traced
    shared = scored.shared()
    return TargetScores(
        name=traced.name,
        origin=traced.origin,
        rule=scored.rule,
        level=traced.level,
        population=traced.population,
        queries=len(traced.reason),
        counted=int(traced.counts().sum()),
        shared=int(shared.sum()),
        cutoffs=scored.cutoffs,
        targets=tuple(_result(scored, target, shared) for target in scored.by_target),
        pairs=tuple(pair_shift([scored], a, b) for a, b in combinations(scored.by_target, 2)),
        unserved=traced.unserved,
        notices=traced.notices,
    )


def category_masks(traced: Traced) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The categories of the queries that may be scored, by name, and their queries [Q]."""
    found = set(traced.category[traced.counts()].tolist()) - {-1}
    for code in sorted(found, key=traced.categories.__getitem__):
        yield slice_name(traced.categories[code]), traced.category == code


def means_over(values: Credited, rows: NDArray[np.bool_]) -> Means:
    """The means over some queries that the target serves.

    Args:
        values: Of all queries.
        rows: Which of them [Q].
    """
    queries, anchors = int(rows.sum()), int(values.anchors[rows].sum())
    if not queries:
        reason = f"no query to take a mean over under {values.target}"
        return Means(queries=0, anchors=0, top1=None, depths=(), reason=reason)

    def mean(metric: str, k: int) -> float:
        return exact_mean(values.values[metric, k][rows])

    depths = []
    for k in values.cutoffs:
        found = exact_sum(values.found[k][rows])
        depths.append(
            Depth(
                k=k,
                found=found,
                recall_any=mean("recall_any", k),
                recall_all=mean("recall_all", k),
                recall_micro=mean("recall_micro", k),
                recall_pooled=found / anchors,
                mrr=mean("mrr", k),
                ndcg=mean("ndcg", k),
            )
        )
    top1 = mean("top1", values.cutoffs[0])
    return Means(queries=queries, anchors=anchors, top1=top1, depths=tuple(depths))


def _result(scored: Scored, target: str, shared: NDArray[np.bool_]) -> TargetResult:
    traced, values = scored.traced, scored.by_target[target]
    counts, served = traced.counts(), scored.served(target)
    gold = traced.supports[target]
    alike = bool(np.array_equal(served, shared))
    own = means_over(values, served)
    categories = []
    for name, mask in category_masks(traced):
        mine = means_over(values, served & mask)
        both = mine if alike else means_over(values, shared & mask)
        categories.append(CategoryMeans(name=name, own=mine, shared=both))
    return TargetResult(
        target=target,
        queries=len(counts),
        counted=int(counts.sum()),
        scored=int(served.sum()),
        excluded=excluded_by_reason(traced, served),
        anchors_of=int(gold.of[counts].sum()),
        anchors=int(gold.anchors()[counts].sum()),
        eligible=int(gold.eligible()[counts].sum()),
        greedy=values.greedy,
        own=own,
        shared=own if alike else means_over(values, shared),
        categories=tuple(categories),
    )


def excluded_by_reason(traced: Traced, served: NDArray[np.bool_]) -> dict[str, int]:
    """Reason to the number of queries that have no value under a target.

    Args:
        traced: The rankings.
        served: Queries that have one [Q].
    """
    counts = traced.counts()
    numbers = np.bincount(traced.reason[~counts], minlength=len(traced.reasons)).tolist()
    found = dict(zip(traced.reasons, numbers, strict=True))
    # One name, one number, also where the input itself gives a query this reason.
    found[NO_ITEM] = found.get(NO_ITEM, 0) + int((counts & ~served).sum())
    return {reason: number for reason, number in sorted(found.items()) if number}
