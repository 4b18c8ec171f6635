from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from memruler.errors import Refusal, UsageError
from memruler.stats.power import _least, needed, one_query, power_curve, smallest_effect

BINARY = [1] * 40 + [0] * 440 + [-1] * 20
SMOOTH = np.random.default_rng(3).normal(0.01, 0.2, 200)


def test_one_query_is_a_fact():
    assert one_query(1531).effect == 1 / 1531
    with pytest.raises(Refusal, match="no query counts"):
        one_query(0)


def test_power_without_losses_is_a_binomial_tail():
    """From a pilot of ties alone, 60 items show a gain with 4 wins or more and not with 3."""
    effect = 0.08
    (found,) = power_curve([0] * 60, effect=effect, sizes=[60], simulations=20_000)
    tail = 1 - sum(comb(60, k) * effect**k * (1 - effect) ** (60 - k) for k in range(4))
    assert found.interval == "exact"
    assert found.power == pytest.approx(tail, abs=4 * found.error)
    assert found.error == pytest.approx(sqrt(found.power * (1 - found.power) / 20_000))


def test_power_of_normal_differences_is_the_textbooks():
    """With many items the simulated power is that of the z-test: Phi(effect / se - 1.96)."""
    for at in power_curve(SMOOTH, effect=0.02, sizes=[200, 400, 900], simulations=10_000):
        exact = norm.cdf(0.02 / (SMOOTH.std() / sqrt(at.clusters)) - norm.ppf(0.975))
        assert at.power == pytest.approx(exact, abs=4 * at.error + 0.01)
        assert at.false_alarms == pytest.approx(0.025, abs=0.01)


def test_the_smallest_effect_of_normal_differences_is_the_textbooks():
    found = smallest_effect(SMOOTH, simulations=10_000)
    assert found.planting == "shift"
    assert found.effect == pytest.approx(2.80 * SMOOTH.std() / sqrt(200), rel=0.04)
    assert 0 < found.error < found.effect / 20


@pytest.mark.parametrize(
    ("deltas", "clusters"),
    [(BINARY, None), (SMOOTH, None), (BINARY, np.arange(500) // 10), (SMOOTH, np.arange(200) // 4)],
)
def test_smallest_needed_and_curve_agree(deltas, clusters):
    smallest = smallest_effect(deltas, clusters)
    (at,) = power_curve(deltas, clusters, effect=smallest.effect, sizes=[smallest.clusters])
    assert at.power == pytest.approx(0.8, abs=3 * at.error)
    need = needed(smallest.effect, deltas, clusters)
    assert need.at.power >= 0.8
    # Power has a standard error of 0.009, and rises by about 0.005 with 2 % more clusters.
    assert need.at.clusters == pytest.approx(smallest.clusters, rel=0.15)
    assert need.at.items == round(need.at.clusters * need.per_cluster)


def test_half_the_effect_needs_four_times_as_much():
    coarse, fine = (needed(effect, SMOOTH).at.clusters for effect in (0.02, 0.01))
    assert fine / coarse == pytest.approx(4, rel=0.12)


def test_clusters_that_move_together_need_more():
    rng = np.random.default_rng(2)
    deltas = np.repeat(rng.normal(0, 0.2, 40), 10) + rng.normal(0, 0.02, 400)
    alone, together = needed(0.02, deltas), needed(0.02, deltas, np.arange(400) // 10)
    assert together.at.items > 5 * alone.at.items


def test_more_repeats_need_fewer_items_until_items_dominate():
    rng = np.random.default_rng(4)
    deltas = rng.normal(0, 0.1, (100, 1)) + rng.normal(0, 0.4, (100, 3))
    sizes = [needed(0.02, deltas, repeats=r).at.items for r in (1, 2, 5, 1000, 10_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 4 * sizes[3]
    assert sizes[4] == pytest.approx(sizes[3], rel=0.05)
    # As many repeats as the pilot has are the pilot as it is.
    assert needed(0.05, deltas, repeats=3) == needed(0.05, deltas)


def test_larger_experiments_see_smaller_effects():
    found = [smallest_effect(BINARY, size=size).effect for size in (100, 500, 3000)]
    assert found == sorted(found, reverse=True)


def test_the_seed_decides_and_nothing_else():
    first = needed(0.03, BINARY, np.arange(500) // 5)
    assert first == needed(0.03, BINARY, np.arange(500) // 5)
    shuffled = np.random.default_rng(1).permutation(500)
    again = needed(0.03, np.array(BINARY)[shuffled], (np.arange(500) // 5)[shuffled])
    assert first == again
    assert smallest_effect(SMOOTH, seed=8).effect != smallest_effect(SMOOTH).effect


def test_few_clusters_are_told_to_raise_false_alarms():
    together = np.repeat(np.random.default_rng(3).normal(0, 0.2, 5), 40)
    found = smallest_effect(together + SMOOTH / 10, np.arange(200) // 40)
    assert found.false_alarms > 0.05
    assert any("false alarms" in warning for warning in found.warnings)
    assert any("pilot has 5 clusters" in warning for warning in found.warnings)


def test_extrapolation_is_told():
    assert any("500 of the pilot" in warning for warning in needed(0.01, BINARY).warnings)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_effect(BINARY, power=1), "power of 1"),
        (lambda: smallest_effect(BINARY, size=1), "experiment with 1 clusters"),
        (lambda: smallest_effect(BINARY, simulations=10), "10 simulations"),
        (lambda: smallest_effect(BINARY, seed=-1), "negative"),
        (lambda: needed(0, BINARY), "effect of 0"),
        (lambda: needed(float("nan"), BINARY), "effect of nan"),
        (lambda: needed(1.5, BINARY), "cannot be planted"),
        (lambda: power_curve(BINARY, effect=0.1, sizes=[5, 1]), "with 1 clusters"),
    ],
)
def test_bad_numbers(call, message):
    with pytest.raises(UsageError, match=message):
        call()


def test_an_effect_that_nobody_could_show():
    with pytest.raises(Refusal, match="more than 10,000,000 clusters"):
        needed(1e-6, SMOOTH)


@pytest.mark.parametrize("least", [2, 3, 4, 50, 99, 777, 123_456])
@pytest.mark.parametrize("guess", [2, 3, 90, 5000, 10_000_000])
def test_the_search_from_any_guess(least, guess):
    found = _least(lambda size: size >= least, guess)
    assert least <= found <= least + max(0, 0.011 * least)
