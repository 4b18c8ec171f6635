"""What the gold of a target is made of: forms, anchors with several supports, shared items."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.credit import Supports
from memruler.targets.eligible import Forms

__all__ = ["GoldCounts", "forms_admitted", "gold_counts"]


class GoldCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the gold of some queries.

    Attributes:
        anchors: Anchors that the target keeps.
        unsupported: Of these, anchors that no known item supports: they can only be missed.
        several: Anchors with two or more supports; any one of them supports it.
        whole: Of the anchors, those that only items of whole sessions support: items that name
            sessions and no turn, and so come from every turn of these. None where the input does
            not tell where items come from, and where anchors are sessions.
        sharing: Queries in which one item belongs to two or more anchors.
        composed: Supports of several items that support only together.
        partial: Supports that support only in part.
    """

    anchors: int
    unsupported: int
    several: int
    whole: int | None
    sharing: int
    composed: int
    partial: int


def gold_counts(
    gold: Supports, counts: NDArray[np.bool_], forms: Forms | None = None
) -> GoldCounts:
    """Count what the gold of the queries that count is made of.

    Args:
        gold: Of all queries.
        counts: Which of them count [Q].
        forms: The stored items, where anchors are turns and it is known where items come from.
    """
    query_of = np.repeat(np.arange(len(gold.of)), gold.anchors())
    kept = counts[query_of]
    supports = np.diff(gold.support_offsets)
    in_support = counts[gold.query_of_support()]
    sizes = np.diff(gold.set_offsets) if gold.set_offsets is not None else None
    grades = gold.grades
    return GoldCounts(
        anchors=int(kept.sum()),
        unsupported=int((kept & (supports == 0)).sum()),
        several=int((kept & (supports > 1)).sum()),
        whole=None if forms is None else int((kept & _whole(gold, forms)).sum()),
        sharing=int((_sharing(gold) & counts).sum()),
        composed=0 if sizes is None else int((in_support & (sizes > 1)).sum()),
        partial=0 if grades is None else int((in_support & (grades < 1)).sum()),
    )


def forms_admitted(gold: Supports, counts: NDArray[np.bool_], forms: Forms) -> dict[str, int]:
    """Kind to the number of distinct stored items of it that may earn credit.

    Args:
        gold: Of all queries.
        counts: Which of them count [Q].
        forms: The stored items.
    """
    items = np.unique(gold.items[counts[_query_of_item(gold)]])
    numbers = np.bincount(forms.kind[items], minlength=len(forms.kinds)).tolist()
    named = zip(forms.kinds, numbers, strict=True)
    return {kind: number for kind, number in sorted(named) if number}


def _whole(gold: Supports, forms: Forms) -> NDArray[np.bool_]:
    """Anchors that something supports, and nothing but items of whole sessions [A]."""
    sources = forms.sources
    is_whole = (np.diff(sources.turn_offsets) == 0) & (np.diff(sources.session_offsets) > 0)
    anchor = _anchor_of_item(gold)
    some = np.bincount(anchor, minlength=len(gold.support_offsets) - 1)
    alike = np.bincount(anchor[is_whole[gold.items]], minlength=len(some))
    found: NDArray[np.bool_] = (some > 0) & (alike == some)
    return found


def _anchor_of_item(gold: Supports) -> NDArray[np.int64]:
    anchor = np.repeat(np.arange(len(gold.support_offsets) - 1), np.diff(gold.support_offsets))
    return anchor if gold.set_offsets is None else np.repeat(anchor, np.diff(gold.set_offsets))


def _query_of_item(gold: Supports) -> NDArray[np.int64]:
    query = gold.query_of_support()
    return query if gold.set_offsets is None else np.repeat(query, np.diff(gold.set_offsets))


def _sharing(gold: Supports) -> NDArray[np.bool_]:
    """Queries in which one item belongs to two or more anchors [Q]."""
    anchor, query = _anchor_of_item(gold), _query_of_item(gold)
    found = np.zeros(len(gold.of), np.bool_)
    if not len(query):
        return found
    order = np.lexsort((anchor, gold.items, query))
    query, item, anchor = query[order], gold.items[order], anchor[order]
    # Side by side stand the anchors of one item; where the next is another one it is shared.
    again = (query[1:] == query[:-1]) & (item[1:] == item[:-1]) & (anchor[1:] != anchor[:-1])
    found[query[1:][again]] = True
    return found
