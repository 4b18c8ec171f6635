"""Whether another mean, or only the queries on which targets agree, removes the dependence."""

from collections.abc import Iterator
from math import fsum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memruler.compare.robust_record import Aggregation, Agreement
from memruler.compare.shift_panel import MEASURED, Panel
from memruler.compare.shift_winners import (
    Table,
    cells,
    flip_change,
    flipped,
    gaps,
    recommendation,
    table,
)
from memruler.compare.target_record import TOLERANCE

__all__ = ["aggregations", "agreements"]

_NOTHING_LEFT = "no query where something is found agrees in every system, so there is no verdict"

_PER_QUERY = tuple(metric for metric in MEASURED if metric != "recall_pooled")


def aggregations(panel: Panel) -> Iterator[Aggregation]:
    """The winners under the mean over queries, of category means, and of cluster means.

    Queries without a category are one group of their own.
    """
    rows = panel.rows[0]
    traced = panel.systems[0].traced
    yield _aggregated(panel, "queries", np.arange(len(rows)), None)
    category = traced.category[rows]
    bare = "no query has a category" if (category < 0).all() else _few(category, "category")
    yield _aggregated(panel, "categories", category, bare)
    cluster = traced.cluster[rows]
    yield _aggregated(panel, "clusters", cluster, _few(cluster, "cluster"))


def agreements(panel: Panel) -> Iterator[Agreement]:
    """Only the queries on which all targets agree, at every cut-off and in both ways."""
    for k in panel.systems[0].cutoffs:
        before = table(panel, "ndcg", k)
        for on in ("hit", "first_rank"):
            yield _agreement(panel, on, k, before)


def _few(groups: NDArray[np.int64], word: str) -> str | None:
    different = len(np.unique(groups))
    if different == 1:
        return f"all queries are of one {word}, so this is the mean over queries"
    if different == len(groups):
        none = "" if word == "category" else ", as where the input names none"
        return f"every query is of a {word} of its own{none}, so this is the mean over queries"
    return None


def _aggregated(
    panel: Panel,
    over: Literal["queries", "categories", "clusters"],
    group: NDArray[np.int64],
    reason: str | None,
) -> Aggregation:
    number = np.unique(group, return_inverse=True)[1]
    groups = int(number.max()) + 1
    ordered = _Groups(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number)).tolist())
    found = []
    if reason is None:
        for metric, k in cells(panel, _PER_QUERY):
            whole = over == "queries"
            means = table(panel, metric, k) if whole else _table(panel, metric, k, ordered)
            found.append((metric, k, means))
    return Aggregation(
        over=over,
        groups=groups,
        recommendations=tuple(recommendation(*one) for one in found),
        flips=flipped(gaps(*one) for one in found),
        reason=reason,
    )


class _Groups(NamedTuple):
    """Queries by group: their order, and where each group ends in it."""

    order: NDArray[np.int64]
    ends: list[int]


def _table(panel: Panel, metric: str, k: int, groups: _Groups) -> Table:
    """The means of the means of groups."""
    starts = [0, *groups.ends[:-1]]
    depth = panel.systems[0].cutoffs[0] if metric == "top1" else k

    def mean(at: int, target: str) -> float:
        values = panel.values(at, target, metric, depth)[groups.order].tolist()
        parts = [
            fsum(values[lo:hi]) / (hi - lo) for lo, hi in zip(starts, groups.ends, strict=True)
        ]
        return fsum(parts) / len(parts)

    return {
        target: {name: mean(at, target) for at, name in enumerate(panel.names)}
        for target in panel.targets
    }


def _agreement(panel: Panel, on: Literal["hit", "first_rank"], k: int, before: Table) -> Agreement:
    size = len(panel.rows[0])
    every, some = np.ones(size, np.bool_), np.zeros(size, np.bool_)
    agree = nothing = changed = 0
    for at in range(len(panel.names)):
        first = np.stack([panel.first_rank(at, target, k) for target in panel.targets])
        hit = first > 0
        missed = ~hit.any(axis=0)
        alike = hit.all(axis=0)
        if on == "first_rank":
            alike &= (first == first[0]).all(axis=0)
        ndcg = np.stack([panel.values(at, target, "ndcg", k) for target in panel.targets])
        differs = ndcg.max(axis=0) - ndcg.min(axis=0) > TOLERANCE
        agree += int(alike.sum())
        nothing += int(missed.sum())
        changed += int((alike & differs).sum())
        every &= alike | missed
        some |= alike
    every &= some
    means = table(panel, "ndcg", k, every) if every.any() else None
    return Agreement(
        on=on,
        k=k,
        of=size * len(panel.names),
        agree=agree,
        nothing=nothing,
        changed=changed,
        share=changed / agree if agree else None,
        queries=int(every.sum()),
        recommendation=None if means is None else recommendation("ndcg", k, means),
        flips=None if means is None else flip_change(before, means),
        reason=None if means is not None else _NOTHING_LEFT,
    )
