"""What an ablation is told to do: the records that a SPEC.toml is read into."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.errors import UsageError
from memruler.model.summary import Level

__all__ = [
    "ALL_OFF",
    "RUN_KEYS",
    "AblationSpec",
    "CorpusPart",
    "Factor",
    "Outcome",
    "SpecFaults",
]

ALL_OFF = "all-off"
"""Run folder of the cell in which no factor is on."""

RUN_KEYS = ("timeline", "granularity")
"""Settings of the run itself that a factor may set, beside `text.*` and those of the system."""

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Text = Annotated[str, Meta(min_length=1)]


class CorpusPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The questions that every cell is asked.

    Attributes:
        name: A corpus that `memruler list` shows.
        path: Its file, relative to the spec; without it the bundled or cached one.
        population: Named set of queries; the corpus's default without it.
        instances: Only the first so many instances.
        queries: Only the first so many queries of each.
    """

    name: Text
    path: Text | None = None
    population: Text | None = None
    instances: Count | None = None
    queries: Count | None = None


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


class AblationSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A SPEC.toml.

    Attributes:
        out: Folder of the run folders, one a cell, relative to the spec.
        corpus: What is asked.
        system: `builtin:...`, a plug-in's name, or `file.py:Class`, the file relative to the spec.
        timeline: What time items carry; `literal` would give each cell another time.
        granularity: What is written as one unit.
        limit: Hits asked for.
        settings: What is the same in every cell: settings of the system, and `text.*`.
        factors: Name to factor, two or more.
        metrics: What is attributed; the first one decides.
        members: Which queries a mean is over where the cells do not count the same ones: `same`
            refuses, `shared` takes those that count in every cell.
        design: Every cell, or a fraction that `generators` tell.
        generators: `d = a * b * c`: factor d is on where the product of the signs of the others
            is +, each being + where it is on and - where it is off.
    """

    out: Text
    corpus: CorpusPart
    system: Text
    timeline: Literal["anchored", "now"] = "anchored"
    granularity: Literal["turn", "session"] = "turn"
    limit: Count = 20
    settings: dict[str, Any] = {}
    factors: Annotated[dict[str, Factor], Meta(min_length=2)]
    metrics: Annotated[tuple[Outcome, ...], Meta(min_length=1)]
    members: Literal["same", "shared"] = "same"
    design: Literal["full", "fraction"] = "full"
    generators: tuple[Text, ...] = ()


class SpecFaults(UsageError):  # noqa: N818 - it is what it holds
    """A spec that cannot be run, with everything that is wrong with it.

    Args:
        where: The file.
        faults: The field and what is wrong with it, one line each; at least one.
    """

    def __init__(self, where: object, faults: tuple[str, ...]) -> None:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"{faults[0]}{more}", where=where, hint="see docs/ablation.md")
        self.faults = faults
