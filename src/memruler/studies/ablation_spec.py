"""What an ablation is told to do: the records that a SPEC.toml is read into."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.model.summary import Level
from memruler.studies.spec_base import StudySpec, Text

__all__ = ["ALL_OFF", "AblationSpec", "Factor", "Outcome"]

ALL_OFF = "all-off"
"""Run folder of the cell in which no factor is on."""


class Factor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is switched off and on: one or more settings together.

    Attributes:
        off: Setting to its value in the cells where the factor is off.
        on: The same where it is on. A setting that stands on one side only is left at its default
            on the other.
    """

    off: Annotated[dict[str, Any], Meta(min_length=1)]
    on: Annotated[dict[str, Any], Meta(min_length=1)]


class Outcome(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mean that is attributed to the factors.

    Attributes:
        level: What a rank is a rank of.
        metric: Name with its cut-off, `recall_all@5`.
    """

    level: Level
    metric: Text


class AblationSpec(StudySpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A SPEC.toml of `memruler ablate`; see `StudySpec` for the fields that are not named here.

    Attributes:
        factors: Name to factor, two or more.
        metrics: What is attributed; the first one decides.
        members: Which queries a mean is over where the cells do not count the same ones: `same`
            refuses, `shared` takes those that count in every cell.
        design: Every cell, or a fraction that `generators` tell.
        generators: `d = a * b * c`: factor d is on where the product of the signs of the others
            is +, each being + where it is on and - where it is off.
    """

    factors: Annotated[dict[str, Factor], Meta(min_length=2)]
    metrics: Annotated[tuple[Outcome, ...], Meta(min_length=1)]
    members: Literal["same", "shared"] = "same"
    design: Literal["full", "fraction"] = "full"
    generators: tuple[Text, ...] = ()
