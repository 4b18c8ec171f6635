"""What is wrong with the spec of an ablation beyond the types of its fields."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from memruler.errors import UsageError
from memruler.metrics.names import METRICS, MetricName
from memruler.store.folder import check_stem
from memruler.studies.ablation_cells import design_of, folder_name, in_force
from memruler.studies.ablation_spec import ALL_OFF, Factor
from memruler.studies.spec_cells import words
from memruler.studies.spec_check import base_faults, cell_faults, taken_keys, told, value_faults

__all__ = ["check"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,15}")


def check(found: Mapping[str, Any], typed: Collection[str]) -> list[str]:
    """Every fault of a spec whose fields have been read; of the whole, once its parts are right.

    Args:
        found: The fields that could be read, and the defaults of those that are not written.
        typed: Names of the fields that are.
    """
    faults = [*base_faults(found), *_factors(found, typed), *_metrics(found)]
    if faults or "factors" not in found:
        return faults
    return list(_design(found)) or list(_values(found))


def _factors(found: Mapping[str, Any], typed: Collection[str]) -> Iterator[str]:
    factors: Mapping[str, Factor] = found.get("factors", {})
    taken = taken_keys(found, typed)
    for name, factor in factors.items():
        if not _NAME.fullmatch(name) or name == ALL_OFF:
            yield (
                f"factors.{name}: a name has 1 to 16 of a-z, 0-9, `-` and `_`, and is not {ALL_OFF}"
            )
        off, on = words(factor.off), words(factor.on)
        for side, table in (("off", off), ("on", on)):
            for key, word in table.items():
                where = f"factors.{name}.{side}.{key}"
                yield from value_faults(found, key, word, where, "[factors]")
        for key in dict.fromkeys((*off, *on)):
            if key in taken:
                yield f"factors.{name}: {key} is set by {taken[key]} too"
            if off.get(key) == on.get(key):
                yield f"factors.{name}: {key} is the same off and on; write it into [settings]"
        taken |= dict.fromkeys((*off, *on), f"factors.{name}")
    try:
        check_stem(folder_name(tuple(factors)))
    except UsageError:
        yield "factors: their names are too long together for a folder; shorten them"


def _metrics(found: Mapping[str, Any]) -> Iterator[str]:
    factors: Mapping[str, Factor] = found.get("factors", {})
    by_session = found.get("granularity") == "session" or any(
        "session" in (f.off.get("granularity"), f.on.get("granularity")) for f in factors.values()
    )
    outcomes, limit = found.get("metrics", ()), found.get("limit", math.inf)
    for at, outcome in enumerate(outcomes):
        where = f"metrics[{at}]"
        if outcome is None:
            continue  # it is told already
        try:
            name = MetricName.parse(outcome.metric)
        except UsageError as error:
            yield told(f"{where}.metric", error)
            continue
        if METRICS[name.metric].kind != "per-query":
            yield f"{where}.metric: a single query has no {name.metric}, so no query can move"
        if name.k > limit:
            yield f"{where}.metric: no list reaches {name.k}; `limit` is {limit}"
        if by_session and outcome.level == "turn":
            yield f"{where}.level: a run by session has no turns"
        if outcome in outcomes[:at]:
            yield f"{where}: it is there twice"


def _design(found: Mapping[str, Any]) -> Iterator[str]:
    generators, kind = found.get("generators", ()), found.get("design")
    if kind == "fraction" and not generators:
        yield "generators: a fraction needs at least one, such as `d = a * b * c`"
    elif kind == "full" and generators:
        yield 'generators: a whole design has none; write `design = "fraction"`'
    else:
        try:
            design_of(tuple(found["factors"]), generators)
        except UsageError as error:
            yield told("generators" if generators else "factors", error)


def _values(found: Mapping[str, Any]) -> Iterator[str]:
    """Values that the built-in memory does not take, with the first cell that has each."""
    design = design_of(tuple(found["factors"]), found.get("generators", ()))
    yield from cell_faults(
        found,
        (
            (folder_name(on), in_force(found.get("settings", {}), found["factors"], on))
            for on in design.cells
        ),
    )
