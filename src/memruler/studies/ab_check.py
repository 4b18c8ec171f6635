"""What is wrong with the spec of an A/B run beyond the types of its fields."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from memruler.compare.headline import choose_headline
from memruler.compare.record import Reason
from memruler.errors import UsageError
from memruler.studies.ab_spec import SIDES, AbSide
from memruler.studies.spec_cells import set_words
from memruler.studies.spec_check import base_faults, cell_faults

__all__ = ["check"]


def check(found: Mapping[str, Any], typed: Collection[str]) -> list[str]:
    """Every fault of a spec whose fields have been read.

    Args:
        found: The fields that could be read, and the defaults of those that are not written.
        typed: Names of the fields that are.
    """
    shared = {name: found[name] for name in ("corpus", "forms") if name in found}
    faults = [*base_faults(shared), *_depths(found, typed)]
    for name in SIDES:
        if name in found:
            faults += _side(name, found[name])
    return faults


def _side(name: str, side: AbSide) -> Iterator[str]:
    own = {"system": side.system, "settings": side.settings}
    wrong = [f"{name}.{fault}" for fault in base_faults(own)]
    yield from wrong
    if not wrong:
        for fault in cell_faults(own, [(f"{name}.settings", set_words(side.settings))]):
            yield fault.removeprefix("cell ")


def _depths(found: Mapping[str, Any], typed: Collection[str]) -> Iterator[str]:
    """Faults of what is counted, and how deep; a default that no list reaches is none."""
    limit, cutoffs = found.get("limit", math.inf), found.get("cutoffs", ())
    for at, k in enumerate(cutoffs):
        if k > limit and "cutoffs" in typed:
            yield f"cutoffs[{at}]: no list reaches {k}; `limit` is {limit}"
        if at and k <= cutoffs[at - 1]:
            yield f"cutoffs[{at}]: they ascend, and {k} is not above {cutoffs[at - 1]}"
    reached = [k for k in cutoffs if k <= limit]
    if reached and found.get("metric") is not None:
        yield from _metric(found["metric"], reached)


def _metric(asked: str, cutoffs: Sequence[int]) -> Iterator[str]:
    try:
        chosen = choose_headline(asked, [("session", k) for k in cutoffs])
    except UsageError as error:
        yield f"metric: {error.what.removeprefix(f'--metric {asked}: ')}"
        return
    if isinstance(chosen, Reason):
        yield f"metric: nothing is scored at {asked}; the depths are {', '.join(map(str, cutoffs))}"
