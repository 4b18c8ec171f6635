"""Planted effects are what they are said to be, and the quick verdicts are the bootstrap's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats import paired_bootstrap
from memruler.stats.power_pilot import read_pilot
from memruler.stats.power_world import _gains, draw, interval_path, plant, won

RNG = np.random.default_rng(11)


def mean_of(world):
    return float(world.sums @ world.chances) / float(world.counts @ world.chances)


@given(
    st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=40),
    st.integers(1, 5),
    st.floats(0, 1),
)
def test_flips_plant_exactly_the_effect_and_keep_the_value_set(deltas, groups, effect):
    clusters = [at % groups for at in range(len(deltas))] if groups > 1 else None
    world = plant(read_pilot(deltas, clusters), effect)
    assert mean_of(world) == pytest.approx(effect, abs=1e-9)
    assert world.chances.sum() == pytest.approx(1)
    assert np.array_equal(world.sums, np.rint(world.sums))
    assert (abs(world.sums) <= world.counts).all()


@given(
    st.lists(st.floats(-3, 3), min_size=4, max_size=40).filter(lambda d: np.ptp(d) > 1e-3),
    st.floats(0, 2),
)
def test_a_shift_plants_exactly_the_effect_and_keeps_the_spread(deltas, effect):
    pilot = read_pilot([*deltas, 0.123])
    world = plant(pilot, effect)
    assert pilot.planting == "shift"
    assert mean_of(world) == pytest.approx(effect, abs=1e-9)
    assert world.variance() == pytest.approx(np.var([*deltas, 0.123]), rel=1e-6)


def test_flips_by_hand():
    # 1 win, 2 ties, 1 loss; mean 0, wanted 0.5: each turns into a win with chance 1/2.
    world = plant(read_pilot([1, 0, 0, -1]), 0.5)
    chances = dict(zip(world.sums.tolist(), world.chances.tolist(), strict=True))
    assert chances == pytest.approx({1: 1 / 4 + 3 / 8, 0: 1 / 4, -1: 1 / 8})
    # 3 wins, 1 tie; mean 0.75, wanted 0.25: a win turns into a loss with chance 0.5 / 1.5.
    world = plant(read_pilot([1, 1, 1, 0]), 0.25)
    chances = dict(zip(world.sums.tolist(), world.chances.tolist(), strict=True))
    assert chances == pytest.approx({1: 1 / 2, 0: 1 / 4, -1: 1 / 4})


def test_flips_of_a_whole_cluster_by_hand():
    # Clusters of a tie and a loss; mean -0.5, wanted 0: each becomes a win with chance 1/3.
    world = plant(read_pilot([0, -1, 0, -1], ["a", "a", "b", "b"]), 0.0)
    chances = dict(zip(world.sums.tolist(), world.chances.tolist(), strict=True))
    assert chances == pytest.approx({-1: 4 / 9, 0: 2 / 9, 1: 2 / 9, 2: 1 / 9})


@pytest.mark.parametrize("effect", [-0.1, 1.1, float("nan")])
def test_an_effect_that_no_flip_can_give(effect):
    with pytest.raises(UsageError, match="cannot be planted"):
        plant(read_pilot([1, 0, 0, -1]), effect)


@pytest.mark.parametrize("items", [2, 3, 5, 12, 30, 60])
def test_the_screen_never_contradicts_the_bootstrap(items):
    for wins in range(items + 1):
        for losses in range(items + 1 - wins):
            deltas = np.repeat([1.0, 0.0, -1.0], [wins, items - wins - losses, losses])
            exact = paired_bootstrap(deltas).low > 0
            assert _gains(wins - losses, wins + losses, items) == exact, (wins, losses)


def test_an_experiment_is_what_numpy_says_of_it():
    pilot = read_pilot([0.5, -0.2, 0.1, 0.9, -0.4], ["a", "b", "a", "c", "b"])
    world = plant(pilot, 0.1)
    found = draw(world, 4, 300, 7)
    dice = np.random.Generator(np.random.PCG64(7))
    times = dice.multinomial(4, world.chances, size=300)
    for at in (0, 17, 299):
        sums, counts = (np.repeat(values, times[at]) for values in world[:2])
        mean = sums.sum() / counts.sum()
        error = np.sqrt(((sums - mean * counts) ** 2).sum()) / counts.sum()
        assert found.means[at] == pytest.approx(mean)
        assert found.errors[at] == pytest.approx(error, abs=1e-12)


def experiments(world, clusters, number, seed):
    """Experiments item by item, as `draw` makes them, for the bootstrap itself to judge."""
    dice = np.random.Generator(np.random.PCG64(seed))
    for times in dice.multinomial(clusters, world.chances, size=number):
        yield np.repeat(world.sums, times), np.repeat(world.counts, times).astype(int)


CLUSTERED = [int(d) for d in RNG.choice([-1, 0, 1], 300, p=[0.1, 0.75, 0.15])]


@pytest.mark.parametrize(
    ("deltas", "clusters", "effect"),
    [
        (RNG.normal(0, 0.2, 60), None, 0.07),
        (RNG.exponential(1.0, 200), None, 0.2),
        (RNG.normal(0, 1, 90), np.arange(90) // 3, 0.3),
        (CLUSTERED, np.arange(300) // 10, 0.1),
        (CLUSTERED, np.arange(300) // 25, 0.1),
    ],
    ids=["normal 60", "skewed 200", "30 clusters", "30 clusters of flips", "12 clusters of flips"],
)
def test_the_normal_verdict_is_the_bootstraps(deltas, clusters, effect):
    """Power by the normal lower end is within 5 points of power by `paired_bootstrap`."""
    pilot = read_pilot(deltas, clusters)
    number = len(pilot.counts)
    assert interval_path(pilot, number) == "normal"
    world = plant(pilot, effect)
    quick = draw(world, number, 200, 7).short() < 0
    slow = []
    for sums, counts in experiments(world, number, 200, 7):
        deltas = np.concatenate(
            [np.full(count, total / count) for total, count in zip(sums, counts, strict=True)]
        )
        names = np.repeat(np.arange(len(sums)), counts)
        slow.append(paired_bootstrap(deltas, names, resamples=2000, exact=False).low > 0)
    assert 0.2 < np.mean(slow) < 0.98  # a power that could differ
    assert abs(quick.mean() - np.mean(slow)) <= 0.05
    assert (quick == np.array(slow)).mean() >= 0.92


def test_the_exact_verdict_is_used_where_items_stand_alone():
    pilot = read_pilot([1] * 6 + [0] * 52 + [-1] * 2)
    assert interval_path(pilot, 60) == "exact"
    assert interval_path(pilot, 5000) == "normal"
    world = plant(pilot, 0.12)
    slow = [paired_bootstrap(sums).low > 0 for sums, _ in experiments(world, 60, 300, 3)]
    assert won(draw(world, 60, 300, 3), 60, "exact") == np.mean(slow)


def test_a_large_world_is_thinned_without_moving_mean_or_variance():
    deltas = RNG.normal(0, 1, 20_000)
    world = plant(read_pilot(deltas), 0.01)
    assert len(world.sums) <= 4096
    assert mean_of(world) == pytest.approx(0.01, abs=1e-9)
    assert world.variance() == pytest.approx(deltas.var(), rel=1e-9)
