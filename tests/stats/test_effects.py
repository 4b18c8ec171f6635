"""Effect sizes: by hand, laws, where there is none, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats import paired_bootstrap
from memruler.stats.effects import (
    Outcomes,
    cohen_dz,
    cohen_h,
    net_win_rate,
    odds_ratio,
    outcomes,
    rank_biserial,
)

DELTAS = st.lists(st.integers(-3, 3), min_size=2, max_size=40)


@given(DELTAS)
def test_outcomes_count_everything_once(deltas):
    found = outcomes(deltas)
    assert found.wins + found.ties + found.losses == len(deltas)
    assert found.net == pytest.approx(np.sign(deltas).mean())


def test_outcomes_by_hand():
    assert outcomes([0.1, -1e-300, 0.0, -0.0, 2]) == Outcomes(wins=2, ties=2, losses=1)


def test_net_win_rate_is_the_bootstrap_of_signs():
    deltas, clusters = [0.3, -0.2, 0.0, 0.7, 0.1, 0.0], list("aabbcc")
    assert net_win_rate(deltas, clusters) == paired_bootstrap([1, -1, 0, 1, 1, 0], clusters)


def test_rank_biserial_by_hand():
    # Sizes 1, 2, 3, 4 with one loss at 3: (1 + 2 + 4 - 3) / 10.
    assert rank_biserial([1, 2, -3, 4]).value == 0.4


@given(DELTAS)
def test_rank_biserial_laws(deltas):
    found = rank_biserial(deltas)
    if not any(deltas):
        assert (found.value, found.reason) == (None, "every difference is zero")
        return
    assert -1 <= found.value <= 1
    assert rank_biserial([-d for d in deltas]).value == pytest.approx(-found.value)
    if min(deltas) >= 0:
        assert found.value == 1


@given(DELTAS.filter(lambda deltas: len(set(deltas)) > 1))
def test_dz_is_mean_over_deviation(deltas):
    found = cohen_dz(deltas, resamples=1000)
    assert found.value == pytest.approx(np.mean(deltas) / np.std(deltas, ddof=1), abs=1e-9)
    assert found.reason is None
    assert found.low <= found.high


@pytest.mark.parametrize("same", [0.0, 1.0, 0.1, 1e300, 1e-300])
def test_dz_without_spread_has_no_value(same):
    found = cohen_dz([same] * 7)
    assert found.value is found.low is found.high is None
    assert "no spread" in found.reason


def test_dz_takes_rounding_for_none():
    assert 0.1 + 0.2 != 0.3
    assert cohen_dz([0.1 + 0.2, 0.3] * 5).value is None


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_dz_has_no_scale(scale):
    deltas = np.random.default_rng(8).normal(0.3, 1, 50)
    plain, scaled = cohen_dz(deltas), cohen_dz(deltas * scale)
    assert scaled.value == pytest.approx(plain.value)
    assert (scaled.low, scaled.high) == pytest.approx((plain.low, plain.high))


def test_dz_interval_against_a_plain_loop():
    rng = np.random.default_rng(9)
    deltas, codes = rng.normal(0.4, 1, 90), np.repeat(np.arange(45), 2)
    ends = []
    for _ in range(4000):
        drawn = rng.integers(0, 45, 45)
        items = np.concatenate((deltas[2 * drawn], deltas[2 * drawn + 1]))
        ends.append(items.mean() / items.std(ddof=1))
    found = cohen_dz(deltas, codes)
    assert (found.low, found.high) == pytest.approx(np.percentile(ends, [2.5, 97.5]), abs=0.03)
    assert cohen_dz(deltas, codes) == found
    assert cohen_dz(deltas, codes, seed=8) != found


def test_dz_says_when_resamples_have_no_value():
    found = cohen_dz([1, 0, 0, 0])
    assert found.value == pytest.approx(0.5)
    assert any("resamples have no value" in told for told in found.warnings)


def test_h_by_hand():
    assert cohen_h(0.5, 0.75).value == pytest.approx(math.pi / 6)
    assert cohen_h(0, 1).value == pytest.approx(math.pi)
    assert cohen_h(0.3, 0.3).value == 0


@given(st.floats(0, 1), st.floats(0, 1))
def test_h_has_a_sign(base, candidate):
    assert cohen_h(base, candidate).value == -cohen_h(candidate, base).value


def test_odds_ratio_by_hand():
    found = odds_ratio(6, 2)
    assert found.value == 3
    assert found.low < 1
    assert found.high > 3


@given(st.integers(1, 500), st.integers(1, 500))
def test_odds_ratio_turns_over(wins, losses):
    one, other = odds_ratio(wins, losses), odds_ratio(losses, wins)
    assert one.value == pytest.approx(1 / other.value)
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))


def test_odds_ratio_without_losses_has_no_value():
    found = odds_ratio(5, 0)
    assert found.value is found.high is None
    assert found.low > 1
    assert "no upper bound" in found.reason
    assert odds_ratio(0, 5).value == 0
    assert odds_ratio(0, 0).reason == "no item moved"


@pytest.mark.parametrize("function", [outcomes, net_win_rate, rank_biserial, cohen_dz])
@pytest.mark.parametrize("wrong", [[], [float("inf"), 1], ["a"]])
def test_bad_differences(function, wrong):
    with pytest.raises(UsageError):
        function(wrong)


@pytest.mark.parametrize("function", [net_win_rate, cohen_dz])
def test_one_cluster_is_refused(function):
    with pytest.raises(Refusal, match="1 cluster"):
        function([1, 0, 1], ["a", "a", "a"])


@pytest.mark.parametrize("wrong", [(-0.1, 0.5), (0.5, 1.1), (float("nan"), 0.5)])
def test_bad_shares(wrong):
    with pytest.raises(UsageError):
        cohen_h(*wrong)


@pytest.mark.parametrize("wrong", [(-1, 2), (1, 2.5)])
def test_bad_counts(wrong):
    with pytest.raises(UsageError):
        odds_ratio(*wrong)
