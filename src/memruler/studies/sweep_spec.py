"""What a sweep is told to do: the record that its SPEC.toml is read into."""

from typing import Annotated, Any

from msgspec import Meta

from memruler.model.credit import CreditLevel, CreditRule
from memruler.studies.spec_base import Count, StudySpec, Text

__all__ = ["MOST_CELLS", "REPORTS", "SweepSpec"]

MOST_CELLS = 64
"""Every cell is a run of its own, and all their scores are held against each other."""

REPORTS = ("sweep.md", "targets.md", "sweep.json")
"""What stands beside the run folders."""


class SweepSpec(StudySpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A SPEC.toml of `memruler sweep`; see `StudySpec` for the fields that are not named here.

    Attributes:
        limit: Hits asked for.
        sweep: Setting to the list of its values; the cells are all combinations, the last setting
            changing fastest.
        names: What to call the cells, one a cell in their order; without it their values.
        targets: Which stored forms earn credit, two or more, as in `memruler score --target`.
        level: What an anchor is.
        credit: How credit is counted.
        cutoffs: Depths.
        metric: What recommends a cell, at one of the depths; nDCG at the deepest without it.
    """

    limit: Count = 60
    sweep: Annotated[dict[str, Any], Meta(min_length=1)]
    names: Annotated[tuple[Text, ...], Meta(min_length=1)] | None = None
    targets: Annotated[tuple[Text, ...], Meta(min_length=2)] = ("raw", "source", "canonical")
    level: CreditLevel = "turn"
    credit: CreditRule = "anchor"
    cutoffs: Annotated[tuple[Count, ...], Meta(min_length=1)] = (20, 40, 60)
    metric: Text | None = None
