"""Which system wins under each target, and which pairs of systems change places."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memruler.compare.robust_record import Flip, FlipChange, OverTargets
from memruler.compare.shift_panel import MEASURED, Panel
from memruler.compare.target_record import TOLERANCE
from memruler.compare.target_scores import category_masks
from memruler.compare.winner_record import (
    CategoryWinners,
    Choice,
    Recommendation,
    SystemGap,
    TargetGap,
)

__all__ = [
    "Table",
    "by_category",
    "cells",
    "flip_change",
    "flipped",
    "gaps",
    "over_targets",
    "recommendation",
    "table",
    "winners",
]

Table = Mapping[str, Mapping[str, float]]
"""Target to system to mean."""

_Where = NDArray[np.bool_] | None


def cells(
    panel: Panel, metrics: Sequence[str] = MEASURED, cutoffs: Sequence[int] | None = None
) -> Iterator[tuple[str, int]]:
    """Every metric and cut-off; `top1` once, at 1, since it has none."""
    for metric in metrics:
        if metric == "top1":
            yield metric, 1
        else:
            yield from ((metric, k) for k in cutoffs or panel.systems[0].cutoffs)


def table(panel: Panel, metric: str, k: int, where: _Where = None) -> Table:
    """The means over the panel's queries, or over some of them."""
    depth = panel.systems[0].cutoffs[0] if metric == "top1" else k
    return {
        target: {
            name: panel.mean(at, target, metric, depth, where)
            for at, name in enumerate(panel.names)
        }
        for target in panel.targets
    }


def winners(means: Mapping[str, float]) -> tuple[str, ...]:
    """The systems with the highest mean, and those that differ from it by rounding only."""
    best = max(means.values())
    return tuple(name for name, mean in means.items() if best - mean <= TOLERANCE)


def recommendation(metric: str, k: int, means: Table) -> Recommendation:
    """Who wins under each target, and whether that depends on it."""
    choices = tuple(
        Choice(
            target=target,
            winners=winners(mine),
            value=max(mine.values()),
            means=dict(mine),
            gap=_margin(mine),
        )
        for target, mine in means.items()
    )
    sets = [frozenset(choice.winners) for choice in choices]
    outcome: Literal["same", "tied", "changed"]
    if len(set(sets)) == 1:
        outcome = "same"
    else:
        outcome = "tied" if frozenset.intersection(*sets) else "changed"
    return Recommendation(metric=metric, k=k, outcome=outcome, choices=choices)


def _margin(means: Mapping[str, float]) -> float | None:
    """How far the best system is ahead of the next one."""
    ranked = sorted(means.values(), reverse=True)[:2]
    return None if len(winners(means)) > 1 or len(ranked) == 1 else ranked[0] - ranked[1]


def gaps(metric: str, k: int, means: Table) -> Iterator[SystemGap]:
    """Every two systems under every target."""
    names = list(next(iter(means.values())))
    for a, b in combinations(names, 2):
        found = tuple(_gap(target, a, b, mine) for target, mine in means.items())
        won = [gap for gap in found if gap.winner is not None]
        yield SystemGap(
            a=a,
            b=b,
            metric=metric,
            k=k,
            gaps=found,
            flips=tuple(
                (one.target, other.target)
                for one, other in combinations(won, 2)
                if one.winner != other.winner
            ),
            ties=tuple(gap.target for gap in found if gap.winner is None) if won else (),
        )


def over_targets(metric: str, k: int, means: Table) -> OverTargets:
    """Who wins under the average over the targets, and where it agrees with them."""
    names = next(iter(means.values()))
    average = {n: fsum(mine[n] for mine in means.values()) / len(means) for n in names}
    best = winners(average)
    agrees = tuple(target for target, mine in means.items() if winners(mine) == best)
    return OverTargets(
        metric=metric,
        k=k,
        winners=best,
        value=max(average.values()),
        agrees=agrees,
        differs=tuple(target for target in means if target not in agrees),
    )


def by_category(panel: Panel) -> Iterator[CategoryWinners]:
    """The winners among the queries of each category, as the first system calls them."""
    for name, mask in category_masks(panel.systems[0].traced):
        where = mask[panel.rows[0]]
        if not where.any():
            continue
        means = [(metric, k, table(panel, metric, k, where)) for metric, k in cells(panel)]
        yield CategoryWinners(
            name=name,
            queries=int(where.sum()),
            recommendations=tuple(recommendation(*one) for one in means),
            flips=flipped(gaps(*one) for one in means),
        )


def flipped(found: Iterable[Iterable[SystemGap]]) -> tuple[SystemGap, ...]:
    """Those that flip."""
    return tuple(gap for one in found for gap in one if gap.flips)


def flip_change(before: Table, after: Table) -> FlipChange:
    """What becomes of the flips of one mean where it is taken over other queries."""
    was, now = _flips(before), _flips(after)
    return FlipChange(
        kept=tuple(flip for flip in was if flip in now),
        gone=tuple(flip for flip in was if flip not in now),
        new=tuple(flip for flip in now if flip not in was),
    )


def _flips(means: Table) -> list[Flip]:
    found = []
    for gap in gaps("", 0, means):
        won = {one.target: one.winner for one in gap.gaps if one.winner is not None}
        found += [Flip(targets=(a, b), winners=(won[a], won[b])) for a, b in gap.flips]
    return found


def _gap(target: str, a: str, b: str, means: Mapping[str, float]) -> TargetGap:
    gap = means[b] - means[a]
    winner = None if abs(gap) <= TOLERANCE else (b if gap > 0 else a)
    return TargetGap(target=target, gap=gap, winner=winner)
