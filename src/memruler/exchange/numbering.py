"""Numbers for items, so that rankings and targets of a query mean the same by one number.

Only within a query must a number mean one name, and a name one number. So a block of rankings keeps
the numbers of its own dictionary, and names of targets are looked up in the dictionary of the block
that has the ranking of their query. Numbering a million names at once would take as long as
reading them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.exchange.mapping import Lists, Mapping, Sets, joined
from memruler.exchange.names import one_array, unified
from memruler.exchange.rankings import Rankings

__all__ = ["number_items"]

_Ints = NDArray[np.int64]


def number_items(rankings: Rankings, mapping: Mapping, at: _Ints) -> tuple[NDArray[np.int32], Any]:
    """Number the items of rankings, and set those of a mapping.

    Args:
        rankings: The rankings.
        mapping: The targets; the `number` of each of its lists is set.
        at: Which query each row of the mapping is; one that has no ranking has a row behind
            those of the rankings [M].

    Returns:
        The numbers of `rankings.items`, and the names of all numbers, an Arrow array of strings.
        A name that is in several blocks has several numbers.
    """
    dictionaries, places = rankings.items.dictionaries, rankings.items.places
    rows = rankings.block_rows
    if rows is None:
        names, numbers = unified(rankings.items)
        dictionaries, places, rows = [names], [numbers], [len(rankings.query)]
    starts = np.cumsum([0, *map(len, dictionaries)])
    hits = np.empty(sum(map(len, places)), np.int32)
    low = 0
    for place, start in zip(places, starts[:-1].tolist(), strict=True):
        np.add(place, start, out=hits[low : low + len(place)])
        low += len(place)

    owned = _owned(mapping, at)
    query = joined([one for _, one in owned])
    block = np.searchsorted(np.cumsum(rows), query, "right")
    if len(rows) < 1 << 16:
        block = block.astype(np.uint16)  # numpy sorts them by counting, not by comparing
    order = np.argsort(block, kind="stable")
    text = one_array([part for lists, _ in owned for part in lists.items])
    found, more = _look_up(
        text.take(pa.array(order)),
        np.bincount(block, minlength=len(rows) + 1),
        dictionaries,
        starts,
    )
    number = np.empty(len(found), np.int64)
    number[order] = found
    ends = np.cumsum([len(one) for _, one in owned])
    for (lists, _), mine in zip(owned, np.split(number, ends[:-1]), strict=True):
        lists.number = mine
    return hits, one_array([*dictionaries, *more])


def _owned(mapping: Mapping, at: _Ints) -> list[tuple[Lists | Sets, _Ints]]:
    """Everything in a mapping that names items, with the query of each name."""
    group = at if mapping.group_query is None else at[mapping.group_query]
    beside: list[Lists | Sets] = [*mapping.groups.values(), mapping.grades, *mapping.sets.values()]
    return [(lists, group[lists.owners()]) for lists in beside] + [
        (lists, at[lists.owners()]) for lists in mapping.ids.values()
    ]


def _look_up(
    text: Any, counts: _Ints, dictionaries: Sequence[Any], starts: _Ints
) -> tuple[_Ints, list[Any]]:
    """The number of each name, and the names that no dictionary has.

    Args:
        text: Names, block after block; behind the last block those of queries without a ranking.
        counts: How many there are in each.
        dictionaries: The names of each block.
        starts: The number of the first name of each block, and of the first one not in any.
    """
    found = np.empty(len(text), np.int64)
    more: list[Any] = []
    low, free = 0, int(starts[-1])
    nothing = text.slice(0, 0)
    for block, count in enumerate(counts.tolist()):
        here = text.slice(low, count)
        known = dictionaries[block].cast(text.type) if block < len(dictionaries) else nothing
        place = pc.index_in(here, value_set=known)
        mine = (
            place.fill_null(0).to_numpy(zero_copy_only=False) + starts[min(block, len(starts) - 1)]
        )
        lost = place.is_null()
        if place.null_count:
            fresh = here.filter(lost).dictionary_encode()
            mine[lost.to_numpy(zero_copy_only=False)] = fresh.indices.to_numpy() + free
            more.append(fresh.dictionary)
            free += len(fresh.dictionary)
        found[low : low + count] = mine
        low += count
    return found, more
