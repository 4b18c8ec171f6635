"""Whether systems win by the anchors that targets drop: everything over the same anchors.

A target drops the anchors that no stored item may earn. Two stores then have means over different
anchors, and the one that dropped the hard ones is ahead. Here all are held to the same anchors,
in two ways: to all of them, or to those that every target keeps in every system.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.compare.robust_record import Recount, ServedAnchors
from memruler.compare.shift_panel import Panel, rescored_panel
from memruler.compare.shift_winners import cells, flipped, gaps, recommendation, table
from memruler.compare.target_anchors import anchor_places, drops, only_anchors, with_dropped
from memruler.model.credit import Supports
from memruler.scoring.traced import Scored, score_traced

__all__ = ["recounts", "served_anchors"]

_Over = Literal["dropped_missed", "served_by_all"]
_Masks = list[NDArray[np.bool_]]
_NO_ANCHORS = "the input does not tell which anchor an item supports"
_PER_ITEM = "rule id counts items, and drops no anchor"


def served_anchors(side: Panel) -> Iterator[ServedAnchors]:
    """The gold anchors that each target keeps in each system, over the queries of winners."""
    if not _anchored(side):
        return
    for target in side.targets:
        golds = [one.traced.supports[target] for one in side.systems]
        kept = [gold.anchors()[rows] for gold, rows in zip(golds, side.rows, strict=True)]
        masks = [_kept(gold) for gold in golds]
        if any(mask is None for mask in masks):
            same = all(np.array_equal(mine, kept[0]) for mine in kept)
        else:
            told = [
                mask[_places(gold, rows)]
                for gold, mask, rows in zip(golds, masks, side.rows, strict=True)
                if mask is not None
            ]
            same = all(np.array_equal(mine, told[0]) for mine in told)
        yield ServedAnchors(
            target=target,
            of=int(golds[0].of[side.rows[0]].sum()),
            served={name: int(mine.sum()) for name, mine in zip(side.names, kept, strict=True)},
            same=same,
        )


def recounts(side: Panel) -> Iterator[Recount]:
    """The winners over the same anchors, in both ways."""
    if not _anchored(side) or side.systems[0].rule == "id":
        reason = _PER_ITEM if _anchored(side) else _NO_ANCHORS
        yield from (_none(over, reason) for over in ("dropped_missed", "served_by_all"))
        return
    golds = [gold for one in side.systems for gold in one.traced.supports.values()]
    if not any(drops(gold).any() for gold in golds):
        reason = "no target drops an anchor in any system"
        yield from (_none(over, reason) for over in ("dropped_missed", "served_by_all"))
        return
    yield _recount(side, "dropped_missed", [_all_kept(one) for one in side.systems])
    found = _served_by_all(side)
    yield (
        _none("served_by_all", found)
        if isinstance(found, str)
        else _recount(side, "served_by_all", found)
    )


def _anchored(side: Panel) -> bool:
    return all(one.traced.anchored for one in side.systems)


def _recount(side: Panel, over: _Over, systems: Sequence[Scored]) -> Recount:
    made = rescored_panel(side, systems)
    if made is None:
        return _none(over, "no anchor is served by every target in every system")
    means = [(*cell, table(made, *cell)) for cell in cells(made)]
    gold = next(iter(made.systems[0].traced.supports.values()))
    return Recount(
        over=over,
        queries=len(made.rows[0]),
        anchors=int(gold.of[made.rows[0]].sum()),
        zeros=_zeros(side, made) if over == "dropped_missed" else {},
        recommendations=tuple(recommendation(*one) for one in means),
        flips=flipped(gaps(*one) for one in means),
    )


def _none(over: _Over, reason: str) -> Recount:
    return Recount(
        over=over, queries=0, anchors=0, zeros={}, recommendations=(), flips=(), reason=reason
    )


def _zeros(side: Panel, made: Panel) -> dict[str, dict[str, int]]:
    """Queries that count here and that a target cannot serve."""
    found: dict[str, dict[str, int]] = {}
    for target in side.targets:
        for name, one, rows in zip(side.names, side.systems, made.rows, strict=True):
            number = int((one.traced.supports[target].anchors()[rows] == 0).sum())
            if number:
                found.setdefault(target, {})[name] = number
    return found


def _all_kept(one: Scored) -> Scored:
    golds = one.traced.supports
    unused = 1 + max(
        int(one.traced.hits.max(initial=-1)),
        *(int(gold.items.max(initial=-1)) for gold in golds.values()),
    )
    return _with(one, {target: with_dropped(gold, unused) for target, gold in golds.items()})


def _with(one: Scored, golds: dict[str, Supports]) -> Scored:
    traced = msgspec.structs.replace(one.traced, supports=golds)
    return score_traced(traced, one.cutoffs, one.rule)


def _served_by_all(side: Panel) -> list[Scored] | str:
    """Every system over the anchors that every target keeps in every one, or why that cannot be."""
    masks: _Masks = []
    for one in side.systems:
        mine = np.ones(int(_first(one).of.sum()), np.bool_)
        for target, gold in one.traced.supports.items():
            kept = _kept(gold)
            if kept is None:
                return f"{one.traced.name} does not tell which anchors it has under {target}"
            mine &= kept
        masks.append(mine)
    places = [
        _places(_first(one), rows) for one, rows in zip(side.systems, side.matched, strict=True)
    ]
    every = np.ones(len(places[0]), np.bool_)
    for mask, place in zip(masks, places, strict=True):
        every &= mask[place]
    made = []
    for one, mask, place in zip(side.systems, masks, places, strict=True):
        wanted = np.zeros(len(mask), np.bool_)
        wanted[place] = every
        made.append(_with(one, dict(_only(one, wanted))))
    return made


def _only(one: Scored, wanted: NDArray[np.bool_]) -> Iterator[tuple[str, Supports]]:
    for target, gold in one.traced.supports.items():
        places = anchor_places(gold)
        assert places is not None  # noqa: S101 - `_served_by_all` asked
        yield target, only_anchors(gold, places, wanted)


def _first(one: Scored) -> Supports:
    """Any target: all of them have the same anchors before some are left out."""
    return next(iter(one.traced.supports.values()))


def _kept(gold: Supports) -> NDArray[np.bool_] | None:
    """Which anchors a target keeps, of all that there are; None if not known."""
    places = anchor_places(gold)
    if places is None:
        return None
    found = np.zeros(int(gold.of.sum()), np.bool_)
    found[places] = True
    return found


def _places(gold: Supports, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the anchors of some queries stand among all, in the order of the rows."""
    lengths = gold.of[rows]
    starts = (np.cumsum(gold.of) - gold.of)[rows]
    ends = np.cumsum(lengths)
    found: NDArray[np.int64] = np.arange(int(lengths.sum())) + np.repeat(
        starts - (ends - lengths), lengths
    )
    return found
