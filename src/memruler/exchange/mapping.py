"""Which items are gold for which query, as a file says it, before items have numbers.

A line is `{query_id, groups?, <name>_ids?...}`. A group is one anchor: `{anchor?, <name>: [ids]...,
grades?: {id: 0..1}, sets?: {name: [[ids]...]}}`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.exchange.arrays import joined

__all__ = ["GRADES", "IDS", "SETS", "Lists", "Mapping", "Sets", "mapping_schema"]

IDS = "_ids"
"""How the key of a target ends that has its ids beside the groups."""

_LISTS = pa.list_(pa.string())
GRADES = pa.map_(pa.string(), pa.float64())
SETS = pa.map_(pa.string(), pa.list_(pa.list_(pa.string())))
"""Grades and sets of a group, as Arrow and Parquet have them."""


class Lists(msgspec.Struct, eq=False):
    """Ids of many owners: groups, or queries.

    Attributes:
        owner: Number of the group or row that has the id, ascending; a part a block.
        items: The ids, Arrow arrays of strings; one a block.
        given: Owners that have the list at all, even an empty one; a part a block.
        number: Of each id; set by `memruler.exchange.numbering`.
        agreed: The same is said elsewhere: no numbers are needed.
    """

    owner: list[NDArray[np.int64]] = []
    items: list[Any] = []
    given: list[NDArray[np.int64]] = []
    number: NDArray[np.int64] | None = None
    agreed: bool = False

    def add(self, first: int, lists: Any) -> None:
        """Append lists (an Arrow array of lists of strings) of the owners from `first` on."""
        there = lists.is_valid().to_numpy(zero_copy_only=False)
        lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        owners = np.arange(first, first + len(lists))
        self.given.append(owners[there])
        self.owner.append(np.repeat(owners, lengths))
        self.items.append(lists.flatten())

    def owners(self) -> NDArray[np.int64]:
        """The owner of each id."""
        return joined(self.owner)

    def named(self) -> NDArray[np.int64]:
        """Owners that have the list."""
        return joined(self.given)


class Sets(msgspec.Struct, eq=False):
    """Sets of ids that support a group together.

    Attributes:
        group: Of each set; a part a block.
        length: Of each set.
        items: The ids, set after set; one array a block.
        number: Of each id; set by `memruler.exchange.numbering`.
    """

    group: list[NDArray[np.int64]] = []
    length: list[NDArray[np.int64]] = []
    items: list[Any] = []
    number: NDArray[np.int64] | None = None

    def add(self, group: NDArray[np.int64], sets: Any) -> None:
        """Append sets (an Arrow array of lists of strings), each with its group."""
        self.group.append(group)
        self.length.append(sets.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
        self.items.append(sets.flatten())

    def owners(self) -> NDArray[np.int64]:
        """The group of each id."""
        return np.repeat(joined(self.group), joined(self.length))


class Mapping(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The gold of M queries.

    Attributes:
        query: Names, an Arrow array of strings [M].
        group_query: Row of the query of each group, ascending; None in a file without groups [G].
        groups: Target to the ids of groups.
        ids: Target to the ids of queries.
        grades: Ids that support less than fully, or not at all, with their group (or query).
        grade: How far each of them does.
        sets: Target to sets.
        ungraded: Targets that grades say nothing about.
    """

    query: Any
    group_query: NDArray[np.int64] | None
    groups: dict[str, Lists]
    ids: dict[str, Lists]
    grades: Lists
    grade: NDArray[np.float64]
    sets: dict[str, Sets]
    ungraded: frozenset[str] = frozenset()


def mapping_schema(names: Sequence[str], *, full: bool) -> pa.Schema:
    """The columns to read.

    Args:
        names: Targets.
        full: With grades and sets, which JSON has as objects and Arrow as maps.
    """
    inside: list[pa.Field[Any]] = [pa.field(name, _LISTS) for name in names]
    if full:
        inside += [pa.field("grades", GRADES), pa.field("sets", SETS)]
    return pa.schema(
        [
            pa.field("query_id", pa.string(), nullable=False),
            *(pa.field(name + IDS, _LISTS) for name in names),
            pa.field("groups", pa.list_(pa.struct(inside))),
        ]
    )
