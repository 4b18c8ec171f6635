"""Repeats of two sides: where their majorities disagree, and what is left of it when stable."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from memruler.errors import Refusal
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.interval import Interval
from memruler.stats.repeats import Repeat, RepeatedSide, repeated_side
from memruler.stats.repeats_item import Item, Moved, voted

__all__ = ["Discordance", "PairedShares", "RepeatedPair", "repeated_pair"]

_NAMED = 5
"""Ids that a refusal names; the rest is counted."""


class PairedShares(msgspec.Struct, frozen=True, kw_only=True):
    """The share of right items on both sides, over the same items.

    Attributes:
        of: Items that both shares are over.
        base, candidate: Right items of each side.
        delta: `(candidate - base) / of`; None where `of` is 0.
        wins: Items that are right in the candidate only; `losses`: in the base only.
        interval: Of the mean difference; None where it cannot be given.
        no_interval: Why not.
    """

    of: int
    base: int
    candidate: int
    delta: float | None
    wins: int
    losses: int
    interval: Interval | None
    no_interval: str | None = None


class Discordance(msgspec.Struct, frozen=True, kw_only=True):
    """Items whose majority labels differ between the sides.

    Attributes:
        of: Items with a label on both sides.
        items: Of `of`, those with different majority labels.
        rate: `items / of`; None where `of` is 0.
        reader: Of `items`, those with the same top keys in every valid repeat of both sides.
        retrieval: Of `items`, those with known but not identical keys.
        unknown: Of `items`, the others.
    """

    of: int
    items: int
    rate: float | None
    reader: int
    retrieval: int
    unknown: int


class RepeatedPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two sides over the same items.

    Attributes:
        base, candidate: Each side by itself.
        items: Ids that both sides have.
        errors: Of `items`, those without a label: in the `base` only, in the `candidate` only, in
            `both`. They are in no share below but `errors_wrong`.
        discordance: Between the majorities.
        full: Over items with a label on both sides.
        stable: Over items that are unanimous on both sides, with two valid repeats or more.
        errors_wrong: Over all items, one without a label counted as wrong, so that failing does
            not pay; equal to `full` where nothing erred.
    """

    base: RepeatedSide
    candidate: RepeatedSide
    items: int
    errors: dict[str, int]
    discordance: Discordance
    full: PairedShares
    stable: PairedShares
    errors_wrong: PairedShares


def repeated_pair(
    base: Mapping[str, Sequence[Repeat]],
    candidate: Mapping[str, Sequence[Repeat]],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 7,
) -> RepeatedPair:
    """Hold two sides with repeats against each other, item by item.

    Args:
        base: Id to its repeats.
        candidate: The same ids.
        clusters: Id to its cluster; None where each item stands alone.
        resamples: Of the intervals; see `paired_bootstrap`.
        seed: Of the intervals.

    Raises:
        Refusal: The sides do not have the same items, or an item has no cluster.
        UsageError: There is no item, or one is not as `Repeat` says.
    """
    one, other = repeated_side(base), repeated_side(candidate)
    _same_items(base, candidate, clusters)
    sides = {name: (voted(base[name], name), voted(candidate[name], name)) for name in base}
    both = {
        name: pair
        for name, pair in sides.items()
        if pair[0].label is not None and pair[1].label is not None
    }
    stable = {name: pair for name, pair in both.items() if pair[0].unanimous and pair[1].unanimous}

    def shares(chosen: Mapping[str, tuple[Item, Item]], none: str) -> PairedShares:
        groups = None if clusters is None else [clusters[name] for name in chosen]
        return _shares(list(chosen.values()), groups, none, resamples, seed)

    erred = Counter((a.label is None, b.label is None) for a, b in sides.values())
    return RepeatedPair(
        base=one,
        candidate=other,
        items=len(sides),
        errors={
            "base": erred[True, False],
            "candidate": erred[False, True],
            "both": erred[True, True],
        },
        discordance=_discordance(list(both.values())),
        full=shares(both, "no item has a label on both sides"),
        stable=shares(stable, "no item is unanimous, in two repeats or more, on both sides"),
        errors_wrong=shares(sides, "there is no item"),
    )


def _same_items(
    base: Mapping[str, object],
    candidate: Mapping[str, object],
    clusters: Mapping[str, object] | None,
) -> None:
    gone = [
        (f"only the {side} has", [name for name in here if name not in there])
        for side, here, there in (("base", base, candidate), ("candidate", candidate, base))
    ]
    if clusters is not None:
        gone.append(("no cluster is given for", [name for name in base if name not in clusters]))
    reasons = []
    for what, names in gone:
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            noun = "item" if len(names) == 1 else "items"
            reasons.append(f"{what} {len(names)} {noun}: {', '.join(names[:_NAMED])}{more}")
    if reasons:
        raise Refusal(
            reasons, hint="measure both sides over the same items, and cluster each of them"
        )


def _shares(
    pairs: Sequence[tuple[Item, Item]],
    groups: Sequence[Hashable] | None,
    none: str,
    resamples: int,
    seed: int,
) -> PairedShares:
    right = [(one.label is True, other.label is True) for one, other in pairs]
    interval, why = None, None if pairs else none
    if pairs:
        deltas = [int(after) - int(before) for before, after in right]
        try:
            interval = paired_bootstrap(deltas, groups, resamples=resamples, seed=seed)
        except Refusal as refusal:  # one cluster has shares, and a reason instead of an interval
            why = refusal.reasons[0]
    wins, losses = right.count((False, True)), right.count((True, False))
    return PairedShares(
        of=len(pairs),
        base=sum(before for before, _ in right),
        candidate=sum(after for _, after in right),
        delta=(wins - losses) / len(pairs) if pairs else None,
        wins=wins,
        losses=losses,
        interval=interval,
        no_interval=why,
    )


def _discordance(pairs: Sequence[tuple[Item, Item]]) -> Discordance:
    moved = Counter(_between(*pair) for pair in pairs if pair[0].label != pair[1].label)
    items = moved.total()
    return Discordance(
        of=len(pairs),
        items=items,
        rate=items / len(pairs) if pairs else None,
        reader=moved["reader"],
        retrieval=moved["retrieval"],
        unknown=moved["unknown"],
    )


def _between(one: Item, other: Item) -> Moved:
    if not (one.known and other.known):
        return "unknown"
    return "reader" if one.top is not None and one.top == other.top else "retrieval"
