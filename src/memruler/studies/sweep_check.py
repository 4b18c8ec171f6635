"""What is wrong with the spec of a sweep beyond the types of its fields."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from memruler.compare.sensitivity import headline_metric
from memruler.compare.shift_panel import MEASURED
from memruler.errors import UsageError
from memruler.store.folder import check_stem
from memruler.studies.spec_cells import words
from memruler.studies.spec_check import base_faults, cell_faults, taken_keys, told, value_faults
from memruler.studies.sweep_cells import axes, combinations, name_of, size
from memruler.studies.sweep_spec import MOST_CELLS, REPORTS
from memruler.targets.forms import named_target

__all__ = ["check"]


def check(found: Mapping[str, Any], typed: Collection[str]) -> list[str]:
    """Every fault of a spec whose fields have been read; of the whole, once its parts are right.

    Args:
        found: The fields that could be read, and the defaults of those that are not written.
        typed: Names of the fields that are.
    """
    faults = [
        *base_faults(found),
        *_sweep(found, typed),
        *_targets(found),
        *_scored(found),
    ]
    if faults or "sweep" not in found:
        return faults
    return list(_cells(found)) or list(_values(found))


def _sweep(found: Mapping[str, Any], typed: Collection[str]) -> Iterator[str]:
    taken = taken_keys(found, typed)
    for key, values in axes(found.get("sweep", {})).items():
        where = f"sweep.{key}"
        if not values:
            yield f"{where}: it is a list of the values to try, [1, 5, 8]"
            continue
        for at, word in enumerate(values):
            yield from value_faults(found, key, word, f"{where}[{at}]", "[sweep]")
            if word is not None and word in values[:at]:
                yield f"{where}: {word} is there twice"
        if key in taken:
            yield f"{where}: {key} is set by {taken[key]} too"


def _targets(found: Mapping[str, Any]) -> Iterator[str]:
    names = found.get("targets", ())
    for at, name in enumerate(names):
        where = f"targets[{at}]"
        try:
            named_target(name)
        except UsageError as error:
            yield told(where, error)
        if name in names[:at]:
            yield f"{where}: {name} is there twice"


def _scored(found: Mapping[str, Any]) -> Iterator[str]:
    """Faults of what is counted, and how deep."""
    limit, cutoffs = found.get("limit", math.inf), found.get("cutoffs", ())
    for at, k in enumerate(cutoffs):
        if k > limit:
            yield f"cutoffs[{at}]: no list reaches {k}; `limit` is {limit}"
        if at and k <= cutoffs[at - 1]:
            yield f"cutoffs[{at}]: they ascend, and {k} is not above {cutoffs[at - 1]}"
    if cutoffs:
        yield from _metric(found.get("metric"), cutoffs)
    units = axes(found.get("sweep", {})).get("granularity") or [found.get("granularity")]
    if "session" in units and found.get("level", "session") != "session":
        yield 'level: a run by session has no turns; write `level = "session"`'


def _metric(asked: str | None, cutoffs: Sequence[int]) -> Iterator[str]:
    try:
        headline_metric(asked, cutoffs)
    except UsageError as error:
        depths = ", ".join(map(str, cutoffs))
        yield f"metric: {error.what}; it is one of {', '.join(MEASURED)}, @ one of {depths}"


def _cells(found: Mapping[str, Any]) -> Iterator[str]:
    number, names = size(found["sweep"]), found.get("names")
    if number < 2:  # noqa: PLR2004 - a choice is between two
        yield "sweep: there is one cell, and nothing to choose from"
    elif number > MOST_CELLS:
        yield f"sweep: it has {number} cells, and at most {MOST_CELLS} are measured"
    elif names is not None and len(names) != number:
        yield f"names: there are {len(names)} for {number} cells"
    else:
        folders = names or list(map(name_of, combinations(found["sweep"])))
        for at, name in enumerate(folders):
            yield from _folder(name, folders[:at], f"names[{at}]" if names else f"cell {name}")


def _folder(name: str, before: Collection[str], where: str) -> Iterator[str]:
    if name in REPORTS:
        yield f"{where}: {name} is the name of a file that the sweep writes"
    # Not every file system tells `A` from `a`.
    if name.casefold() in {other.casefold() for other in before}:
        yield f"{where}: {name} is there twice"
    try:
        check_stem(name)
    except UsageError as error:
        yield f"{where}: {error.what.replace('the stem', 'the name of its folder')}; set `names`"


def _values(found: Mapping[str, Any]) -> Iterator[str]:
    """Values that a built-in memory does not take, with the first cell that has each."""
    fixed = {key: word for key, word in words(found.get("settings", {})).items() if word}
    names = found.get("names")
    yield from cell_faults(
        found,
        (
            (name_of(values) if names is None else names[at], fixed | values)
            for at, values in enumerate(combinations(found["sweep"]))
        ),
    )
