"""Draws a stratified sample of answers for a second judge."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from memruler.errors import UsageError
from memruler.model.answers import AnswerItem
from memruler.studies.audit_strata import allocate

__all__ = ["Sample", "draw_sample"]

_SEPARATOR = " / "


class Sample:
    """Which answers were drawn.

    Attributes:
        chosen: Places in the answers, ascending.
        note: What the manifest says of it.
    """

    __slots__ = ("chosen", "note")

    def __init__(self, chosen: list[int], note: dict[str, Any]) -> None:
        self.chosen = chosen
        self.note = note


def draw_sample(
    items: Sequence[AnswerItem],
    number: int,
    *,
    seed: int,
    labels: Mapping[tuple[int, int, int], str] | None = None,
    of: str | None = None,
) -> Sample:
    """Draw answers by category, and by the first judge's label where there is one.

    Each stratum gives as many as its share and at least one, so that a rare label is seen; within
    it the order is that of a digest, so that a larger sample holds the smaller.

    Args:
        items: All answers.
        number: How many; all of them where there are no more.
        seed: Of the digest; not negative.
        labels: Instance, query and repeat to the first judge's label; None to draw by category.
        of: Name of the first grading, for the note.

    Raises:
        UsageError: There are more strata than the sample has answers, or no answer.
    """
    if not items:
        raise UsageError("there is no answer to draw from", hint="answer the queries first")
    strata = [_stratum(item, labels) for item in items]
    sizes: dict[str, int] = {}
    for name in strata:
        sizes[name] = sizes.get(name, 0) + 1
    shares = allocate(sizes, number)
    ranked: dict[str, list[tuple[bytes, int]]] = {name: [] for name in sizes}
    for at, (item, name) in enumerate(zip(items, strata, strict=True)):
        key = f"{seed}:{item.instance}:{item.query}:{item.repeat}"
        ranked[name].append((hashlib.sha256(key.encode()).digest(), at))
    chosen = sorted(at for name, most in shares.items() for _, at in sorted(ranked[name])[:most])
    return Sample(
        chosen,
        {
            "number": len(chosen),
            "of": len(items),
            "seed": seed,
            "by": "category" if labels is None else f"category and the label of {of}",
            "strata": {name: [sizes[name], shares[name]] for name in sorted(sizes)},
        },
    )


def _stratum(item: AnswerItem, labels: Mapping[tuple[int, int, int], str] | None) -> str:
    if labels is None:
        return item.category
    label = labels.get((item.instance, item.query, item.repeat), "not graded")
    return f"{item.category}{_SEPARATOR}{label}"
