"""What a pilot tells of the experiments to come."""

from typing import Literal

import msgspec

from memruler.stats.power_record import Needed, OneQuery, Power, SmallestEffect
from memruler.stats.power_repeats import RepeatSplit

__all__ = ["SCHEMA_VERSION", "PowerStudy"]

SCHEMA_VERSION = 1
"""Version of `PowerStudy`; raised with every change that an old reader would misread."""


class PowerStudy(msgspec.Struct, frozen=True, kw_only=True):
    """How small an effect can be seen, and how much a wanted one needs.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        ruler: `exact`: both sides were measured to be deterministic, and only their own queries
            are of interest: one query is a fact. `sample`: items are a sample of those that
            could have been, or their scores are draws.
        base, candidate: Names of the two sides of the pilot.
        metric: What was scored.
        cluster: What items are grouped by; None where each stands alone.
        items, clusters: Of the pilot.
        mean: Of its differences, candidate minus baseline.
        effect: The wanted effect; None if none was named.
        smallest: The smallest effect with the pilot's own size.
        needed: The size that `effect` needs; None without one.
        curve: Power to show `effect` by size; empty without one, and for the exact ruler.
        repeats: The variance told apart; None where the pilot has no repeats.
        no_repeats: Why `repeats` is None.
        by_repeats: Sizes that `effect` needs with other numbers of repeats.
        warnings: What a reader must know, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    ruler: Literal["exact", "sample"]
    base: str
    candidate: str
    metric: str
    cluster: str | None
    items: int
    clusters: int
    mean: float
    effect: float | None
    smallest: OneQuery | SmallestEffect
    needed: OneQuery | Needed | None
    curve: tuple[Power, ...]
    repeats: RepeatSplit | None
    no_repeats: str | None
    by_repeats: tuple[Needed, ...]
    warnings: tuple[str, ...]
