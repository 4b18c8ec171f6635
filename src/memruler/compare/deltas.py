"""Exact differences of paired values: pure arithmetic, no rounding anywhere."""

from collections.abc import Mapping, Sequence
from math import fsum

from memruler.compare.headline import Cell
from memruler.compare.record import Delta, MacroDelta, Verdict

__all__ = ["Pairs", "difference", "macro", "moved", "paired_delta", "verdict"]

Pairs = Sequence[tuple[float, float]]
"""Values of the same queries, base first."""

_ROUNDING = 2.0**-50
"""A fraction such as 1/3 has no exact binary form. A sum of differences that cancel on paper may
be off by this much a query, and then counts as what it is: zero."""


def moved(base: float, candidate: float) -> int:
    """1 if the candidate's value is higher, -1 if it is lower, 0 if they are the same.

    No tolerance: the same ranking gives the same value to the last bit.
    """
    return (candidate > base) - (candidate < base)


def paired_delta(
    metric: str,
    cell: Cell,
    name: str,
    of: int,
    pairs: Pairs,
    *,
    own: tuple[int, int] | None = None,
) -> Delta:
    """The difference of two means over the same queries.

    The per-query differences are summed exactly and divided once, so for a metric of zeros and
    ones the result is `(wins - losses) / counted` to the last bit.

    Args:
        metric: Its name without the cut-off.
        cell: Level and depth.
        name: `all`, or the category.
        of: Measurable queries of the slice.
        pairs: At least one.
        own: Queries that count in the base and in the candidate; None where those are the pairs.
    """
    total = fsum(candidate - base for base, candidate in pairs)
    moves = [moved(base, candidate) for base, candidate in pairs]
    counted = len(pairs)
    base_counted, candidate_counted = own or (counted, counted)
    return Delta(
        metric=metric,
        level=cell[0],
        k=cell[1],
        slice=name,
        counted=counted,
        base_counted=base_counted,
        candidate_counted=candidate_counted,
        of=of,
        base=fsum(base for base, _ in pairs) / counted,
        candidate=fsum(candidate for _, candidate in pairs) / counted,
        delta=_mean(total, counted),
        wins=moves.count(1),
        losses=moves.count(-1),
    )


def macro(categories: Mapping[str, Delta]) -> MacroDelta:
    """The difference of the unweighted means over categories, at one metric and cut-off.

    Args:
        categories: At least one, all of the same metric, level and depth.
    """
    deltas = list(categories.values())
    total = fsum(d.delta for d in deltas)
    first, number = deltas[0], len(deltas)
    return MacroDelta(
        metric=first.metric,
        level=first.level,
        k=first.k,
        categories=number,
        counted=sum(d.counted for d in deltas),
        base_counted=sum(d.base_counted for d in deltas),
        candidate_counted=sum(d.candidate_counted for d in deltas),
        base=fsum(d.base for d in deltas) / number,
        candidate=fsum(d.candidate for d in deltas) / number,
        delta=_mean(total, number),
    )


def difference(base: float, candidate: float) -> float:
    """The difference of two means that come without their queries; 0 where rounding explains it."""
    return _mean(candidate - base, 1)


def verdict(delta: Delta) -> Verdict:
    """What the headline says: every metric here is better when it is higher."""
    return "unchanged" if delta.delta == 0 else ("better" if delta.delta > 0 else "worse")


def _mean(total: float, number: int) -> float:
    return 0.0 if abs(total) < _ROUNDING * number else total / number
