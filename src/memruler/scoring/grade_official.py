"""What a data set's own script prints, line by line, with the denominators that it hides."""

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Protocol

import msgspec

__all__ = ["OfficialLine", "official_lines", "ordered"]

_ORDERS = {
    # Categories 4, 1, 2, 3, 5, as LoCoMo's script prints them.
    "locomo": ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial"),
    "longmemeval": (
        "single-session-user",
        "single-session-preference",
        "single-session-assistant",
        "multi-session",
        "temporal-reasoning",
        "knowledge-update",
    ),
}


class OfficialLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the data set's own print.

    Attributes:
        name: What it is of.
        value: The mean that is printed; None where it would be one of nothing.
        of: Items in it.
        items: Items that there are.
        floor: The mean with each missing item counted as 0; None where there is no item.
        note: What the print does not say; None where it hides nothing.
    """

    name: str
    value: float | None
    of: int
    items: int
    floor: float | None
    note: str | None = None


class _Item(Protocol):
    @property
    def category(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def answerable(self) -> bool: ...


def _set(corpus: str) -> str | None:
    """The data set behind a corpus' name (`locomo`, `longmemeval-s`)."""
    return next((name for name in _ORDERS if corpus.partition("-")[0] == name), None)


def ordered(corpus: str, categories: Iterable[str]) -> list[str]:
    """Categories in the order of the data set's own print; those that it lacks follow."""
    there = set(categories)
    known = _ORDERS.get(_set(corpus) or "", ())
    return [*(name for name in known if name in there), *sorted(there - set(known))]


def official_lines(
    corpus: str, items: Sequence[_Item], categories: Sequence[str]
) -> list[OfficialLine]:
    """The lines, in their order; empty for a data set without a print of its own.

    LoCoMo: a mean a category and the mean over all questions of all five (not of the five means).
    LongMemEval: a mean a type with its abstention questions in it, the mean of the six means, the
    mean over all that was judged, and the mean over abstention questions. What was not answered or
    not judged is in none of them; `floor` counts it as wrong.

    Args:
        corpus: Its name.
        items: Of the grading.
        categories: As `ordered` gives them.
    """
    data = _set(corpus)
    if data is None:
        return []
    lines = [_line(name, [i for i in items if i.category == name]) for name in categories]
    overall = _line("overall", items, "over questions, not over categories")
    if data == "locomo":
        return [*lines, overall]
    return [
        *lines,
        _task_averaged(lines),
        overall,
        _line("abstention", [i for i in items if not i.answerable], "they are in their types too"),
    ]


def _line(name: str, items: Sequence[_Item], note: str | None = None) -> OfficialLine:
    values = [item.value for item in items if item.value is not None]
    missing = len(items) - len(values)
    told = [f"{missing} without a value are left out"] if missing else []
    return OfficialLine(
        name=name,
        value=fsum(values) / len(values) if values else None,
        of=len(values),
        items=len(items),
        floor=fsum(values) / len(items) if items else None,
        note="; ".join([*told, *([note] if note else [])]) or None,
    )


def _task_averaged(lines: Sequence[OfficialLine]) -> OfficialLine:
    """The mean of the means of all types; a type that has none leaves nothing to print."""
    wanted = len(_ORDERS["longmemeval"])
    own = [line for line in lines if line.name in _ORDERS["longmemeval"]]
    values = [line.value for line in own if line.value is not None]
    whole = len(values) == wanted
    floors = [line.floor for line in own if line.floor is not None]
    return OfficialLine(
        name="task-averaged",
        value=fsum(values) / wanted if whole else None,
        of=sum(line.of for line in own),
        items=sum(line.items for line in own),
        floor=fsum(floors) / wanted if len(floors) == wanted else None,
        note="every type weighs the same, be it 30 or 133 questions"
        if whole
        else f"{len(values)} of {wanted} types have a value: there is no such mean",
    )
