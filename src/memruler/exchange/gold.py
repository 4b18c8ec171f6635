"""From a mapping and the numbers of its items to the gold of each query under each target."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.exchange.arrays import distinct, joined, marked
from memruler.exchange.mapping import Lists, Mapping, Sets
from memruler.model.credit import Supports

__all__ = [
    "PARTS",
    "SOURCE",
    "Entries",
    "known_targets",
    "numbers",
    "supports_of",
    "target_entries",
]

SOURCE, _RAW, _CANONICAL = "source", "raw", "canonical"
PARTS = (_RAW, _CANONICAL)
"""What `source` is made of, where a file does not say."""

_Ints = NDArray[np.int64]


class Entries(msgspec.Struct, frozen=True, eq=False):
    """Items that a target admits, each with the anchor (or query) that it supports."""

    owner: _Ints
    item: _Ints


def known_targets(mapping: Mapping) -> list[str]:
    """Targets that can be asked of what was read: those with lists or sets, and `source`."""
    lists = mapping.ids if mapping.group_query is None else mapping.groups
    found = [name for name, one in lists.items() if len(one.named())]
    found += [name for name in mapping.sets if name in lists and name not in found]
    if SOURCE not in found and _RAW in found and _CANONICAL in found:
        found.insert(found.index(_RAW) + 1, SOURCE)
    return found


def target_entries(lists: dict[str, Lists], target: str) -> Entries:
    """The items of a target by owner.

    `source` is what the file says it is; of an owner that does not say, `raw` and `canonical`.
    """
    owner, item = _of(lists.get(target))
    if target == SOURCE:
        said = lists[SOURCE].named() if SOURCE in lists else np.zeros(0, np.int64)
        parts = [(owner, item)]
        for name in PARTS:
            more, items = _of(lists.get(name))
            if len(said):
                size = 1 + int(max(more.max(initial=0), said.max(initial=0)))
                left = ~marked(said, size)[more]
                more, items = more[left], items[left]
            parts.append((more, items))
        owner, item = (np.concatenate(column) for column in zip(*parts, strict=True))
        if (np.diff(owner) < 0).any():
            order = np.argsort(owner, kind="stable")
            owner, item = owner[order], item[order]
    return Entries(owner, item)


def _of(lists: Lists | None) -> tuple[_Ints, _Ints]:
    if lists is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return lists.owners(), numbers(lists)


def numbers(lists: Lists | Sets) -> _Ints:
    """The numbers of ids; `memruler.exchange.numbering` has set them."""
    assert lists.number is not None  # noqa: S101 - read_traced numbers before it asks
    return lists.number


def supports_of(
    mapping: Mapping, target: str, entries: Entries, at: _Ints, queries: int
) -> Supports:
    """The gold of Q queries under a target.

    Args:
        mapping: The file.
        target: One of `known_targets`.
        entries: Its `target_entries`.
        at: Which of the Q queries each row of the mapping is [M].
        queries: Q.
    """
    if mapping.group_query is None:
        grade = _grades(mapping, target, entries)
        return _each_by_itself(target, at[entries.owner], entries.item, grade, queries)
    group, item = entries.owner, entries.item
    grade = _grades(mapping, target, entries)
    lengths = np.ones(len(item), np.int64)
    for together in _sets(mapping, target):
        group = np.concatenate([group, joined(together.group)])
        item = np.concatenate([item, numbers(together)])
        lengths = np.concatenate([lengths, joined(together.length)])
        grade = np.concatenate([grade, np.ones(len(group) - len(grade))])
    query_of = at[mapping.group_query]
    # Groups in the order of the queries; those of one query in the order of the file.
    place = np.empty(len(query_of), np.int64)
    order = np.argsort(query_of, kind="stable")
    place[order] = np.arange(len(order))
    return _assembled(
        target=target,
        query_of=query_of[order],
        group=place[group],
        item=item,
        lengths=lengths,
        grade=grade,
        queries=queries,
    )


def _sets(mapping: Mapping, target: str) -> list[Sets]:
    """Sets of a target; those of `source` are the ones of its parts, where it has none itself."""
    names = [target]
    if target == SOURCE and SOURCE not in mapping.sets and not len(_named(mapping)):
        names = list(PARTS)
    return [mapping.sets[name] for name in names if name in mapping.sets]


def _named(mapping: Mapping) -> _Ints:
    return mapping.groups[SOURCE].named() if SOURCE in mapping.groups else np.zeros(0, np.int64)


def _each_by_itself(
    target: str, query: _Ints, item: _Ints, grade: NDArray[np.float64], queries: int
) -> Supports:
    """Each distinct id of a query is an anchor of its own."""
    span = int(item.max(initial=0)) + 1
    plain = bool((grade == 1).all())
    if plain:
        found, first = distinct(query * span + item), None
    else:
        found, first = np.unique(query * span + item, return_index=True)
    of = np.bincount(found // span, minlength=queries)
    return Supports(
        target=target,
        of=of,
        anchor_offsets=np.append(0, np.cumsum(of)),
        support_offsets=np.arange(len(found) + 1),
        items=found % span,
        grades=None if first is None else grade[first],
        sole=True,
    )


def _assembled(
    *,
    target: str,
    query_of: _Ints,
    group: _Ints,
    item: _Ints,
    lengths: _Ints,
    grade: NDArray[np.float64],
    queries: int,
) -> Supports:
    """Supports in the order of their groups, without the groups that have none.

    Args:
        target: Its name.
        query_of: Query of each group, ascending [G].
        group: Of each support [S].
        item: Items, support after support.
        lengths: Items of each support [S].
        grade: Of each support; one of 0 supports nothing [S].
        queries: How many there are.
    """
    kept = grade > 0
    if not kept.all():
        item = item[np.repeat(kept, lengths)]
        group, lengths, grade = group[kept], lengths[kept], grade[kept]
    if (np.diff(group) < 0).any():
        order = np.argsort(group, kind="stable")
        starts = (np.cumsum(lengths) - lengths)[order]
        group, lengths, grade = group[order], lengths[order], grade[order]
        ends = np.cumsum(lengths)
        item = item[np.arange(len(item)) + np.repeat(starts - (ends - lengths), lengths)]
    supports = np.bincount(group, minlength=len(query_of))
    served = supports > 0
    anchors = np.bincount(query_of[served], minlength=queries)
    return Supports(
        target=target,
        of=np.bincount(query_of, minlength=queries),
        anchor_offsets=np.append(0, np.cumsum(anchors)),
        support_offsets=np.append(0, np.cumsum(supports[served])),
        items=item,
        grades=None if (grade == 1).all() else grade,
        set_offsets=None if (lengths == 1).all() else np.append(0, np.cumsum(lengths)),
        place=np.flatnonzero(served),
    )


def _grades(mapping: Mapping, target: str, entries: Entries) -> NDArray[np.float64]:
    """How far each item supports its owner: fully, where no grade says something else."""
    found = np.ones(len(entries.item))
    if not len(mapping.grade) or target in mapping.ungraded:
        return found
    items = numbers(mapping.grades)
    span = 1 + int(max(items.max(initial=0), entries.item.max(initial=0)))
    graded = mapping.grades.owners() * span + items
    order = np.argsort(graded)
    wanted = entries.owner * span + entries.item
    at = np.minimum(np.searchsorted(graded[order], wanted), len(graded) - 1)
    same = graded[order][at] == wanted
    found[same] = mapping.grade[order][at[same]]
    return found
