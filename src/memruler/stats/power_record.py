"""Records of power: what was simulated, and what came of it."""

import msgspec

from memruler.stats.power_pilot import Planting
from memruler.stats.power_world import IntervalPath

__all__ = ["Needed", "OneQuery", "Power", "SmallestEffect"]


class OneQuery(msgspec.Struct, frozen=True, kw_only=True, tag="one-query", tag_field="basis"):
    """The smallest change of a deterministic ruler: a fact, not an estimate.

    Attributes:
        effect: `1 / counted`: one query of a metric of zeros and ones.
        counted: Queries that the mean is over.
    """

    effect: float
    counted: int


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """The chance that an experiment shows an effect that is there.

    Attributes:
        effect: True mean difference.
        power: Share of the simulated experiments whose lower end is above zero.
        error: Standard error of `power` from the finite number of simulations.
        false_alarms: The same share where there is no effect at all; 0.025 is nominal, and few
            clusters have more.
        clusters, items: Size of one experiment; `items` is rounded where clusters differ.
        repeats: Draws of each item.
        planting: See `Planting`.
        interval: See `IntervalPath`.
    """

    effect: float
    power: float
    error: float
    false_alarms: float
    clusters: int
    items: int
    repeats: int
    planting: Planting
    interval: IntervalPath


class SmallestEffect(msgspec.Struct, frozen=True, kw_only=True, tag="simulated", tag_field="basis"):
    """The smallest true effect that is seen with the wanted power.

    Attributes:
        effect: It.
        error: Standard error of `effect` from the finite number of simulations.
        false_alarms: See `Power`.
        wanted: Power asked for.
        clusters, items, repeats: Size of the experiment.
        planting: See `Planting`.
        interval: See `IntervalPath`.
        simulations, seed: Of the simulation.
        warnings: What a reader must know, one sentence each.
    """

    effect: float
    error: float
    false_alarms: float
    wanted: float
    clusters: int
    items: int
    repeats: int
    planting: Planting
    interval: IntervalPath
    simulations: int
    seed: int
    warnings: tuple[str, ...]


class Needed(msgspec.Struct, frozen=True, kw_only=True, tag="needed", tag_field="basis"):
    """How much a wanted effect needs.

    Attributes:
        at: The smallest experiment with the wanted power, as near as was searched.
        wanted: Power asked for.
        per_cluster: Mean items of a cluster in the pilot.
        simulations, seed: Of the simulation.
        warnings: What a reader must know, one sentence each.
    """

    at: Power
    wanted: float
    per_cluster: float
    simulations: int
    seed: int
    warnings: tuple[str, ...]
