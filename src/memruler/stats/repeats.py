"""Repeats of one side: how many items are right, and how often a label flips when drawn again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

import msgspec

from memruler.errors import UsageError
from memruler.stats.repeats_item import Item, Pairs, Repeat, voted

__all__ = ["Flips", "Repeat", "RepeatedSide", "repeated_side"]

_LEAST = 2


class Flips(msgspec.Struct, frozen=True, kw_only=True):
    """How unstable the labels of one side are; everything is over items with two valid repeats.

    Attributes:
        of: Items with at least two valid repeats.
        items: Of `of`, those whose valid repeats are not unanimous.
        rate: `items / of`. It grows with the number of repeats.
        pairwise: Mean over `of` of `right * wrong / (n * (n - 1) / 2)`, `n` the item's valid
            repeats: the chance that two repeats of one item disagree. Its expected value does not
            depend on the number of repeats: `2 * p * (1 - p)` for an item that is right with
            probability `p`.
        reader, retrieval, unknown: `items` by what made their labels differ; see `Moved`.
        known: Of `of`, items with known top keys in all valid repeats.
        same_top: Of `known`, items with identical top keys in all valid repeats.
        pairs: All pairs of repeats of these items.
    """

    of: int
    items: int
    rate: float
    pairwise: float
    reader: int
    retrieval: int
    unknown: int
    known: int
    same_top: int
    pairs: Pairs


class RepeatedSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side with all its repeats.

    Attributes:
        items: How many.
        labelled: Of `items`, those of which at least one repeat is valid.
        errors: The others: every repeat erred.
        right: Of `labelled`, those whose majority is right.
        accuracy: `right / labelled`; None where nothing is labelled.
        repeats: Repeats an item, erred ones included, to the number of items with so many.
        even: Of `labelled`, items with an even number of valid repeats, so that they can tie.
        ties: Of `even`, those that did; each counts as wrong.
        erred: Repeats that erred, by reason.
        flips: None where no item has two valid repeats.
        no_flips: Why `flips` is None.
    """

    items: int
    labelled: int
    errors: int
    right: int
    accuracy: float | None
    repeats: dict[int, int]
    even: int
    ties: int
    erred: dict[str, int]
    flips: Flips | None
    no_flips: str | None = None


def repeated_side(items: Mapping[str, Sequence[Repeat]]) -> RepeatedSide:
    """Sum up the repeats of one side.

    Args:
        items: Id to its repeats; their number may differ from item to item.

    Raises:
        UsageError: There is no item, or one is not as `Repeat` says.

    Example:
        >>> yes, no = Repeat(label=True), Repeat(label=False)
        >>> side = repeated_side({"a": [yes, yes, no], "b": [yes, no], "c": [no, no]})
        >>> side.right, side.labelled, side.ties
        (1, 3, 1)
        >>> side.flips.items, side.flips.of, round(side.flips.pairwise, 3)
        (2, 3, 0.556)
    """
    if not items:
        raise UsageError("there is no item to sum up", hint="give at least one")
    voters = [voted(repeats, name) for name, repeats in items.items()]
    labelled = [item for item in voters if item.label is not None]
    right = sum(item.label is True for item in labelled)
    erred = Counter(
        repeat.reason for repeats in items.values() for repeat in repeats if repeat.reason
    )
    flips = _flips([item for item in voters if item.valid >= _LEAST])
    return RepeatedSide(
        items=len(voters),
        labelled=len(labelled),
        errors=len(voters) - len(labelled),
        right=right,
        accuracy=right / len(labelled) if labelled else None,
        repeats=dict(sorted(Counter(item.valid + item.erred for item in voters).items())),
        even=sum(item.valid % 2 == 0 for item in labelled),
        ties=sum(item.tied for item in labelled),
        erred=dict(sorted(erred.items())),
        flips=flips,
        no_flips=None if flips else "no item has two repeats with a label",
    )


def _flips(items: Sequence[Item]) -> Flips | None:
    if not items:
        return None
    flipped = [item for item in items if not item.unanimous]
    moved = Counter(item.moved for item in flipped)
    known = [item for item in items if item.known]
    return Flips(
        of=len(items),
        items=len(flipped),
        rate=len(flipped) / len(items),
        pairwise=fsum(item.pairs.flipped / item.pairs.total for item in items) / len(items),
        reader=moved["reader"],
        retrieval=moved["retrieval"],
        unknown=moved["unknown"],
        known=len(known),
        same_top=sum(item.top is not None for item in known),
        pairs=Pairs(
            **{
                name: sum(getattr(item.pairs, name) for item in items)
                for name in Pairs.__struct_fields__
            }
        ),
    )
