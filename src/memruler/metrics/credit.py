"""Credit of one query under a target: the definition, written to be read.

A ranking is a list of stored items. The gold of a query is a list of anchors (gold turns or
sessions), and each anchor has supports: sets of stored items, usually of one item, that support it
together to a grade from above 0 to 1. A support is complete at the rank of its last item.

At rank r, `best(a, r)` is the largest grade of the supports of anchor a complete by r, or 0. With

    gain(r)  = max over a of best(a, r) - best(a, r - 1)      rule `anchor`
    gain(r)  = sum over a of best(a, r) - best(a, r - 1)      rule `cover`

    DCG@k    = sum over r <= k of gain(r) / log2(r + 1)
    nDCG@k   = DCG@k / ideal DCG@k

the rules differ in two ways, both of which only matter where one item supports two anchors:

* `anchor`: a rank gains once, however many anchors it serves, and the ideal list serves one anchor
  a rank. With two anchors that one item supports, the list that has it first gets 1 / (1 +
  1/log2(3)) = 0.6131. This is the rule of the published figures (Panthi and Abdelfattah, arXiv
  2605.24060).
* `cover`: a rank gains for every anchor it serves, and the ideal list is the best order of the
  items that there are. The same list gets 1. Without shared items both rules agree, bit for bit.
* `id`: no anchors. Each item that supports anything is an anchor by itself, with its best grade.

The other metrics are the same under all three, over the anchors of the rule. A partial support
counts with its grade in recall and nDCG; the others ask for full support, best(a, k) = 1:

    top1         1 if an anchor is fully supported at rank 1
    recall_any   1 if an anchor is fully supported within the first k (a hit)
    recall_all   1 if all anchors are: the first k together cover the evidence
    recall_micro sum over a of best(a, k) / anchors
    mrr          1 / the first rank at which an anchor is fully supported, or 0

Where no order of the items gains anything within the first k (two items that support only
together, at k = 1) nDCG is 0, as recall_all is where there is more gold than k.
"""

from collections.abc import Hashable, Sequence

import msgspec

from memruler.metrics.definitions import discount
from memruler.model.credit import CreditRule

__all__ = ["MOST_EXACT", "Anchors", "Credit", "Support", "credit_one", "ideal_cover", "per_id"]

MOST_EXACT = 12
"""Items up to which the ideal of rule `cover` is exact; beyond, it is that of a greedy order."""


class Support(msgspec.Struct, frozen=True):
    """Items that support an anchor together.

    Attributes:
        items: At least one.
        grade: Above 0 and at most 1, which is full support.
    """

    items: frozenset[Hashable]
    grade: float = 1.0


Anchors = Sequence[Sequence[Support]]


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one query at one cut-off; see the formulas above.

    Attributes:
        anchors: How many there are.
        found: Sum of their best grades within the first k.
    """

    anchors: int
    found: float
    top1: float
    recall_any: float
    recall_all: float
    recall_micro: float
    mrr: float
    ndcg: float


def credit_one(
    ranking: Sequence[Hashable], anchors: Anchors, k: int, rule: CreditRule = "anchor"
) -> Credit:
    """Score one ranking against the anchors of one query.

    Args:
        ranking: Items, best first. An item that returns counts where it stands first.
        anchors: The supports of each anchor; an anchor without one is never found.
        k: The cut-off, at least 1. A list shorter than `k` is read as it is: nothing follows.
        rule: How credit is counted.

    Raises:
        ValueError: There is no anchor, `k` is below 1, or rule `id` meets a support of several
            items.
    """
    if k < 1:
        raise ValueError(f"a cut-off is at least 1, not {k}")
    if rule == "id":
        anchors = per_id(anchors)
    if not anchors:
        raise ValueError("a query without an anchor has no value")
    best = [0.0] * len(anchors)
    seen: set[Hashable] = set()
    first, dcg, found = 0, 0.0, 0.0
    for rank, item in enumerate(ranking[:k], start=1):
        seen.add(item)
        now = [
            max((s.grade for s in supports if s.items <= seen), default=0.0) for supports in anchors
        ]
        gains = [new - old for new, old in zip(now, best, strict=True)]
        total = 0.0
        for one in gains:  # one after the other, as everything that is compared to the last bit
            total += one
            found += one
        gain = total if rule == "cover" else max(gains)
        if gain:
            dcg += gain * discount(rank)
        best = now
        if not first and 1.0 in best:
            first = rank
    return Credit(
        anchors=len(anchors),
        found=found,
        top1=float(first == 1),
        recall_any=float(first > 0),
        recall_all=float(all(grade == 1.0 for grade in best)),
        recall_micro=found / len(anchors),
        mrr=1 / first if first else 0.0,
        ndcg=dcg / (max(_ideal(anchors, k, rule), dcg) or 1.0),
    )


def per_id(anchors: Anchors) -> list[list[Support]]:
    """Each item that supports anything as an anchor of its own, with its largest grade.

    Raises:
        ValueError: A support has several items: none of them supports anything by itself.
    """
    grades: dict[Hashable, float] = {}
    for support in (support for supports in anchors for support in supports):
        if len(support.items) != 1:
            raise ValueError("rule `id` has no meaning for items that support only together")
        (item,) = support.items
        grades[item] = max(grades.get(item, 0.0), support.grade)
    return [[Support(frozenset({item}), grade)] for item, grade in grades.items()]


def _ideal(anchors: Anchors, k: int, rule: CreditRule) -> float:
    if rule == "cover" and _shared(anchors):
        return ideal_cover(anchors, k)[0][-1]
    # One anchor a rank, the best supported first. One that nothing supports still has its place:
    # it is gold that the store may hold and does not show.
    grades = sorted((max((s.grade for s in a), default=1.0) for a in anchors), reverse=True)
    total = 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        total += grade * discount(rank)
    return total


def _shared(anchors: Anchors) -> bool:
    """Whether an item supports two anchors, or several items only together."""
    names = [{item for support in supports for item in support.items} for supports in anchors]
    together = any(len(s.items) > 1 for supports in anchors for s in supports)
    return together or sum(map(len, names)) > len(set().union(*names))


def ideal_cover(anchors: Anchors, k: int) -> tuple[tuple[float, ...], bool]:
    """The best DCG that any order of the items reaches under rule `cover`.

    Of items that support alike, one is enough, and none is needed that another outdoes. Where at
    most `MOST_EXACT` are left, every set of them is tried, since the best DCG of an order depends
    only on which items stand before each. Where more are left the order is greedy: each rank takes
    what gains most, the first among equals.

    Args:
        anchors: As for `credit_one`.
        k: The deepest cut-off.

    Returns:
        The value at each depth from 1 to `k`, not falling; and whether it is exact.
    """
    items = _that_matter(anchors)
    exact = len(items) <= MOST_EXACT
    return (_exact if exact else _greedy)(anchors, items, k), exact


def _that_matter(anchors: Anchors) -> list[Hashable]:
    """Items that a best order may need, in order of first mention."""
    grades: dict[Hashable, dict[int, float]] = {}
    together: dict[Hashable, None] = {}
    for number, supports in enumerate(anchors):
        for support in supports:
            for item in sorted(support.items, key=repr):
                if len(support.items) > 1:
                    together[item] = None
                mine = grades.setdefault(item, {})
                mine[number] = max(mine.get(number, 0.0), support.grade)
    kept: list[Hashable] = []
    for item, mine in grades.items():
        # An item that also counts in company cannot be judged by what it does alone.
        if item not in together and any(
            all(other.get(a, 0.0) >= grade for a, grade in mine.items())
            and (other != mine or name in kept)
            for name, other in grades.items()
            if name != item and name not in together
        ):
            continue
        kept.append(item)
    return kept


def _value(anchors: Anchors, held: frozenset[Hashable]) -> float:
    total = 0.0
    for supports in anchors:
        total += max((s.grade for s in supports if s.items <= held), default=0.0)
    return total


def _exact(anchors: Anchors, items: Sequence[Hashable], k: int) -> tuple[float, ...]:
    best: dict[frozenset[Hashable], float] = {frozenset(): 0.0}
    worth = {frozenset[Hashable](): 0.0}
    reached: list[float] = []
    for rank in range(1, k + 1):
        longer: dict[frozenset[Hashable], float] = {}
        for held, dcg in best.items():
            for item in items:
                more = held | {item}
                if len(more) == len(held):
                    continue
                if more not in worth:
                    worth[more] = _value(anchors, more)
                total = dcg + (worth[more] - worth[held]) * discount(rank)
                longer[more] = max(longer.get(more, 0.0), total)
        best = longer or best
        reached.append(max([*best.values(), *reached[-1:]]))
    return tuple(reached)


def _greedy(anchors: Anchors, items: Sequence[Hashable], k: int) -> tuple[float, ...]:
    held: frozenset[Hashable] = frozenset()
    left, worth, total = list(items), 0.0, 0.0
    reached: list[float] = []
    for rank in range(1, k + 1):
        if left:
            values = [_value(anchors, held | {item}) for item in left]
            at = max(range(len(left)), key=values.__getitem__)
            held, gain = held | {left.pop(at)}, values[at] - worth
            worth = values[at]
            total += gain * discount(rank)
        reached.append(total)
    return tuple(reached)
