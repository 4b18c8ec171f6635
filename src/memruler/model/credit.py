"""Which stored items earn credit for which gold: what targets make and metrics read."""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["CREDIT_RULES", "CreditLevel", "CreditRule", "Supports", "unique_pairs"]

CreditRule = Literal["anchor", "id", "cover"]
"""How credit is counted; `memruler.metrics.credit` defines all three."""

CREDIT_RULES: tuple[CreditRule, ...] = ("anchor", "id", "cover")

CreditLevel = Literal["turn", "session", "item"]
"""What an anchor is: a gold turn, a gold session, or each eligible item by itself."""


class Supports(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The gold of Q queries under one target.

    Query q has the anchors `anchor_offsets[q]:anchor_offsets[q + 1]`. Anchor a has the supports
    `support_offsets[a]:support_offsets[a + 1]`: any one of them supports it. A support is a set of
    items that support it together, usually a single one. Anchors without a support are left out
    when a target makes this, except where a store does not tell what it holds.

    Attributes:
        target: Name of the target.
        of: Anchors of each query before any was left out [Q].
        anchor_offsets: [Q + 1], from 0 up to the number of anchors A.
        support_offsets: [A + 1], from 0 up to the number of supports S.
        items: Item numbers, as in the rankings; one a support, or as `set_offsets` says.
        grades: How far each support supports, above 0 and at most 1 [S]; None when all fully do.
        set_offsets: [S + 1] into `items`; None when every support is one item.
        sole: Known to have no item that supports two anchors of one query.
        ranks: Where each of `items` stands first in the list of its query, 0 where it does not;
            None when nobody has looked yet.
        place: Which anchor each one is, counted through all queries before any was left out [A];
            None when that was not kept.
    """

    target: str
    of: NDArray[np.int64]
    anchor_offsets: NDArray[np.int64]
    support_offsets: NDArray[np.int64]
    items: NDArray[np.integer]
    grades: NDArray[np.float64] | None = None
    set_offsets: NDArray[np.int64] | None = None
    sole: bool = False
    ranks: NDArray[np.integer] | None = None
    place: NDArray[np.int64] | None = None

    def anchors(self) -> NDArray[np.int64]:
        """Anchors of each query; 0 where the target cannot serve it [Q]."""
        return np.diff(self.anchor_offsets)

    def part(self, start: int, stop: int) -> "Supports":
        """The gold of the queries `start:stop`, which are counted from 0 again."""
        a, b = self.anchor_offsets[[start, stop]].tolist()
        c, d = self.support_offsets[[a, b]].tolist()
        e, f = (c, d) if self.set_offsets is None else self.set_offsets[[c, d]].tolist()
        return Supports(
            target=self.target,
            of=self.of[start:stop],
            anchor_offsets=self.anchor_offsets[start : stop + 1] - a,
            support_offsets=self.support_offsets[a : b + 1] - c,
            items=self.items[e:f],
            grades=None if self.grades is None else self.grades[c:d],
            set_offsets=None if self.set_offsets is None else self.set_offsets[c : d + 1] - e,
            sole=self.sole,
            ranks=None if self.ranks is None else self.ranks[e:f],
            place=None if self.place is None else self.place[a:b],
        )

    def query_of_support(self) -> NDArray[np.int64]:
        """The query that each support belongs to [S]."""
        ends = self.support_offsets[self.anchor_offsets]
        return np.repeat(np.arange(len(self.of)), np.diff(ends))

    def eligible(self) -> NDArray[np.int64]:
        """Distinct items that earn credit, for each query [Q]: the size of its target set."""
        if self.sole:
            return np.diff(self.support_offsets[self.anchor_offsets])
        query = self.query_of_support()
        if self.set_offsets is not None:
            query = np.repeat(query, np.diff(self.set_offsets))
        return np.bincount(query[unique_pairs(query, self.items)[0]], minlength=len(self.of))


def unique_pairs(
    query: NDArray[np.int64], item: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first place of each distinct (query, item) pair, by query, then item.

    Args:
        query: Not negative [P].
        item: Not negative, the largest times the number of queries below 2**62 [P].

    Returns:
        [U], places in the arguments; and [P], the number of each pair among these.
    """
    key = query * (int(item.max(initial=0)) + 1) + item
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones(len(key), dtype=np.bool_)
    new[1:] = key[1:] != key[:-1]
    number = np.empty(len(key), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return order[new], number
