"""Which hit of one run is which hit of the other, and how far it moved."""

from collections.abc import Sequence
from typing import Any

import msgspec

from memruler.report.explore.record import HitDetail
from memruler.targets.forms import VERBATIM

__all__ = ["moved"]


def moved(
    base: Sequence[HitDetail],
    candidate: Sequence[HitDetail],
    texts: tuple[Sequence[str | None], Sequence[str | None]],
) -> tuple[list[HitDetail], list[HitDetail]]:
    """Say of every hit how many ranks it gained from the baseline to the candidate.

    Args:
        base: Hits of the baseline, by rank.
        candidate: Hits of the candidate, by rank.
        texts: Whole texts of both.
    """
    places: dict[Any, list[int]] = {}
    for place, (hit, text) in enumerate(zip(base, texts[0], strict=True)):
        places.setdefault(_same(hit, text), []).append(place)
    left, right = list(base), list(candidate)
    for at, (hit, text) in enumerate(zip(candidate, texts[1], strict=True)):
        there = places.get(_same(hit, text))
        if there:  # one that is returned twice is paired in order of rank
            place = there.pop(0)
            gained = left[place].rank - hit.rank
            left[place] = msgspec.structs.replace(left[place], moved=gained)
            right[at] = msgspec.structs.replace(hit, moved=gained)
    return left, right


def _same(hit: HitDetail, text: str | None) -> Any:
    if hit.kind in VERBATIM and len(hit.sources) == 1:
        return hit.sources
    return hit.kind, hit.sources, hit.item if text is None else text
