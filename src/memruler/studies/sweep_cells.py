"""From the spec of a sweep to its cells: every combination of the values."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from memruler.studies.spec_cells import Cell, plan_of, set_words, words
from memruler.studies.sweep_spec import SweepSpec

__all__ = ["SweepCell", "axes", "cells", "combinations", "name_of", "size"]

_JOINT = "+"


class SweepCell(Cell, frozen=True, kw_only=True):
    """One combination of values.

    Attributes:
        values: Setting to its value in this cell, as a person types it.
    """

    values: dict[str, str]


def axes(table: Mapping[str, Any], prefix: str = "") -> dict[str, list[str | None] | None]:
    """Dotted setting to its values as a person types them.

    None in place of a value is one that is no setting, in place of the list no list.
    """
    found: dict[str, list[str | None] | None] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            found |= axes(value, f"{name}.")
        elif isinstance(value, list):
            found[name] = [words({name: one}).get(name) for one in value]
        else:
            found[name] = None
    return found


def size(table: Mapping[str, Any]) -> int:
    """How many cells a checked table of values has."""
    return math.prod(len(values or ()) for values in axes(table).values())


def combinations(table: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Every combination of a checked table of values; the last setting changes fastest."""
    found = axes(table)
    for values in product(*(own or () for own in found.values())):
        yield {key: word for key, word in zip(found, values, strict=True) if word is not None}


def name_of(values: Mapping[str, str]) -> str:
    """The run folder of a cell without a name of its own: `facts=5+stop_words=true`."""
    return _JOINT.join(f"{key}={word}" for key, word in values.items())


def cells(spec: SweepSpec, folder: Path) -> Iterator[SweepCell]:
    """What is run for each cell.

    Args:
        spec: A checked one.
        folder: Where its file lies; paths in it are relative to that.
    """
    fixed = set_words(spec.settings)
    for at, values in enumerate(combinations(spec.sweep)):
        yield SweepCell(
            values=values,
            folder=name_of(values) if spec.names is None else spec.names[at],
            plan=plan_of(spec, fixed | values, folder),
        )
