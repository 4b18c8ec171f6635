"""Refusals as records: each measure with its denominators, or with the reason why it is absent."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.metrics.abstention import Refusals
from memruler.model.abstention import Counts

__all__ = ["by_category", "counts", "tally"]

_NO_ANSWERABLE = "no query with an answer"
_NO_UNANSWERABLE = "no query without an answer"
_NOTHING = "nothing was refused"
_ONE_KIND = "all queries are of one kind, which alone decides it"


def tally(refused: NDArray[np.bool_], answerable: NDArray[np.bool_]) -> Refusals:
    """Count the refused queries of each kind; both arguments are [Q]."""
    return Refusals(
        int((refused & ~answerable).sum()),
        int((~answerable).sum()),
        int((refused & answerable).sum()),
        int(answerable.sum()),
    )


def counts(name: str, found: Refusals) -> Counts:
    """The measures of some counts, each absent one with its reason."""
    absent = {}
    # 1 where every query lacks an answer and 0 where none does, whatever was refused.
    both = bool(found.unanswerable and found.answerable)
    if found.precision is None:
        absent["precision"] = _NOTHING
    elif not both:
        absent["precision"] = _ONE_KIND
    if found.recall is None:
        absent["recall"] = _NO_UNANSWERABLE
    if found.over_refusal is None:
        absent["over_refusal"] = _NO_ANSWERABLE
    if found.f1 is None:
        absent["f1"] = f"{_NOTHING}, and there is {_NO_UNANSWERABLE}"
    elif not both:
        absent["f1"] = _ONE_KIND
    if found.balanced_accuracy is None:
        absent["balanced_accuracy"] = absent.get("recall") or _NO_ANSWERABLE
    return Counts(
        name=name,
        refused_unanswerable=found.refused_unanswerable,
        unanswerable=found.unanswerable,
        refused_answerable=found.refused_answerable,
        answerable=found.answerable,
        precision=found.precision if both else None,
        recall=found.recall,
        over_refusal=found.over_refusal,
        f1=found.f1 if both else None,
        balanced_accuracy=found.balanced_accuracy,
        absent=absent,
    )


def by_category(
    categories: Sequence[str], refused: NDArray[np.bool_], answerable: NDArray[np.bool_]
) -> tuple[Counts, ...]:
    """The counts of every category, by name; all arguments have one entry a query."""
    names = np.array(categories, dtype=object)
    found = []
    for name in sorted(set(categories)):
        mine = names == name
        found.append(counts(name, tally(refused[mine], answerable[mine])))
    return tuple(found)
