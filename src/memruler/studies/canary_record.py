"""What a canary found: every difference that was put there on purpose, and whether it was seen."""

from typing import Any, Literal

import msgspec

from memruler.model.summary import Level
from memruler.stats.power_record import OneQuery, SmallestEffect

__all__ = ["SCHEMA_VERSION", "Canary", "Check", "LevelChecks", "Planted", "Step"]

SCHEMA_VERSION = 1
"""Version of `Canary`; raised with every change that an old reader would misread."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One control.

    Attributes:
        name: Its name.
        seen: Whether the ruler said what it must; None where it could not be asked.
        expected: What it must say.
        found: What it said, or why it could not be asked.
    """

    name: str
    seen: bool | None
    expected: str
    found: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A saved run made worse in some queries, and scored again.

    Attributes:
        queries: That lost every gold hit.
        expected: `-queries / counted`.
        found: The difference that was measured; None where other queries came to count.
        verdict: What a comparison says of it; None likewise. It must be `worse`.
    """

    queries: int
    expected: float
    found: float | None
    verdict: str | None = None


class LevelChecks(msgspec.Struct, frozen=True, kw_only=True):
    """One level of the run.

    Attributes:
        level: What a rank is a rank of.
        counted, of: Queries that the mean is over, and measurable ones.
        mean: Of the run as it is.
        degradable: Queries with something to lose: a value of 1.
        steps: From one query up to all that can be made worse.
        smallest: The smallest effect that the ruler can show here; None where no query counts.
    """

    level: Level
    counted: int
    of: int
    mean: float
    degradable: int
    steps: tuple[Step, ...]
    smallest: OneQuery | None


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """An arm whose store lost gold on purpose, measured and compared like any other.

    Attributes:
        queries: That lost every gold turn; each had the value 1 before.
        turns: Gold turns that never reached the store.
        zero: Of `queries`, those with the value 0 afterwards.
        short: Of `queries`, those whose list became too short to have a value.
        others: Other queries that changed: they shared a turn, or moved up where one is gone.
        delta: The difference that `compare` reports at the turn level.
        verdict: What `compare` says.
    """

    queries: int
    turns: int
    zero: int
    short: int
    others: int
    delta: float
    verdict: str


class Canary(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a ruler sees differences that are known to exist.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        outcome: `sees` if no control failed, else `blind`.
        corpus, system: Of the run, as in its fingerprint.
        population: Its name.
        metric: With its cut-off.
        seed: Of the choice of queries.
        checks: Every control, in order.
        levels: The saved run made worse, level by level.
        planted: None where no arm was planted; the checks say why.
        noisy: The smallest effect if labels flipped by chance; None unless that was assumed.
        noise: The share of labels assumed to flip.
        degraded: Why the run must not be trusted; empty when it may be.
        corpus_notes: Sentences every report must carry.
        warnings: What a reader must know, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    outcome: Literal["sees", "blind"]
    corpus: dict[str, Any]
    system: dict[str, Any]
    population: str
    metric: str
    seed: int
    checks: tuple[Check, ...]
    levels: tuple[LevelChecks, ...]
    planted: Planted | None
    noisy: SmallestEffect | None
    noise: float | None
    degraded: tuple[str, ...]
    corpus_notes: tuple[str, ...]
    warnings: tuple[str, ...]
