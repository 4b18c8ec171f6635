"""What a target card says in words: every point on which papers are silent."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import msgspec

from memruler.compare.target_gold import GoldCounts
from memruler.compare.target_record import NO_ITEM, TOLERANCE
from memruler.compare.target_scores import excluded_by_reason
from memruler.errors import printable
from memruler.model.credit import CreditLevel, CreditRule
from memruler.scoring.traced import Scored, Traced
from memruler.targets.forms import NAMED, VERBATIM

__all__ = ["RULES", "Statement", "admits", "statements"]

RULES: Mapping[CreditRule, str] = {
    "anchor": "per anchor (the published rule): each anchor is found once, by whichever of its "
    "items comes first; a rank gains once, however many anchors its item supports",
    "id": "per id: every eligible item counts by itself, and there are no anchors; ideal nDCG is "
    "over all eligible items",
    "cover": "per anchor, corrected: each anchor is found once, and a rank gains for every anchor "
    "that its item supports",
}
"""Each rule of credit in one sentence."""

_SHARED: Mapping[CreditRule, str] = {
    "anchor": "one rank finds all of its anchors and gains once, while the ideal list has one "
    "anchor a rank: a perfect ranking of such a query stays under 1 (two anchors: 0.6131)",
    "id": "it is one eligible item and counts once",
    "cover": "it gains for each of its anchors, and the ideal list is the best order of the items, "
    "so a perfect ranking is 1",
}

_COMPOSED: Mapping[CreditRule, str] = {
    "anchor": "a set counts at the rank of its last item, while the ideal list has one anchor a "
    "rank: a perfect ranking for an anchor that two items support together gets 0.6309",
    "id": "rule id has no sets: a store with them cannot be scored by it",
    "cover": "a set counts at the rank of its last item, and the ideal list is the best order of "
    "the items, so a perfect ranking is 1",
}

_NAMES_SHOWN = 12


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One point.

    Attributes:
        point: What it is about.
        says: How it is here, a sentence.
    """

    point: str
    says: str


def admits(target: str, origin: Literal["run", "file"], level: CreditLevel) -> str:
    """Which forms a target admits, in words.

    Args:
        target: Its name.
        origin: A file of targets says itself what is eligible.
        level: What an anchor is.
    """
    anchor = "session" if level == "session" else "turn"
    whole = (
        "" if level == "session" else "; an item of whole sessions comes from each of their turns"
    )
    if origin == "file":
        return "as the file of targets lists them"
    words = {
        "raw": f"what was said as it was said (kinds {', '.join(sorted(VERBATIM))}), and only "
        f"items of exactly that {anchor}",
        "source": f"every stored form that comes from the {anchor}, whatever else it comes "
        f"from{whole}",
        "canonical": f"only transformed forms that come from the {anchor}: every kind but "
        + ", ".join(sorted(VERBATIM))
        + whole,
    }
    if target in words:
        return words[target]
    if target in NAMED or target.startswith("kind:"):
        kinds = target.removeprefix("kind:").replace("+", ", ")
        return f"only items of the kind {kinds} that come from the {anchor}{whole}"
    return "as this target of one's own grades them"


def statements(
    scored: Scored, gold: Mapping[str, GoldCounts], *, shared: int
) -> Iterator[Statement]:
    """Every point, in a fixed order.

    Args:
        scored: The values of every query.
        gold: Target to what its gold is made of.
        shared: Queries that every target serves.
    """
    traced = scored.traced
    alone = scored.rule == "id"
    unit = "eligible items" if alone else "anchors"
    yield Statement(point="credit", says=RULES[scored.rule])
    yield Statement(point="anchor", says=_anchor(traced, alone=alone))
    sharing = _each(gold, lambda one: one.sharing)
    yield Statement(
        point="item of two anchors",
        says=f"{_SHARED[scored.rule]}; queries with one: {sharing}",
    )
    yield Statement(
        point="anchors without an eligible item",
        says=_no_items(scored, gold) if alone else _empty(scored, gold),
    )
    yield Statement(
        point="anchor with several items",
        says=f"{'each counts by itself' if alone else 'any one of them finds it'}; anchors with "
        f"two or more: {_each(gold, lambda one: one.several)}",
    )
    yield Statement(
        point="composed",
        says=f"{_COMPOSED[scored.rule]}; supports of several items: "
        f"{_each(gold, lambda one: one.composed)}",
    )
    yield Statement(
        point="partial",
        says="a support in part is no hit; recall and nDCG count it with its grade, and found is a "
        "sum of grades; the ideal list takes the best grade that the store offers of each, so nDCG "
        f"can be 1 where recall is not; supports in part: {_each(gold, lambda one: one.partial)}",
    )
    yield Statement(point="item of whole sessions", says=_whole(traced, gold))
    yield Statement(
        point="recall",
        says=f"recall_any is a hit flag; recall_micro is the share of a query's {unit} found, and "
        f"its mean weighs each query the same; recall_pooled (micro recall) is {unit} found over "
        f"{unit}, of all queries together",
    )
    yield Statement(
        point="query without an eligible item",
        says="left out of the means of that target and counted, never a 0; left out: "
        + _left_out(scored),
    )
    yield Statement(
        point="shared subset",
        says="a pair of targets: the queries that both serve; means called shared: the queries "
        f"that every target here serves ({shared}); winners between systems: those that every "
        "target serves in every system",
    )
    yield Statement(
        point="delta",
        says="a point estimate over the queries given and the rankings as saved, the mean of b "
        "minus a; no bootstrap mean, no interval; where a system does not rank alike twice, a gap "
        f"to another one is one draw; a value has changed where it differs by more than "
        f"{TOLERANCE:g}",
    )
    yield Statement(
        point="audit",
        says="no credit here was judged; in an audit one item judged under two targets is two "
        "cases, so cases and distinct (query, item) pairs are counted apart and intervals "
        "cluster by query",
    )
    yield Statement(point="category names", says=_categories(scored))


def _anchor(traced: Traced, *, alone: bool) -> str:
    level = traced.level
    gold = "session" if level == "session" else "turn"
    if not traced.anchored:
        return "none: the file of targets does not tell which anchor an item supports"
    if alone:
        return f"none: the gold {gold}s only say which items are eligible (level {level})"
    return f"a gold {gold} (level {level})"


def _each(gold: Mapping[str, GoldCounts], count: Callable[[GoldCounts], int | None]) -> str:
    return ", ".join(f"{target} {count(one)}" for target, one in gold.items())


def _whole(traced: Traced, gold: Mapping[str, GoldCounts]) -> str:
    if traced.level == "session":
        return "earns the credit of each of its sessions, as it comes from them"
    if any(one.whole is None for one in gold.values()):
        return "not known: the input does not tell where items come from"
    return (
        "comes from every turn of its sessions, so it may earn the credit of each of them; anchors "
        f"that only such items serve: {_each(gold, lambda one: one.whole)}"
    )


def _no_items(scored: Scored, gold: Mapping[str, GoldCounts]) -> str:
    """Under rule `id`, which has no anchors to drop."""
    traced = scored.traced
    if not traced.anchored:
        return "not known: the input does not tell anchors; denominators are eligible items"
    counts = traced.counts()
    none = ", ".join(
        f"{target} {of - gold[target].anchors + gold[target].unsupported} of {of}"
        for target, supports in traced.supports.items()
        for of in (int(supports.of[counts].sum()),)
    )
    gold_name = "sessions" if traced.level == "session" else "turns"
    return (
        "count nowhere: denominators are eligible items, so gold of which nothing is stored costs "
        f"nothing; gold {gold_name} without an eligible item: {none}"
    )


def _empty(scored: Scored, gold: Mapping[str, GoldCounts]) -> str:
    counts = scored.traced.counts()
    dropped = ", ".join(
        f"{target} {int(supports.of[counts].sum()) - gold[target].anchors} of "
        f"{int(supports.of[counts].sum())}"
        for target, supports in scored.traced.supports.items()
    )
    kept = sum(one.unsupported for one in gold.values())
    told = (
        f"; kept, since the store does not tell what it holds, and never found: "
        f"{_each(gold, lambda one: one.unsupported)}"
        if kept
        else ""
    )
    return f"dropped, and the denominators fall; dropped: {dropped}{told}"


def _left_out(scored: Scored) -> str:
    return ", ".join(
        f"{target} {excluded_by_reason(scored.traced, scored.served(target)).get(NO_ITEM, 0)}"
        for target in scored.by_target
    )


def _categories(scored: Scored) -> str:
    names = sorted(scored.traced.categories)
    if not names:
        return "the input has none"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    listed = ", ".join(printable(name, 60) for name in names[:_NAMES_SHOWN])
    return f"as the input calls them, not mapped: {listed}{more}"
