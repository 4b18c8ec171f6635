"""Numbers for items, so that rankings and targets of a query mean the same by one number.

Only within a query must a number mean one name, and a name one number. So a block of rankings keeps
the numbers of its own dictionary, and names of targets are looked up in the dictionary of the block
that has the ranking of their query. Numbering a million names at once would take as long as
reading them.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.exchange.mapping import Lists, Mapping, Sets
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

    more = _Fresh(int(starts[-1]))
    found: list[_Wanted] = []
    # The last block is that of queries without a ranking.
    behind = max(int(at.max(initial=-1)) + 1 - sum(rows), 0)
    block_of = np.repeat(np.arange(len(rows) + 1), [*rows, behind])
    for lists, query in _owned(mapping, at):
        found.append(_Wanted(lists, block_of[query]))
    with ThreadPoolExecutor(2) as both:
        looked = both.map(lambda b: _looked_up(found, b, dictionaries), range(len(rows) + 1))
        for block, (text, place) in enumerate(looked):
            number = more.numbered(text, place, int(starts[block]))
            parts = [one.part(block) for one in found]
            ends = np.cumsum([part.stop - part.start for part in parts])
            for one, part, mine in zip(found, parts, np.split(number, ends[:-1]), strict=True):
                one.number[part] = mine
    for one in found:
        one.finish()
    return hits, one_array([*dictionaries, *more.names])


def _owned(mapping: Mapping, at: _Ints) -> list[tuple[Lists | Sets, _Ints]]:
    """Everything in a mapping that names items, with the query of each name."""
    group = at if mapping.group_query is None else at[mapping.group_query]
    beside: list[Lists | Sets] = [*mapping.groups.values(), mapping.grades, *mapping.sets.values()]
    return [(lists, group[lists.owners()]) for lists in beside] + [
        (lists, at[lists.owners()]) for lists in mapping.ids.values() if not lists.agreed
    ]


class _Fresh:
    """Names that no dictionary has, numbered behind those that one has."""

    def __init__(self, first: int) -> None:
        self.names: list[Any] = []
        self._next = first

    def numbered(self, text: Any, place: Any, first: int) -> _Ints:
        """The numbers of the names of one block.

        Args:
            text: The names.
            place: Of each in the dictionary of the block; null where it is not there.
            first: The number of the first name of that dictionary.
        """
        number: _Ints = place.fill_null(0).to_numpy(zero_copy_only=False) + np.int64(first)
        if place.null_count:
            lost = place.is_null()
            number[lost.to_numpy(zero_copy_only=False)] = self._add(text.filter(lost))
        return number

    def _add(self, names: Any) -> _Ints:
        """Number some names of one block; the same name gets the same number."""
        encoded = names.dictionary_encode()
        self.names.append(encoded.dictionary)
        numbers: _Ints = encoded.indices.to_numpy().astype(np.int64) + self._next
        self._next += len(encoded.dictionary)
        return numbers


class _Wanted:
    """The names of one list, block after block, and the numbers found for them."""

    def __init__(self, lists: Lists | Sets, block: _Ints) -> None:
        self._lists = lists
        self._order: _Ints | None = None
        self.text = one_array(lists.items)
        if (np.diff(block) < 0).any():  # the files have their queries in different orders
            self._order = np.argsort(block, kind="stable")
            block = block[self._order]
            self.text = self.text.take(pa.array(self._order))
        self._block = block
        self.number = np.empty(len(block), np.int64)

    def part(self, block: int) -> slice:
        """Where the names of a block are."""
        return slice(*np.searchsorted(self._block, [block, block + 1]).tolist())

    def finish(self) -> None:
        """Set the numbers of the list, in its order."""
        if self._order is None:
            self._lists.number = self.number
        else:
            self._lists.number = np.empty_like(self.number)
            self._lists.number[self._order] = self.number


def _looked_up(
    found: Sequence[_Wanted], block: int, dictionaries: Sequence[Any]
) -> tuple[Any, Any]:
    """The names that queries of one block have, and where they are in its dictionary."""
    text = one_array([one.text[one.part(block)] for one in found])
    known = text.slice(0, 0)
    if block < len(dictionaries):
        known = dictionaries[block].cast(text.type)
    return text, pc.index_in(text, value_set=known)
