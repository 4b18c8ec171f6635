"""What an ablation found: how much of a change each factor accounts for."""

from typing import Any, Literal

import msgspec

from memruler.model.summary import Level, PopulationCounts
from memruler.studies.ablation_spec import AblationSpec

__all__ = [
    "SCHEMA_VERSION",
    "Ablation",
    "Attribution",
    "CellResult",
    "ContrastResult",
    "FactorResult",
    "Interaction",
    "Move",
]

SCHEMA_VERSION = 1
"""Version of `Ablation`; raised with every change that an old reader would misread."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """What one switch did between two cells, over the same queries.

    Attributes:
        delta: Difference of the two means.
        wins, losses: Queries with a higher and with a lower value after it.
    """

    delta: float
    wins: int
    losses: int


class FactorResult(msgspec.Struct, frozen=True, kw_only=True):
    """One factor.

    Attributes:
        name: As in the spec.
        share: Its Shapley share of the total; the shares of all factors add up to the total. None
            for a fraction of a design.
        main: Its main effect: the change that it makes on average over all settings of the
            others. For a fraction, the sum with `aliases`.
        alone: Switched on when all others are off; None where a fraction lacks one of the cells.
        last: Switched on when all others are on; likewise.
        moved: Queries that it moves up or down beside at least one setting of the others; 0 for a
            factor that never matters. Over the pairs of cells that a fraction has; None where it
            has none.
        aliases: What the main effect cannot be told from, products of factors.
        floor: The share (the main effect for a fraction) over all measured queries, where one
            without a value counts as a miss. None unless the cells count different queries.
    """

    name: str
    share: float | None
    main: float
    alone: Move | None
    last: Move | None
    moved: int | None
    aliases: tuple[str, ...]
    floor: float | None


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """How much more two factors change together than one by one.

    Attributes:
        factors: The two.
        index: Their Shapley interaction index.
    """

    factors: tuple[str, str]
    index: float


class ContrastResult(msgspec.Struct, frozen=True, kw_only=True):
    """An effect of a fraction, which is one sum with its aliases.

    Attributes:
        factors: Of the effect with the fewest factors.
        effect: The sum.
        aliases: The other effects in it, products of factors.
    """

    factors: tuple[str, ...]
    effect: float
    aliases: tuple[str, ...]


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """One mean, attributed.

    Attributes:
        level, metric, k: Which mean.
        counted: Queries that every mean is over: those that count in every cell.
        of: Measurable queries.
        cell_counted: Queries that count in each cell, in the order of the cells.
        values: The mean of each cell over the `counted` queries, in that order.
        total: From all off to all on; None where a fraction lacks one of the two.
        floor: The total over all measured queries, one without a value counted as a miss. None
            unless the cells count different queries.
        moved: Queries whose value is not the same in all cells.
        factors: In the order of the spec.
        interactions: Of each pair of factors; empty for a fraction.
        contrasts: Every effect of two or more factors that a fraction tells; else empty.
    """

    level: Level
    metric: str
    k: int
    counted: int
    of: int
    cell_counted: tuple[int, ...]
    values: tuple[float, ...]
    total: Move | None
    floor: Move | None
    moved: int
    factors: tuple[FactorResult, ...]
    interactions: tuple[Interaction, ...]
    contrasts: tuple[ContrastResult, ...]


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """One cell.

    Attributes:
        on: The factors that are on.
        folder: Its run folder, below the ablation's.
        embedded: Texts that its run embedded, written and asked together; None where memruler does
            not know the embedder.
        from_cache: Vectors that came from the cache instead.
        stored: Items in its stores at the end.
        lost: Reason to the number of items refused or evicted.
    """

    on: tuple[str, ...]
    folder: str
    embedded: int | None
    from_cache: int | None
    stored: int
    lost: dict[str, int]


class Ablation(msgspec.Struct, frozen=True, kw_only=True):
    """What each factor does to each mean. Every run is deterministic, so nothing has an interval.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        ruler: `exact`: every cell was measured to be deterministic.
        spec: What was asked for.
        cells: In the order of the design.
        resolution: Of a fraction; None for a whole design.
        words: Products of factors that have one sign in every cell of a fraction.
        no_shares: Why there are no Shapley shares; None where there are.
        corpus: The corpus part of the fingerprints.
        population: Who is counted.
        clusters: Instances with at least one measured query.
        attributions: One for each metric of the spec, in its order.
        notes: What a reader must know, one sentence each.
        corpus_notes: Sentences every report must carry.
        degraded: Why the cells must not be trusted; empty when they may be.
    """

    schema_version: int = SCHEMA_VERSION
    ruler: Literal["exact"] = "exact"
    spec: AblationSpec
    cells: tuple[CellResult, ...]
    resolution: int | None
    words: tuple[str, ...]
    no_shares: str | None
    corpus: dict[str, Any]
    population: PopulationCounts
    clusters: int
    attributions: tuple[Attribution, ...]
    notes: tuple[str, ...]
    corpus_notes: tuple[str, ...]
    degraded: tuple[str, ...]
