"""From a spec to its cells: which factors are on, and what is run for each."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memruler.stats.factorial import Design, fractional_design, parse_generator
from memruler.studies.ablation_spec import ALL_OFF, AblationSpec, Factor
from memruler.studies.spec_cells import Cell, plan_of, words

__all__ = ["AblationCell", "cells", "design_of", "folder_name", "in_force"]

_JOINT = "+"


class AblationCell(Cell, frozen=True, kw_only=True):
    """One combination of factors.

    Attributes:
        on: The factors that are on.
    """

    on: tuple[str, ...]


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
    for on in design.cells:
        given = in_force(spec.settings, spec.factors, on)
        yield AblationCell(on=on, folder=folder_name(on), plan=plan_of(spec, given, folder))
