"""From the hits of a query to a ranking of distinct credit ids, and to which of them are gold.

Two rules decide every rank below:

* Distinct codes stand in the order of their first hit. A later hit on the same turn or session
  brings nothing new to a reader, so it takes no slot.
* A hit without a credit id (`UNATTRIBUTED`) keeps its slot, each one its own, and never scores.
  An agent is shown that item, and it takes room from a better one. If it were skipped, whatever
  stands below would move up: a system could then raise its score by hiding where its items come
  from. Kept, an unattributed hit can never help.

`ranked_one` and `relevance_one` are the definitions; `ranked` and `relevance` do whole runs.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.targets.attribution import PADDING, UNATTRIBUTED

__all__ = ["ranked", "ranked_one", "relevance", "relevance_one"]

_ROWS = 8192  # rows sorted at a time: bounds the working memory to a few matrices of this height


def ranked_one(codes: Sequence[int]) -> list[int]:
    """The ranking of one query; the definition.

    Args:
        codes: Code of each hit, best first; `PADDING` is no hit.

    Returns:
        Distinct codes in order of first hit, with every `UNATTRIBUTED` in its place.
    """
    seen: set[int] = set()
    kept = []
    for code in codes:
        if code == PADDING or code in seen:
            continue
        if code != UNATTRIBUTED:
            seen.add(code)
        kept.append(code)
    return kept


def relevance_one(codes: Sequence[int], gold: Collection[int]) -> list[bool]:
    """Which ranks of one query hold gold; the definition. Gold codes are never negative."""
    return [code in gold for code in codes]


def ranked(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`ranked_one` of every row.

    Args:
        codes: [Q, L], code of each hit, best first. `PADDING` may stand anywhere; L may be 0.

    Returns:
        The rankings as [Q, L], compacted to the left and padded with `PADDING`; and [Q], the
        number of entries of each, unattributed ones included.

    Raises:
        ValueError: Not a matrix, or a code is below `PADDING`.
    """
    if codes.ndim != 2 or np.any(codes < PADDING):  # noqa: PLR2004 - queries and hits
        raise ValueError("codes form a matrix and are at least PADDING")
    out = np.full(codes.shape, PADDING, dtype=np.int64)
    observed = np.zeros(len(codes), dtype=np.int64)
    for start in range(0, len(codes), _ROWS):
        block = codes[start : start + _ROWS]
        keep = _kept(block)
        slots = keep.cumsum(axis=1)  # 1-based slot of each kept hit in its row
        row, hit = np.nonzero(keep)
        out[start + row, slots[row, hit] - 1] = block[row, hit]
        observed[start : start + _ROWS] = keep.sum(axis=1)
    return out, observed


def _kept(codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[rows, L], which hits take a slot."""
    keep: NDArray[np.bool_] = codes != PADDING
    # A stable sort puts equal codes side by side, the earliest hit first: the others repeat it.
    order = codes.argsort(axis=1, kind="stable")
    in_order = np.take_along_axis(codes, order, axis=1)
    repeats = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] > UNATTRIBUTED)
    row, place = np.nonzero(repeats)
    keep[row, order[row, place + 1]] = False
    return keep


def relevance(
    codes: NDArray[np.int64], gold_codes: NDArray[np.int64], gold_offsets: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """`relevance_one` of every row.

    Args:
        codes: [Q, L], rankings as `ranked` returns them.
        gold_codes: The gold codes of all queries, flat.
        gold_offsets: [Q + 1]; query q owns `gold_codes[gold_offsets[q]:gold_offsets[q + 1]]`.

    Returns:
        [Q, L], True where the ranked code is a gold code of its own query.

    Raises:
        ValueError: The offsets do not fit, a gold code is negative, or a query names one twice.
    """
    counts = np.diff(gold_offsets)
    if (
        len(gold_offsets) != len(codes) + 1
        or gold_offsets[0] != 0
        or gold_offsets[-1] != len(gold_codes)
        or np.any(counts < 0)
    ):
        raise ValueError("gold offsets do not fit the queries or the gold codes")
    if np.any(gold_codes < 0):
        raise ValueError("a gold code is negative")
    if not gold_codes.size:
        return np.zeros(codes.shape, dtype=np.bool_)

    # A (query, code) pair becomes one number: the query times the count of names, plus the
    # code's place among the names. A code alone may use 63 bits and leave no room for the query.
    names, gold_places = np.unique(gold_codes, return_inverse=True)
    pairs = np.sort(np.repeat(np.arange(len(codes)), counts) * len(names) + gold_places)
    if np.any(pairs[1:] == pairs[:-1]):
        raise ValueError("a query names a gold code twice")
    out = np.zeros(codes.shape, dtype=np.bool_)
    for start in range(0, len(codes), _ROWS):
        places, named = _look_up(names, codes[start : start + _ROWS])
        row, rank = np.nonzero(named)
        wanted = (start + row) * len(names) + places[row, rank]
        out[start + row, rank] = _look_up(pairs, wanted)[1]
    return out


def _look_up(
    known: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each wanted number stands in a sorted array that is not empty, and whether it does."""
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return places, known[places] == wanted
