"""How far the values of the same queries shift from one target to another."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.compare.target_record import (
    SHIFTED,
    TOLERANCE,
    CategoryShifts,
    DepthShifts,
    PairShift,
    Shift,
    Shifts,
    Spread,
)
from memruler.compare.target_sums import exact_mean, percentiles
from memruler.scoring.slices import slice_name
from memruler.scoring.traced import Scored

__all__ = ["both_served", "pair_shift", "shift_of"]

_Floats = NDArray[np.float64]
_Rows = Sequence[NDArray[np.bool_]]

_PERCENTILES = (0, 5, 25, 50, 75, 95, 100)


def both_served(scored: Scored, a: str, b: str) -> NDArray[np.bool_]:
    """Queries that count under both targets, whatever a third one does [Q]."""
    return scored.served(a) & scored.served(b)


def pair_shift(
    systems: Sequence[Scored], a: str, b: str, *, cutoffs: Sequence[int] | None = None
) -> PairShift:
    """The shifts between two targets, over every query of every system that both serve.

    Args:
        systems: One or more, scored at the same cut-offs; each query of each counts once.
        a: A target that all have.
        b: Another.
        cutoffs: Only these, and no categories; everything without.
    """
    rows = [both_served(scored, a, b) for scored in systems]
    return PairShift(
        a=a,
        b=b,
        whole=_shifts(systems, (a, b), rows, cutoffs or systems[0].cutoffs),
        categories=tuple(
            CategoryShifts(
                name=slice_name(name),
                shifts=_shifts(systems, (a, b), part, systems[0].cutoffs),
            )
            for name, part in _by_category(systems, rows)
        )
        if cutoffs is None
        else (),
    )


def shift_of(metric: str, shifts: _Floats) -> Shift:
    """Sum up the differences of one metric.

    Args:
        metric: Its name.
        shifts: `b` minus `a` of each query; at least one.
    """
    # What is rounding only is no shift: neither counted, nor left in a mean or a percentile.
    shifts = np.where(np.abs(shifts) > TOLERANCE, shifts, 0.0)
    up, down = int((shifts > 0).sum()), int((shifts < 0).sum())
    low, p5, p25, median, p75, p95, high = percentiles(shifts, _PERCENTILES)
    return Shift(
        metric=metric,
        changed=up + down,
        share=(up + down) / len(shifts),
        up=up,
        down=down,
        mean=exact_mean(shifts),
        spread=Spread(
            min=low,
            p5=p5,
            p25=p25,
            median=median,
            p75=p75,
            p95=p95,
            max=high,
            mean_absolute=exact_mean(np.abs(shifts)),
        ),
    )


def _shifts(
    systems: Sequence[Scored], pair: tuple[str, str], rows: _Rows, cutoffs: Sequence[int]
) -> Shifts:
    queries = sum(int(one.sum()) for one in rows)
    if not queries:
        reason = f"no query is served by both {pair[0]} and {pair[1]}"
        return Shifts(queries=0, depths=(), reason=reason)
    # Top-1 is the same at every depth.
    top1 = shift_of("top1", _differences(systems, pair, rows, ("top1", cutoffs[0])))
    return Shifts(
        queries=queries,
        depths=tuple(
            DepthShifts(
                k=k,
                shifts=tuple(
                    top1
                    if metric == "top1"
                    else shift_of(metric, _differences(systems, pair, rows, (metric, k)))
                    for metric in SHIFTED
                ),
            )
            for k in cutoffs
        ),
    )


def _differences(
    systems: Sequence[Scored], pair: tuple[str, str], rows: _Rows, key: tuple[str, int]
) -> _Floats:
    a, b = pair
    return np.concatenate(
        [
            one.by_target[b].values[key][mine] - one.by_target[a].values[key][mine]
            for one, mine in zip(systems, rows, strict=True)
        ]
    )


def _by_category(systems: Sequence[Scored], rows: _Rows) -> Iterator[tuple[str, _Rows]]:
    """Each category that may be scored in some system, and its queries in all of them."""
    names: set[str] = set()
    for one in systems:
        codes = set(one.traced.category[one.traced.counts()].tolist()) - {-1}
        names |= {one.traced.categories[code] for code in codes}
    for name in sorted(names):
        yield (
            name,
            [mine & _in_category(one, name) for one, mine in zip(systems, rows, strict=True)],
        )


def _in_category(scored: Scored, name: str) -> NDArray[np.bool_]:
    traced = scored.traced
    if name not in traced.categories:
        return np.zeros(len(traced.category), np.bool_)
    inside: NDArray[np.bool_] = traced.category == traced.categories.index(name)
    return inside
