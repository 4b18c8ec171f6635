"""What a sweep found: which cell wins under each target."""

from typing import Any, Literal

import msgspec

from memruler.compare.sensitivity_record import Sensitivity
from memruler.model.summary import PopulationCounts
from memruler.studies.sweep_spec import SweepSpec

__all__ = ["SCHEMA_VERSION", "Sweep", "SweptCell"]

SCHEMA_VERSION = 1
"""Version of `Sweep`; raised with every change that an old reader would misread."""


class SweptCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell.

    Attributes:
        folder: Its run folder, below the sweep's, and its name in `sensitivity`.
        values: Setting to its value here, as a person types it.
        stored: Items in its stores at the end.
        kinds: Kind to the number of these items; items that were refused or evicted are left out.
        lost: Reason to the number of items refused or evicted.
    """

    folder: str
    values: dict[str, str]
    stored: int
    kinds: dict[str, int]
    lost: dict[str, int]


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """Which cell wins under each target. Every run is deterministic, so nothing has an interval.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        ruler: `exact`: every cell was measured to be deterministic.
        spec: What was asked for.
        cells: In the order of the spec.
        corpus: The corpus part of the fingerprints.
        population: Who is counted.
        clusters: Instances with at least one measured query.
        sensitivity: The cells under every target; its `headline` is what is recommended.
        notes: What a reader must know, one sentence each.
        corpus_notes: Sentences every report must carry.
        degraded: Why the cells must not be trusted; empty when they may be.
    """

    schema_version: int = SCHEMA_VERSION
    ruler: Literal["exact"] = "exact"
    spec: SweepSpec
    cells: tuple[SweptCell, ...]
    corpus: dict[str, Any]
    population: PopulationCounts
    clusters: int
    sensitivity: Sensitivity
    notes: tuple[str, ...]
    corpus_notes: tuple[str, ...]
    degraded: tuple[str, ...]
