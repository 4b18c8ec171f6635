"""From a spec to its cells: which factors are on, and what is run for each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from memruler.replay.plan import PlanSpec
from memruler.stats.factorial import Design, fractional_design, parse_generator
from memruler.studies.ablation_spec import ALL_OFF, RUN_KEYS, AblationSpec, Factor

__all__ = ["AblationCell", "cells", "design_of", "folder_name", "in_force", "words"]

_JOINT = "+"


class AblationCell(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of factors.

    Attributes:
        on: The factors that are on.
        folder: Name of its run folder.
        plan: What is run.
    """

    on: tuple[str, ...]
    folder: str
    plan: PlanSpec


def words(table: Mapping[str, Any], prefix: str = "") -> dict[str, str | None]:
    """Dotted key to its value as a person types it; None for a value that is no setting.

    TOML has no word for nothing: `"none"` is read as that, as on the command line.
    """
    found: dict[str, str | None] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        match value:
            case dict():
                found |= words(value, f"{name}.") if value else {name: None}
            case bool():
                found[name] = "true" if value else "false"
            case float():
                found[name] = repr(value) if math.isfinite(value) else None
            case int() | str():
                found[name] = str(value)
            case _:
                found[name] = None
    return found


def design_of(names: Sequence[str], generators: Sequence[str]) -> Design:
    """The design of a spec; whole where there are no generators.

    Raises:
        UsageError: See `memruler.stats.factorial.fractional_design`.
    """
    return fractional_design(names, [parse_generator(text) for text in generators])


def folder_name(on: Sequence[str]) -> str:
    """The run folder of a cell: the factors that are on in it."""
    return _JOINT.join(on) or ALL_OFF


def in_force(
    settings: Mapping[str, Any], factors: Mapping[str, Factor], on: Sequence[str]
) -> dict[str, str]:
    """Every setting of one cell, fixed ones first, as a person types it."""
    sides = (factor.on if name in on else factor.off for name, factor in factors.items())
    found = words(settings)
    for side in sides:
        found |= words(side)
    return {key: value for key, value in found.items() if value is not None}


def cells(spec: AblationSpec, design: Design, folder: Path) -> Iterator[AblationCell]:
    """What is run for each cell of the design.

    Args:
        spec: A checked one.
        design: Its design.
        folder: Where its file lies; paths in it are relative to that.
    """
    corpus = spec.corpus
    system = spec.system if ".py:" not in spec.system else str(folder / spec.system)
    for on in design.cells:
        given = in_force(spec.settings, spec.factors, on)
        run = {key: given.pop(key) for key in RUN_KEYS if key in given}
        fixed = {"timeline": spec.timeline, "granularity": spec.granularity}
        settings = {
            **fixed,
            **run,
            "limit": spec.limit,
            "instances": corpus.instances,
            "queries": corpus.queries,
        }
        yield AblationCell(
            on=on,
            folder=folder_name(on),
            plan=PlanSpec(
                corpus=corpus.name,
                path=None if corpus.path is None else str(folder / corpus.path),
                system=system,
                assignments=tuple(f"{key}={value}" for key, value in given.items()),
                population=corpus.population,
                settings=settings,
                typed=("system", *(name for name, value in settings.items() if value is not None)),
            ),
        )
