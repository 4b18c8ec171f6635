"""From evidence and lineage to the stored items that may earn credit.

`descents` finds every stored item that comes from a gold turn or session, once for all targets. A
target then keeps some of these pairs. A pair is *exact* where the item comes from nothing else.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.credit import Supports
from memruler.targets.attribution import ItemSources
from memruler.targets.forms import Admits

__all__ = ["Descents", "Forms", "Gold", "descents", "eligible"]

_Ints = NDArray[np.int64]
_PART = 1 << 16  # anchors or pairs that are looked at at a time: they stay in the cache


class Forms(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The stored items of a run: N rows of its lineage, lost ones included.

    A lost item (refused or evicted) is as eligible as a kept one. It can never be returned, so it
    is a miss: a store cannot raise its score by forgetting.

    Attributes:
        instance: Position of the instance [N].
        kind: Place in `kinds` [N].
        kinds: Names.
        sources: Sessions and turns that each item comes from.
    """

    instance: NDArray[np.integer]
    kind: NDArray[np.integer]
    kinds: tuple[str, ...]
    sources: ItemSources

    def origin(self, row: int) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """Source sessions of an item, and its source turns as `(session, turn)`."""
        s = self.sources
        lo, hi = s.turn_offsets[row : row + 2]
        turns = zip(s.turn_sessions[lo:hi].tolist(), s.turn_turns[lo:hi].tolist(), strict=True)
        first, last = s.session_offsets[row : row + 2]
        return tuple(s.sessions[first:last].tolist()), tuple(turns)


class Gold(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The anchors of Q queries, at one level.

    Attributes:
        offsets: Query q has the anchors `offsets[q]:offsets[q + 1]` [Q + 1].
        instance: Of each anchor [A].
        session: Its session position [A].
        turn: Its turn position; None where anchors are sessions [A].
    """

    offsets: NDArray[np.integer]
    instance: NDArray[np.integer]
    session: NDArray[np.integer]
    turn: NDArray[np.integer] | None


class Descents(msgspec.Struct, frozen=True, eq=False):
    """Pairs of an anchor and an item that comes from it, by anchor, then item [D]."""

    anchor: NDArray[np.int32]
    item: NDArray[np.int32]
    exact: NDArray[np.bool_]


def descents(gold: Gold, forms: Forms) -> Descents:
    """Every item that comes from an anchor.

    At turn level an item of whole sessions comes from each of their turns.
    """
    sources = forms.sources
    turns, sessions = np.diff(sources.turn_offsets), np.diff(sources.session_offsets)
    rows = np.arange(len(forms.kind), dtype=np.int32)
    if gold.turn is None:
        owner = np.repeat(rows, sessions)
        pairs = [_matches(gold, forms, owner, sources.sessions, None)]
        exact = sessions == 1
    else:
        owner = np.repeat(rows, turns)
        pairs = [_matches(gold, forms, owner, sources.turn_sessions, sources.turn_turns)]
        whole = _whole(sources, turns, sessions)
        if whole.any():
            owner = np.repeat(rows, sessions)[whole]
            pairs.append(_matches(gold, forms, owner, sources.sessions[whole], None))
        exact = (turns == 1) & (sessions == 1)
    anchor, item = pairs[0]
    if len(pairs) > 1:
        anchor = np.concatenate([a for a, _ in pairs])
        item = np.concatenate([i for _, i in pairs])
        order = np.lexsort((item, anchor))
        anchor, item = anchor[order], item[order]
    return Descents(anchor, item, exact[item])


def _whole(
    sources: ItemSources, turns: NDArray[np.integer], sessions: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Which source sessions are whole ones: those that the item names no turn of.

    Sources stand in order, so the sessions of an item's turns do too.
    """
    whole = np.repeat(turns == 0, sessions)
    # Turns of the only session of an item are of that session: only others need a look.
    open_ = np.flatnonzero(np.repeat((turns > 0) & (sessions > 1), sessions))
    if len(open_):
        rows = np.arange(len(turns))
        size = 1 + int(max(sources.sessions.max(initial=0), sources.turn_sessions.max(initial=0)))
        named = np.repeat(rows, turns) * size + sources.turn_sessions
        asked = (np.repeat(rows, sessions) * size + sources.sessions)[open_]
        at = np.minimum(np.searchsorted(named, asked), len(named) - 1)
        whole[open_] = named[at] != asked
    return whole


def _matches(
    gold: Gold,
    forms: Forms,
    owner: NDArray[np.int32],
    session: NDArray[np.integer],
    turn: NDArray[np.integer] | None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Anchors and the items whose source is the same turn, or without `turn` session."""
    columns = [(gold.instance, forms.instance[owner]), (gold.session, session)]
    if turn is not None and gold.turn is not None:
        columns.append((gold.turn, turn))
    wanted, known, span = _keys(columns)
    if np.any(known[1:] < known[:-1]):  # a lineage in order of writing mostly is in order
        order = np.argsort(known, kind="stable")
        known, owner = known[order], owner[order]
    low, count = _runs(wanted, known, span)
    anchor = np.empty(int(count.sum()), np.int32)
    item = np.empty(len(anchor), np.int32)
    end = 0
    for start in range(0, len(wanted), _PART):
        part = slice(start, start + _PART)
        lengths = count[part]
        ends = np.cumsum(lengths)
        here = slice(end, end := end + int(lengths.sum()))
        anchor[here] = np.repeat(np.arange(start, start + len(lengths)), lengths)
        place = np.arange(here.stop - here.start)
        place += np.repeat(low[part] - (ends - lengths), lengths)
        item[here] = owner[place]
    return anchor, item


def _runs(
    wanted: _Ints, known: _Ints, span: int
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Where each wanted key begins in the sorted known ones, and how often it stands there."""
    if span <= 4 * (len(known) + len(wanted)) + 1024:
        # Keys this dense are addresses; that beats a search for each.
        counts = np.bincount(known, minlength=span).astype(np.int32)
        return (np.cumsum(counts, dtype=np.int32) - counts)[wanted], counts[wanted]
    low = np.searchsorted(known, wanted, "left")
    return low, np.searchsorted(known, wanted, "right") - low


def _keys(
    columns: Sequence[tuple[NDArray[np.integer], NDArray[np.integer]]],
) -> tuple[_Ints, _Ints, int]:
    """One number a row, equal for equal rows, over both sides; and what all are below."""
    left = np.zeros(len(columns[0][0]), np.int64)
    right = np.zeros(len(columns[0][1]), np.int64)
    span = 1
    for one, other in columns:
        size = int(max(one.max(initial=0), other.max(initial=0))) + 1
        if span * size >= 1 << 62:
            # Positions this sparse are numbered anew, which leaves room for the next column.
            _, both = np.unique(np.concatenate([left, right]), return_inverse=True)
            left, right = both[: len(left)], both[len(left) :]
            span = len(both) + 1
        left *= size
        left += one
        right *= size
        right += other
        span *= size
    return left, right, span


def eligible(
    target: Admits,
    gold: Gold,
    forms: Forms,
    found: Descents,
    *,
    keep: bool,
    ranks: NDArray[np.integer] | None = None,
) -> Supports:
    """The gold of every query under a target.

    Args:
        target: Which forms earn credit, and how much.
        gold: The anchors.
        forms: The stored items.
        found: Their `descents`.
        keep: Keep the anchors that nothing supports: for a store that does not tell all it holds.
        ranks: Where the item of each pair stands in the ranking of its query, if it is known.
    """
    admits = target.admits(forms.kinds)
    of = np.diff(gold.offsets).astype(np.int64)
    supports = np.zeros(int(gold.offsets[-1]), np.int32)
    every = bool(admits.all()) and not target.exact
    items = found.item if every else np.empty_like(found.item)
    there = ranks if every or ranks is None else np.empty_like(ranks)
    end, sole = 0, True
    for start in range(0, len(found.item), _PART):
        part = slice(start, start + _PART)
        item, exact = found.item[part], found.exact[part]
        kept = admits[forms.kind[item]]
        if target.exact:
            kept &= exact
        anchor = found.anchor[part][kept]
        if len(anchor):
            counts = np.bincount(anchor - anchor[0])
            supports[anchor[0] : anchor[0] + len(counts)] += counts.astype(np.int32)
        here = slice(end, end := end + len(anchor))
        if not every:
            items[here] = item[kept]
            if ranks is not None and there is not None:
                there[here] = ranks[part][kept]
        sole = sole and bool(exact[kept].all())
    served = np.ones(len(supports), np.bool_) if keep else supports > 0
    return Supports(
        target=target.name,
        of=of,
        anchor_offsets=_ends(served)[gold.offsets],
        support_offsets=_ends(supports[served]),
        items=items[:end],
        # An item that comes from one anchor alone cannot support another one.
        sole=sole,
        ranks=None if there is None else there[:end],
        place=np.flatnonzero(served),
    )


def _ends(lengths: NDArray[Any]) -> _Ints:
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends
