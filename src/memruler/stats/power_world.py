"""The world that a pilot stands for with a known effect planted, and experiments drawn from it.

A cluster of the world is one of the pilot's, with the effect planted. Since a verdict needs only a
cluster's sum and count, the world is a list of (sum, count) with chances, and an experiment with C
clusters is one draw from a multinomial distribution: its cost does not grow with C.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from memruler.errors import UsageError
from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.power_pilot import Pilot
from memruler.stats.sums import Floats, Ints

__all__ = ["IntervalPath", "Margins", "World", "draw", "interval_path", "plant", "won"]

IntervalPath = Literal["exact", "normal"]
"""`exact`: `paired_bootstrap` decides every experiment. `normal`: its lower end is taken as `mean -
1.96 * standard error`, which tests hold against it."""

_NORMAL = 1.959963984540054
_EXACT_UP_TO = 2000
"""Items up to which the bootstrap itself decides."""
_SURELY_NOT, _SURELY = 1.2, 3.0
"""Means in standard errors beyond which the bootstrap need not be asked: its lower end changes
sign near 1.96."""
_NIL = 1e-12
"""Chance below which an outcome is left out; a million experiments would not meet it."""
_MOST_KINDS = 4096
"""Different clusters that are drawn from; more are grouped, or a large pilot would take minutes."""
_BLOCK = 2**20
"""Counts that are held at once: 8 MB."""


class World(NamedTuple):
    """Everything a cluster can be: sum of its differences, items, and chance; chances fall."""

    sums: Floats
    counts: Floats
    chances: Floats

    def variance(self) -> float:
        """Of the mean difference, times clusters: `E[(sum - mean * count)^2] / E[count]^2`."""
        size = float(self.counts @ self.chances)
        mean = float(self.sums @ self.chances) / size
        return float((self.sums - mean * self.counts) ** 2 @ self.chances) / size**2


class Margins(NamedTuple):
    """Experiments, one entry each: the mean difference and its standard error.

    Attributes:
        totals: Sums of all differences.
        squares: Sums of the squared sums of the clusters.
    """

    means: Floats
    errors: Floats
    totals: Floats
    squares: Floats

    def short(self) -> Floats:
        """By how much each fails to clear zero: negative where the lower end does clear it."""
        return _NORMAL * self.errors - self.means


def plant(pilot: Pilot, effect: float) -> World:
    """The world in which the true mean difference is `effect`.

    By flips, from a pilot whose mean is m: for an effect above m every item becomes a win with
    chance `(effect - m) / (1 - m)`, so that ties and losses turn into wins; for one below m every
    win becomes a loss with chance `(m - effect) / (2 * share of wins)`. Items flip independently
    of each other. By shift: `effect + spread * (difference - m)`.

    Raises:
        UsageError: The effect cannot be planted: it is not finite, or above 1 for flips.
    """
    if not np.isfinite(effect) or (pilot.outcomes is not None and not 0 <= effect <= 1):
        raise UsageError(
            f"an effect of {effect:g} cannot be planted",
            hint="differences of -1, 0 and 1 have a mean of at most 1; 2 pp is 0.02",
        )
    if pilot.outcomes is None:
        counts = pilot.counts.astype(np.float64)
        sums = effect * counts + pilot.spread * (pilot.sums - pilot.mean * counts)
        return _merged(sums, counts, np.ones(len(sums)))
    kinds, times = np.unique(pilot.outcomes, axis=0, return_counts=True)
    wins = float(pilot.outcomes[:, 0].sum()) / pilot.items
    up = max(0.0, (effect - pilot.mean) / (1 - pilot.mean)) if pilot.mean < 1 else 0.0
    down = max(0.0, (pilot.mean - effect) / (2 * wins)) if wins else 0.0
    parts = [_flipped(kind, up, down) for kind in kinds.tolist()]
    return _merged(
        np.concatenate([sums for sums, _ in parts]),
        np.repeat(kinds.sum(axis=1).astype(np.float64), [len(sums) for sums, _ in parts]),
        np.concatenate([time * chances for time, (_, chances) in zip(times, parts, strict=True)]),
    )


def draw(world: World, clusters: int, simulations: int, seed: int) -> Margins:
    """Draw experiments with so many clusters each; the same seed gives the same ones."""
    dice = np.random.Generator(np.random.PCG64(seed))
    sums, counts = world.sums, world.counts
    moments = np.stack([sums, counts, sums * sums, sums * counts, counts * counts], axis=1)
    rows = max(1, _BLOCK // len(sums))
    found = []
    for start in range(0, simulations, rows):
        times = dice.multinomial(clusters, world.chances, size=min(rows, simulations - start))
        found.append(times.astype(np.float64) @ moments)
    total, size, squares, products, sizes = np.concatenate(found).T
    means = total / size
    residual = np.maximum(squares - 2 * means * products + means**2 * sizes, 0.0)
    # What cancels on paper must not leave a hair of spread.
    residual[residual < 1e-12 * np.maximum(squares, 1e-300)] = 0.0
    return Margins(means, np.sqrt(residual) / size, total, squares)


def interval_path(pilot: Pilot, clusters: int) -> IntervalPath:
    """How the lower end of an experiment's interval is found."""
    alone = bool((pilot.counts == 1).all())
    return (
        "exact" if pilot.outcomes is not None and alone and clusters <= _EXACT_UP_TO else "normal"
    )


def won(margins: Margins, clusters: int, path: IntervalPath) -> float:
    """Share of the experiments whose interval's lower end is above zero."""
    if path == "normal":
        return float((margins.short() < 0).mean())
    # Each cluster is one difference of -1, 0 or 1: wins minus losses, and wins plus losses.
    gained, moved = (np.rint(sums).astype(np.int64) for sums in (margins.totals, margins.squares))
    kinds, times = np.unique(np.stack([gained, moved], axis=1), axis=0, return_counts=True)
    decided = [_gains(gain, moves, clusters) for gain, moves in kinds.tolist()]
    return float(times @ np.array(decided)) / len(margins.means)


@lru_cache(maxsize=1 << 16)
def _gains(gained: int, moved: int, items: int) -> bool:
    """Whether `paired_bootstrap` puts the lower end above zero.

    Args:
        gained: Wins minus losses.
        moved: Wins plus losses.
        items: With the ties.
    """
    error = np.sqrt(max(moved - gained**2 / items, 0.0))
    if gained <= _SURELY_NOT * error:
        return False
    if gained > _SURELY * error:
        return True
    wins, losses = (moved + gained) // 2, (moved - gained) // 2
    deltas = np.repeat([1.0, 0.0, -1.0], [wins, items - moved, losses])
    return paired_bootstrap(deltas).low > 0


def _flipped(outcomes: list[int], up: float, down: float) -> tuple[Floats, Floats]:
    """Sums that one cluster can have after the flips, and their chances."""
    wins, ties, losses = outcomes
    raised = np.convolve(_binomial(ties, up), _every_other(_binomial(losses, up)))
    lowered = _every_other(_binomial(wins, down))[::-1]
    least = wins - losses - (len(lowered) - 1)
    chances = np.convolve(raised, lowered)
    kept = np.flatnonzero(chances > _NIL)
    return (least + kept).astype(np.float64), chances[kept]


def _binomial(n: int, p: float) -> Floats:
    """Chances of 0 to n successes; only of 0 where there can be no other."""
    if n == 0 or p == 0:
        return np.ones(1)
    if p >= 1:
        return np.append(np.zeros(n), 1.0)
    ways: Floats = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
    k: Ints = np.arange(n + 1)
    logs = ways[n] - ways - ways[::-1] + k * np.log(p) + (n - k) * np.log1p(-p)
    chances: Floats = np.exp(logs)
    return chances


def _every_other(chances: Floats) -> Floats:
    """Each success counts twice."""
    spaced = np.zeros(2 * len(chances) - 1)
    spaced[::2] = chances
    return spaced


def _merged(sums: Floats, counts: Floats, chances: Floats) -> World:
    """Equal clusters become one; the likeliest stand first, which makes drawing faster."""
    pairs, place = np.unique(np.stack([sums, counts], axis=1), axis=0, return_inverse=True)
    together = np.bincount(place.ravel(), chances, len(pairs))
    order = np.argsort(-together, kind="stable")
    world = World(pairs[order, 0], pairs[order, 1], together[order] / together.sum())
    return _thinned(world) if len(order) > _MOST_KINDS else world


def _thinned(world: World) -> World:
    """A large world as groups of like clusters; two stand for each, with its mean and variance."""
    mean = float(world.sums @ world.chances) / float(world.counts @ world.chances)
    order = np.argsort(world.sums - mean * world.counts, kind="stable")
    starts = np.linspace(0, len(order), _MOST_KINDS // 2, endpoint=False).astype(np.int64)
    weights = world.chances[order]
    chances = np.add.reduceat(weights, starts)
    sums, squares, counts = (
        np.add.reduceat(weights * values[order], starts) / chances
        for values in (world.sums, world.sums**2, world.counts)
    )
    off = np.sqrt(np.maximum(squares - sums**2, 0.0))
    return World(
        np.concatenate([sums - off, sums + off]),
        np.concatenate([counts, counts]),
        np.concatenate([chances, chances]) / 2,
    )
