"""How much of a shift is mere target-set size: one target admits more items than another.

Over the queries that both targets serve, x is the number of eligible items under `b` minus that
under `a`, and y the nDCG under `b` minus that under `a`. Where neither target lies within the
other, the bin at 0 is what cannot come from size at all. A target also drops the anchors that
nothing it admits supports, and nDCG is then over fewer of them: queries are split by that too.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.compare.shift_line import Line, line
from memruler.compare.shift_pairs import both_served
from memruler.compare.target_anchors import drops
from memruler.compare.target_record import TOLERANCE
from memruler.compare.target_sums import exact_mean
from memruler.model.credit import Supports
from memruler.scoring.traced import Scored

__all__ = ["AnchorPart", "Cardinality", "SizeBin", "cardinalities"]

_A = TypeVar("_A")
_B = TypeVar("_B")

_EDGES = (4, 8, 16)
"""Differences up to the first are bins of their own; ranges end at the others."""


class SizeBin(msgspec.Struct, frozen=True, kw_only=True):
    """Queries whose difference in eligible items lies from `low` to `high`, both included.

    Attributes:
        low, high: None where the bin is open at that end.
        queries: How many; each counts once for each system.
        mean: Mean shift of nDCG.
        changed: Queries whose nDCG changes.
    """

    low: int | None
    high: int | None
    queries: int
    mean: float
    changed: int


class AnchorPart(msgspec.Struct, frozen=True, kw_only=True):
    """Queries by whether a target drops one of their anchors.

    Attributes:
        dropped: Whether either of the two targets does.
        queries: How many; each counts once for each system.
        changed: Queries whose nDCG changes.
        mean: Mean shift of nDCG; None without a query.
    """

    dropped: bool
    queries: int
    changed: int
    mean: float | None


class Cardinality(msgspec.Struct, frozen=True, kw_only=True):
    """The shift of nDCG from target `a` to `b` against the difference in eligible items.

    Attributes:
        a, b: The two targets.
        k: The cut-off.
        queries: Served by both; each counts once for each system.
        line: See `memruler.compare.shift_line`.
        nested: Whether every item of one target is one of the other. Then the bin at 0 says
            nothing: with the same number the items are the same.
        bins: Those that are not empty, ascending.
        anchors: Queries whose anchors both targets keep, then the others; empty where the input
            does not know anchors.
    """

    a: str
    b: str
    k: int
    queries: int
    line: Line
    nested: bool
    bins: tuple[SizeBin, ...]
    anchors: tuple[AnchorPart, ...]


def cardinalities(
    systems: Sequence[Scored], pairs: Sequence[tuple[str, str]], cutoffs: Sequence[int]
) -> Iterator[Cardinality]:
    """Hold the shift between two targets against the difference in target-set size.

    Args:
        systems: One or more.
        pairs: Targets that all have.
        cutoffs: Some of those that were scored.
    """
    query = _query_numbers(systems)
    for a, b in pairs:
        rows = [both_served(one, a, b) for one in systems]
        golds = [(one.traced.supports[a], one.traced.supports[b]) for one in systems]
        x = np.concatenate([(g.eligible() - f.eligible())[r] for (f, g), r in _zip(golds, rows)])
        points = np.concatenate([mine[r] for mine, r in _zip(query, rows)])
        known = all(one.traced.anchored for one in systems)
        dropped = np.concatenate([(drops(f) | drops(g))[r] for (f, g), r in _zip(golds, rows)])
        nested = all(_nested(f, g) for f, g in golds)
        for k in cutoffs:
            y = np.concatenate([_shift(one, a, b, k)[r] for one, r in _zip(systems, rows)])
            yield Cardinality(
                a=a,
                b=b,
                k=k,
                queries=len(x),
                line=line(x, y, points if len(systems) > 1 else None),
                nested=nested,
                bins=tuple(_bins(x, y)),
                anchors=tuple(_parts(dropped, y)) if known else (),
            )


def _zip(one: Sequence[_A], other: Sequence[_B]) -> Iterator[tuple[_A, _B]]:
    return zip(one, other, strict=True)


def _query_numbers(systems: Sequence[Scored]) -> list[NDArray[np.int64]]:
    """A number for each query of each system, the same for the same name [Q each]."""
    names = [pc.cast(_flat(one.traced.query), pa.large_string()) for one in systems]
    numbers = np.asarray(pa.concat_arrays(names).dictionary_encode().indices, np.int64)
    ends = np.cumsum([len(mine) for mine in names])
    return np.split(numbers, ends[:-1])


def _flat(names: Any) -> Any:
    return names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names


def _shift(one: Scored, a: str, b: str, k: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (
        one.by_target[b].values["ndcg", k] - one.by_target[a].values["ndcg", k]
    )
    return found


def _nested(one: Supports, other: Supports) -> bool:
    """Whether one of two targets admits only what the other one admits, as far as that one."""
    if any(x is not None for gold in (one, other) for x in (gold.grades, gold.set_offsets)):
        return False
    size = 1 + int(max(one.items.max(initial=0), other.items.max(initial=0)))
    keys = [np.unique(gold.query_of_support() * size + gold.items) for gold in (one, other)]
    few, many = sorted(keys, key=len)
    return bool(np.isin(few, many, assume_unique=True).all())


def _parts(dropped: NDArray[np.bool_], y: NDArray[np.float64]) -> Iterator[AnchorPart]:
    for some in (False, True):
        inside = y[dropped == some]
        yield AnchorPart(
            dropped=some,
            queries=len(inside),
            changed=int((np.abs(inside) > TOLERANCE).sum()),
            mean=exact_mean(inside) if len(inside) else None,
        )


def _ranges() -> Iterator[tuple[int | None, int | None]]:
    """The bins, ascending and symmetric about 0."""
    ends = list(zip(_EDGES, (*_EDGES[1:], None), strict=True))
    for low, high in reversed(ends):
        yield None if high is None else -high, -low - 1
    for exact in range(-_EDGES[0], _EDGES[0] + 1):
        yield exact, exact
    for low, high in ends:
        yield low + 1, high


def _bins(x: NDArray[np.int64], y: NDArray[np.float64]) -> Iterator[SizeBin]:
    for low, high in _ranges():
        inside = np.ones(len(x), np.bool_)
        if low is not None:
            inside &= x >= low
        if high is not None:
            inside &= x <= high
        queries = int(inside.sum())
        if queries:
            yield SizeBin(
                low=low,
                high=high,
                queries=queries,
                mean=exact_mean(y[inside]),
                changed=int((np.abs(y[inside]) > TOLERANCE).sum()),
            )
