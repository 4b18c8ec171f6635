import numpy as np
import pytest

from memruler.errors import Refusal, UsageError
from memruler.stats.power_pilot import read_pilot, variances


def test_outcomes_by_cluster():
    pilot = read_pilot([1, 0, -1, 1, 0], ["a", "a", "b", "b", "b"])
    assert pilot.outcomes.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert pilot.counts.tolist() == [2, 3]
    assert pilot.mean == pytest.approx(0.2)
    assert pilot.planting == "flips"


@pytest.mark.parametrize("deltas", [[0.5, 0, 1, -1], [[1, 0], [0, 0], [1, 1]]])
def test_other_differences_are_shifted(deltas):
    assert read_pilot(deltas).planting == "shift"


@pytest.mark.parametrize(
    ("deltas", "clusters", "error", "message"),
    [
        ([1, float("nan")], None, UsageError, "not finite"),
        (["x", 1], None, UsageError, "not numbers"),
        ([1, 0], ["a"], UsageError, "2 differences and 1 clusters"),
        ([1], None, Refusal, "1 items in 1 cluster"),
        ([], None, Refusal, "0 items in 0 clusters"),
        ([1, 0], ["a", "a"], Refusal, "2 items in 1 cluster"),
        ([0.5, 0.5, 0.5], None, Refusal, "no spread to simulate from"),
    ],
)
def test_bad_pilots(deltas, clusters, error, message):
    with pytest.raises(error, match=message):
        read_pilot(deltas, clusters)


def test_nothing_is_said_of_repeats_that_were_not_drawn():
    with pytest.raises(Refusal, match="nothing can be said about repeats"):
        read_pilot([1, 0, 1, -1], repeats=3)
    with pytest.raises(Refusal, match="nothing can be said about repeats"):
        variances([0.1, 0.2, 0.4])


def test_fewer_than_one_repeat():
    with pytest.raises(UsageError, match="0 repeats"):
        read_pilot([[1, 0], [0, 1]], repeats=0)


def test_a_pilot_without_any_difference_is_flagged():
    warned = read_pilot([0] * 40).warnings
    assert len(warned) == 1
    assert "no item differs" in warned[0]


def test_variances_by_hand():
    # Means 0.5, 0.5, 1, 0; each of the first two items has a variance of 0.5 over its two draws.
    parts = variances([[1, 0], [0, 1], [1, 1], [0, 0]])
    assert parts.within == pytest.approx(1.0)
    # Residuals 0, 0, 0.5, -0.5: 4/3 * 0.5 less 1.0 / 2.
    assert parts.between == pytest.approx(4 / 3 * 0.5 - 0.5)
    assert parts.total(2) == pytest.approx(4 / 3 * 0.5)


def test_variances_find_what_was_put_in():
    rng = np.random.default_rng(5)
    items = 20_000
    deltas = rng.normal(0, 0.3, (items, 1)) + rng.normal(0, 0.6, (items, 4))
    parts = variances(deltas)
    assert parts.within / items == pytest.approx(0.36, rel=0.03)
    assert parts.between / items == pytest.approx(0.09, rel=0.05)


def test_the_spread_of_other_repeats():
    rng = np.random.default_rng(6)
    deltas = rng.normal(0, 0.3, (500, 1)) + rng.normal(0, 0.6, (500, 2))
    parts = variances(deltas)
    for repeats in (1, 2, 8):
        pilot = read_pilot(deltas, repeats=repeats)
        assert pilot.spread**2 == pytest.approx(parts.total(repeats) / parts.total(2))
        assert pilot.repeats == repeats
    assert read_pilot(deltas).spread == 1
