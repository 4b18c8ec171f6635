"""The same gold with other anchors: the dropped ones kept, or only some of them."""

import numpy as np
from numpy.typing import NDArray

from memruler.model.credit import Supports

__all__ = ["anchor_places", "drops", "only_anchors", "with_dropped"]

_Ints = NDArray[np.int64]


def drops(gold: Supports) -> NDArray[np.bool_]:
    """Queries of which a target drops an anchor, because no stored item supports it [Q]."""
    return gold.anchors() < gold.of


def anchor_places(gold: Supports) -> _Ints | None:
    """Which anchor each kept one is, counted before any was left out [A]; None if not known."""
    if gold.place is None and not drops(gold).any():
        return np.arange(len(gold.support_offsets) - 1)
    return gold.place


def with_dropped(gold: Supports, unused: int) -> Supports:
    """The same gold with every anchor: a dropped one is supported by an item that nobody returns.

    So it is a miss, and it has its place in the ideal list, under every rule.

    Args:
        gold: Of all queries.
        unused: A number above that of every item, in the gold and in the rankings.
    """
    missing = gold.of - gold.anchors()
    if not missing.any():
        return gold
    queries = np.arange(len(missing))
    new = np.repeat(queries, missing)
    # Items of their own within a query: two anchors with one item would be something else.
    items = unused + np.arange(len(new)) - np.repeat(np.cumsum(missing) - missing, missing)
    owner = np.append(np.repeat(queries, gold.anchors()), new)
    anchors = np.argsort(owner, kind="stable")
    of_support = gold.query_of_support()
    supports = np.argsort(np.append(of_support, new), kind="stable")
    sizes = None
    of_item = of_support
    if gold.set_offsets is not None:
        sizes = np.diff(gold.set_offsets)
        of_item = np.repeat(of_support, sizes)
        sizes = np.append(sizes, np.ones(len(new), np.int64))[supports]
    order = np.argsort(np.append(of_item, new), kind="stable")
    counts = np.append(np.diff(gold.support_offsets), np.ones(len(new), np.int64))
    return Supports(
        target=gold.target,
        of=gold.of,
        anchor_offsets=_ends(gold.of),
        support_offsets=_ends(counts[anchors]),
        items=np.append(gold.items.astype(np.int64), items)[order],
        grades=None if gold.grades is None else np.append(gold.grades, np.ones(len(new)))[supports],
        set_offsets=None if sizes is None else _ends(sizes),
        sole=gold.sole,
    )


def only_anchors(gold: Supports, places: _Ints, wanted: NDArray[np.bool_]) -> Supports:
    """The gold of some anchors; the other ones are no gold.

    Args:
        gold: Of all queries.
        places: Its `anchor_places`.
        wanted: Which anchors, counted before any was left out.
    """
    kept = wanted[places]
    queries = np.arange(len(gold.of))
    owner = np.repeat(queries, gold.anchors())
    counts = np.diff(gold.support_offsets)
    supports = np.repeat(kept, counts)
    items = supports
    sizes = None
    if gold.set_offsets is not None:
        sizes = np.diff(gold.set_offsets)
        items = np.repeat(supports, sizes)
        sizes = sizes[supports]
    every = np.repeat(queries, gold.of)
    return Supports(
        target=gold.target,
        of=np.bincount(every[wanted], minlength=len(queries)),
        anchor_offsets=_ends(np.bincount(owner[kept], minlength=len(queries))),
        support_offsets=_ends(counts[kept]),
        items=gold.items[items],
        grades=None if gold.grades is None else gold.grades[supports],
        set_offsets=None if sizes is None else _ends(sizes),
        sole=gold.sole,
    )


def _ends(lengths: NDArray[np.integer]) -> _Ints:
    return np.append(np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64))
