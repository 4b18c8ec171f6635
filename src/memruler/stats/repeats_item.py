"""What the repeats of one item say together: its majority label, and what moved the others."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import msgspec

from memruler.errors import UsageError

__all__ = ["Item", "Moved", "Pairs", "Repeat", "voted"]

Moved = Literal["reader", "retrieval", "unknown"]
"""What made labels differ. `reader`: two draws with identical top keys have different labels.
`retrieval`: none do, and all keys are known. `unknown`: keys are missing, so neither can be said.
"""

_LEAST = 2


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    """One draw of one item.

    Attributes:
        label: Right or wrong; None where the repeat erred.
        reason: Why it erred; None exactly where there is a label.
        top: Keys of what the reader was given, best first; None where not known.
    """

    label: bool | None
    reason: str | None = None
    top: tuple[str, ...] | None = None


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """Unordered pairs of valid repeats of the same item.

    Attributes:
        total: How many.
        known: Of `total`, those of which both top keys are known.
        same: Of `known`, those with identical top keys.
        flipped: Of `total`, those with different labels.
        flipped_same: Of `flipped`, those with identical top keys: the reader moved.
        flipped_other: Of `flipped`, those with different top keys: the retrieval moved.
    """

    total: int
    known: int
    same: int
    flipped: int
    flipped_same: int
    flipped_other: int


class Item(NamedTuple):
    """The repeats of one item.

    Attributes:
        label: The majority of the valid repeats, a tie counted as wrong; None where all erred.
        right, wrong, erred: Repeats of each kind.
        known: Whether the top keys of all valid repeats are known.
        top: The top keys that all valid repeats share; None where there are no such.
        pairs: Of its valid repeats.
        moved: What made the labels differ; None where they do not.
    """

    label: bool | None
    right: int
    wrong: int
    erred: int
    known: bool
    top: tuple[str, ...] | None
    pairs: Pairs
    moved: Moved | None

    @property
    def valid(self) -> int:
        """Repeats that vote."""
        return self.right + self.wrong

    @property
    def tied(self) -> bool:
        """Whether as many repeats are right as are wrong."""
        return self.right == self.wrong > 0

    @property
    def unanimous(self) -> bool:
        """Whether two or more repeats vote, and all vote the same."""
        return self.valid >= _LEAST and 0 in {self.right, self.wrong}


def voted(repeats: Sequence[Repeat], name: str) -> Item:
    """Let the repeats of one item vote; one that erred has no vote.

    Args:
        repeats: At least one.
        name: Of the item, for messages.

    Raises:
        UsageError: There is none, or one has a label and a reason, or neither, or a label that is
            no truth value.
    """
    if not repeats:
        raise UsageError("an item has no repeat", where=name, hint="leave the item out")
    for repeat in repeats:
        _check(repeat, name)
    valid = [repeat for repeat in repeats if repeat.label is not None]
    tops = {repeat.top for repeat in valid}
    right = sum(bool(repeat.label) for repeat in valid)
    wrong = len(valid) - right
    pairs = _pairs(valid)
    return Item(
        label=right > wrong if valid else None,
        right=right,
        wrong=wrong,
        erred=len(repeats) - len(valid),
        known=bool(valid) and None not in tops,
        top=next(iter(tops)) if len(tops) == 1 else None,
        pairs=pairs,
        moved=_moved(pairs) if right and wrong else None,
    )


def _check(repeat: Repeat, name: str) -> None:
    if repeat.label is not None and not isinstance(repeat.label, bool):
        raise UsageError(
            f"a label is {repeat.label!r}", where=name, hint="it is true, false, or absent"
        )
    if (repeat.label is None) != (repeat.reason is not None):
        raise UsageError(
            "a repeat has both a label and a reason why it has none, or neither",
            where=name,
            hint="give a reason exactly where there is no label",
        )


def _pairs(valid: Sequence[Repeat]) -> Pairs:
    total = known = same = flipped = flipped_same = flipped_other = 0
    for one, other in combinations(valid, 2):
        both = one.top is not None and other.top is not None
        alike = both and one.top == other.top
        differ = one.label != other.label
        total += 1
        known += both
        same += alike
        flipped += differ
        flipped_same += differ and alike
        flipped_other += differ and both and not alike
    return Pairs(
        total=total,
        known=known,
        same=same,
        flipped=flipped,
        flipped_same=flipped_same,
        flipped_other=flipped_other,
    )


def _moved(pairs: Pairs) -> Moved:
    if pairs.flipped_same:
        return "reader"
    return "retrieval" if pairs.known == pairs.total else "unknown"
