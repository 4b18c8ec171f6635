"""How small an effect can be seen, and how much a wanted effect needs: simulated from a pilot.

An experiment counts as a success where the lower end of its 95 % interval is above zero, the rule
by which a gain counts everywhere in memruler. Power is the share of experiments that succeed, drawn
from the pilot's clusters with the effect planted (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 25). What the pilot itself could not show is not in it: a pilot of few
items gives a power of few items' worth, and its own chance error comes on top of the stated one.
"""

from collections.abc import Callable, Sequence
from math import ceil, sqrt
from statistics import NormalDist
from typing import NamedTuple

from numpy.typing import ArrayLike

from memruler.errors import Refusal, UsageError
from memruler.stats.interval import FEW_CLUSTERS
from memruler.stats.power_pilot import Clusters, Pilot, read_pilot
from memruler.stats.power_record import Needed, OneQuery, Power, SmallestEffect
from memruler.stats.power_world import draw, interval_path, plant, won

__all__ = ["needed", "one_query", "power_curve", "smallest_effect"]

_NORMAL = 1.959963984540054
_FEWEST, _MOST_CLUSTERS = 2, 10_000_000
_HALVINGS = 14
_NEAR = 0.01
"""How near the number of clusters is found, as a share; to the very cluster below 100."""

_TESTED_CLUSTERS = 12


class _Simulation(NamedTuple):
    pilot: Pilot
    number: int
    seed: int

    def power(self, effect: float, clusters: int) -> float:
        margins = draw(plant(self.pilot, effect), clusters, self.number, self.seed)
        return won(margins, clusters, interval_path(self.pilot, clusters))

    def at(self, effect: float, clusters: int) -> Power:
        power = self.power(effect, clusters)
        return Power(
            effect=effect,
            power=power,
            error=sqrt(power * (1 - power) / self.number),
            false_alarms=self.power(0.0, clusters),
            clusters=clusters,
            items=round(clusters * self.pilot.items / len(self.pilot.counts)),
            repeats=self.pilot.repeats,
            planting=self.pilot.planting,
            interval=interval_path(self.pilot, clusters),
        )


def one_query(counted: int) -> OneQuery:
    """The smallest change that a deterministic ruler can show.

    Args:
        counted: Queries that the mean is over; at least 1.

    Raises:
        Refusal: No query counts.
    """
    if counted < 1:
        raise Refusal(["no query counts, so no effect can be seen"])
    return OneQuery(effect=1 / counted, counted=counted)


def power_curve(
    deltas: ArrayLike,
    clusters: Clusters | None = None,
    *,
    effect: float,
    sizes: Sequence[int],
    repeats: int | None = None,
    simulations: int = 2000,
    seed: int = 7,
) -> tuple[Power, ...]:
    """The power to show one effect with experiments of several sizes.

    Args:
        deltas: See `memruler.stats.power_pilot.read_pilot`.
        clusters: See `read_pilot`.
        effect: True mean difference, above 0.
        sizes: Clusters of each experiment, at least 2; may be more than the pilot has.
        repeats: See `read_pilot`.
        simulations: Experiments a size, from 100 to 1,000,000.
        seed: Not negative.

    Raises:
        UsageError: A number is out of range.
        Refusal: See `read_pilot`.
    """
    simulation = _simulation(deltas, clusters, repeats, simulations, seed)
    _check_effect(effect)
    for size in sizes:
        _check_size(size)
    return tuple(simulation.at(effect, size) for size in sizes)


def smallest_effect(
    deltas: ArrayLike,
    clusters: Clusters | None = None,
    *,
    power: float = 0.8,
    size: int | None = None,
    repeats: int | None = None,
    simulations: int = 2000,
    seed: int = 7,
) -> SmallestEffect:
    """The smallest true effect that an experiment shows with the wanted power.

    Args:
        deltas: See `memruler.stats.power_pilot.read_pilot`.
        clusters: See `read_pilot`.
        power: Between 0.05 and 0.99.
        size: Clusters of the experiment; None for as many as the pilot has.
        repeats: See `read_pilot`.
        simulations: Experiments an effect, from 100 to 1,000,000.
        seed: Not negative.

    Raises:
        UsageError: A number is out of range.
        Refusal: See `read_pilot`.

    Example:
        >>> found = smallest_effect([1] * 6 + [0] * 52 + [-1] * 2)
        >>> found.planting, found.interval, 0.15 < found.effect < 0.17
        ('flips', 'exact', True)
    """
    simulation = _simulation(deltas, clusters, repeats, simulations, seed)
    _check_power(power)
    pilot = simulation.pilot
    number = len(pilot.counts) if size is None else size
    _check_size(number)
    off = sqrt(power * (1 - power) / simulations)
    shares = (power - off, power, min(power + off, 1.0))
    least, effect, most = _effects(simulation, number, shares)
    return SmallestEffect(
        effect=effect,
        error=(most - least) / 2,
        false_alarms=simulation.power(0.0, number),
        wanted=power,
        clusters=number,
        items=round(number * pilot.items / len(pilot.counts)),
        repeats=pilot.repeats,
        planting=pilot.planting,
        interval=interval_path(pilot, number),
        simulations=simulations,
        seed=seed,
        warnings=_warnings(pilot, number),
    )


def needed(
    effect: float,
    deltas: ArrayLike,
    clusters: Clusters | None = None,
    *,
    power: float = 0.8,
    repeats: int | None = None,
    simulations: int = 2000,
    seed: int = 7,
) -> Needed:
    """How many clusters, and so items, it takes to show an effect with the wanted power.

    Args:
        effect: True mean difference, above 0.
        deltas: See `memruler.stats.power_pilot.read_pilot`.
        clusters: See `read_pilot`.
        power: Between 0.05 and 0.99.
        repeats: See `read_pilot`.
        simulations: Experiments a size, from 100 to 1,000,000.
        seed: Not negative.

    Raises:
        UsageError: A number is out of range.
        Refusal: See `read_pilot`; or more than ten million clusters would be needed.
    """
    simulation = _simulation(deltas, clusters, repeats, simulations, seed)
    _check_effect(effect)
    _check_power(power)
    pilot = simulation.pilot
    number = _least(
        lambda size: simulation.power(effect, size) >= power, _guess(pilot, effect, power)
    )
    if number is None:
        raise Refusal(
            [f"an effect of {effect:g} would need more than {_MOST_CLUSTERS:,} clusters"],
            hint="ask for a larger effect",
        )
    return Needed(
        at=simulation.at(effect, number),
        wanted=power,
        per_cluster=pilot.items / len(pilot.counts),
        simulations=simulations,
        seed=seed,
        warnings=_warnings(pilot, number),
    )


def _simulation(
    deltas: ArrayLike, clusters: Clusters | None, repeats: int | None, number: int, seed: int
) -> _Simulation:
    if not 100 <= number <= 1_000_000:  # noqa: PLR2004 - documented
        raise UsageError(f"{number} simulations", hint="from 100 to 1,000,000")
    if seed < 0:
        raise UsageError(f"the seed {seed} is negative", hint="any whole number from 0")
    return _Simulation(read_pilot(deltas, clusters, repeats=repeats), number, seed)


def _check_size(clusters: int) -> None:
    if not _FEWEST <= clusters <= _MOST_CLUSTERS:
        raise UsageError(
            f"an experiment with {clusters} clusters",
            hint=f"from {_FEWEST}, the least that can be resampled, to {_MOST_CLUSTERS:,}",
        )


def _check_effect(effect: float) -> None:
    if not 0 < effect < float("inf"):
        raise UsageError(f"an effect of {effect:g}", hint="a number above 0; 2 pp is 0.02")


def _check_power(power: float) -> None:
    if not 0.05 <= power <= 0.99:  # noqa: PLR2004 - documented
        raise UsageError(f"a power of {power:g}", hint="from 0.05 to 0.99; 0.8 is usual")


def _effects(simulation: _Simulation, clusters: int, shares: Sequence[float]) -> list[float]:
    """The effects at which such shares of the experiments succeed."""
    pilot = simulation.pilot
    if pilot.planting == "flips":
        return [_flips_for(simulation, clusters, share) for share in shares]
    # A shift moves every mean and no error: one simulation serves every effect.
    short = draw(plant(pilot, 0.0), clusters, simulation.number, simulation.seed).short()
    short.sort()
    return [float(short[min(ceil(share * len(short)), len(short)) - 1]) for share in shares]


def _flips_for(simulation: _Simulation, clusters: int, share: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if simulation.power(middle, clusters) >= share:
            high = middle
        else:
            low = middle
    return high


def _guess(pilot: Pilot, effect: float, power: float) -> int:
    """Clusters by the normal formula `variance * ((z_0.975 + z_power) / effect)^2`."""
    off = (_NORMAL + NormalDist().inv_cdf(power)) / effect
    return max(2, min(ceil(plant(pilot, effect).variance() * max(off, 0) ** 2), _MOST_CLUSTERS))


def _least(enough: Callable[[int], bool], guess: int) -> int | None:
    """The least number from 2 that is enough, searched outwards from a guess; None if too many."""
    if enough(guess):
        low, high = guess // 2, guess
        while low >= _FEWEST and enough(low):
            low, high = low // 2, low
    else:
        low, high = guess, min(2 * guess, _MOST_CLUSTERS)
        while not enough(high):
            if high >= _MOST_CLUSTERS:
                return None
            low, high = high, min(2 * high, _MOST_CLUSTERS)
    low = max(low, _FEWEST - 1)
    while high - low > max(1, round(_NEAR * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _warnings(pilot: Pilot, clusters: int) -> tuple[str, ...]:
    told = list(pilot.warnings)
    if clusters > len(pilot.counts):
        told.append(
            f"{clusters} clusters are drawn from the {len(pilot.counts)} of the pilot: what those"
            " do not hold is not in it"
        )
    if clusters < _TESTED_CLUSTERS:
        told.append(
            f"below {_TESTED_CLUSTERS} clusters this power is not tested against the bootstrap "
            "itself, and may be too high by a third"
        )
    if clusters < FEW_CLUSTERS:
        told.append(
            f"with {clusters} clusters the interval is too narrow: some of this power is that of"
            " false alarms, whose share stands beside it"
        )
    return tuple(told)
