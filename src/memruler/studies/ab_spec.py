"""What an A/B run is told to do: the record that its SPEC.toml is read into."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memruler.studies.spec_base import CorpusPart, Count, StudySpec, Text

__all__ = ["SIDES", "AbSide", "AbSpec", "Side", "study_of"]

Side = Literal["a", "b"]

SIDES: tuple[Side, Side] = ("a", "b")
"""Names of the two sides, and of their run folders."""


class AbSide(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the two configurations.

    Attributes:
        system: `builtin:...`, a plug-in's name, or a file relative to the spec.
        settings: Settings of the system, and `text.*`.
        name: What to call it; the system without it.
    """

    system: Text
    settings: dict[str, Any] = {}
    name: Text | None = None


class AbSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A SPEC.toml of `memruler ab`.

    Attributes:
        out: Folder of the two run folders, relative to the spec.
        corpus: What both are asked.
        timeline: What time items carry; `literal` would give each side another time.
        granularity: What is written as one unit.
        forms: What is stored: `turns`; `observations`, `summaries` that the data set derived.
        limit: Hits asked for.
        cutoffs: Depths.
        metric: What decides, such as `ndcg@10`; `recall_all@5`, or the deepest depth, without it.
        shared: Take means over the queries that count on both sides, where those that count differ.
        seed: Of the resampling, where a difference needs an interval.
        a: The baseline.
        b: The candidate.
    """

    out: Text
    corpus: CorpusPart
    timeline: Literal["anchored", "now"] = "anchored"
    granularity: Literal["turn", "session"] = "turn"
    forms: Text = "turns"
    limit: Count = 20
    cutoffs: Annotated[tuple[Count, ...], Meta(min_length=1)] = (1, 3, 5, 10, 20)
    metric: Text | None = None
    shared: bool = False
    seed: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 7
    a: AbSide
    b: AbSide


def study_of(spec: AbSpec, side: Side) -> StudySpec:
    """One side as a study of its own.

    Args:
        spec: A checked one.
        side: Which one.
    """
    own: AbSide = getattr(spec, side)
    return StudySpec(
        out=spec.out,
        corpus=spec.corpus,
        system=own.system,
        timeline=spec.timeline,
        granularity=spec.granularity,
        forms=spec.forms,
        limit=spec.limit,
        settings=own.settings,
    )
