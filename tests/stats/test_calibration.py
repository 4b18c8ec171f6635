"""Calibration: by hand, coverage by simulation, what passes through, and what is refused."""

from math import sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats import paired_bootstrap
from memruler.stats.calibration import (
    calibrate,
    corrected_delta,
    corrected_prevalence,
    observed_accuracy,
)
from memruler.stats.proportion import Z

GOOD = calibrate(45, 50, 10, 50)
SHARPEST = calibrate(10**9, 10**9, 0, 10**9)
DELTA = paired_bootstrap([1] * 30 + [0] * 60 + [-1] * 10)


def test_rates_by_hand():
    assert (GOOD.tpr, GOOD.fpr, GOOD.j) == (0.9, 0.2, pytest.approx(0.7))
    assert GOOD.j_variance == pytest.approx(0.9 * 0.1 / 50 + 0.2 * 0.8 / 50)
    assert GOOD.tpr_low < 0.9 < GOOD.tpr_high
    assert GOOD.fpr_low < 0.2 < GOOD.fpr_high
    assert GOOD.warnings == ()


def test_interval_of_j_published():
    """Newcombe (1998), table II, row (a): 56/70 and 48/80 give 0.0524 to 0.3339."""
    found = calibrate(56, 70, 48, 80)
    assert (found.j_low, found.j_high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_corrected_delta_by_hand():
    found = corrected_delta(DELTA, GOOD)
    j, variance = 0.7, 0.005
    added = Z**2 * 0.2**2 * variance / j**4
    assert found.value == pytest.approx(0.2 / j)
    assert found.low == pytest.approx(0.2 / j - sqrt(((0.2 - DELTA.low) / j) ** 2 + added))
    assert found.high == pytest.approx(0.2 / j + sqrt(((DELTA.high - 0.2) / j) ** 2 + added))
    assert found.corrected
    assert found.widening > 1
    assert found.observed is DELTA


def test_delta_method_is_the_textbook_one_for_an_even_interval():
    even = msgspec.structs.replace(DELTA, low=0.2 - Z * 0.05, high=0.2 + Z * 0.05)
    found = corrected_delta(even, GOOD)
    variance = 0.05**2 / 0.7**2 + 0.2**2 * GOOD.j_variance / 0.7**4
    assert found.high - found.value == pytest.approx(Z * sqrt(variance))
    assert found.value - found.low == pytest.approx(Z * sqrt(variance))


def test_prevalence_undoes_the_judge():
    for true in (0.0, 0.3, 0.5, 1.0):
        seen = msgspec.structs.replace(DELTA, mean=observed_accuracy(true, GOOD))
        assert corrected_prevalence(seen, GOOD).value == pytest.approx(true, abs=1e-15)


def test_prevalence_by_hand():
    labels = paired_bootstrap([1] * 55 + [0] * 45)
    found = corrected_prevalence(labels, GOOD)
    added = Z**2 * (0.5**2 * 0.0018 + 0.5**2 * 0.0032) / 0.7**2
    assert found.value == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5 + sqrt(((labels.high - 0.55) / 0.7) ** 2 + added))


def test_prevalence_stays_a_share_and_says_so():
    found = corrected_prevalence(paired_bootstrap([1] * 5 + [0] * 95), GOOD)
    assert found.value == found.low == 0
    assert "-0.214 and was cut" in found.warnings[-1]
    assert 0 <= found.high <= 1


@pytest.mark.parametrize("rates", [(10, 50, 10, 50), (5, 50, 40, 50)])
def test_no_information_passes_through(rates):
    poor = calibrate(*rates)
    for found in (corrected_delta(DELTA, poor), corrected_prevalence(DELTA, poor)):
        assert not found.corrected
        assert (found.value, found.low, found.high) == (DELTA.mean, DELTA.low, DELTA.high)
        assert "carry no information" in found.reason
        assert found.widening == 1


def test_a_perfect_judge_changes_nothing():
    found = corrected_delta(DELTA, SHARPEST)
    assert (found.value, found.low, found.high) == pytest.approx(
        (DELTA.mean, DELTA.low, DELTA.high)
    )
    assert found.widening == 1


def test_weak_calibrations_are_told():
    assert "estimated as 0" in calibrate(20, 20, 0, 20).warnings[0]
    assert "cannot be told from 0" in calibrate(6, 10, 4, 10).warnings[0]
    assert "cannot be told from 0" in corrected_delta(DELTA, calibrate(6, 10, 4, 10)).warnings[-1]


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_laws(positives, negatives, data):
    hits, slips = data.draw(st.integers(0, positives)), data.draw(st.integers(0, negatives))
    found = calibrate(hits, positives, slips, negatives)
    assert found.tpr_low <= found.tpr <= found.tpr_high
    assert -1 <= found.j_low <= found.j <= found.j_high <= 1 + 1e-12
    delta = corrected_delta(DELTA, found)
    assert delta.low <= delta.value <= delta.high
    assert delta.corrected == (found.j > 0)
    if found.j > 0:
        # Never narrower than the observed interval, scaled.
        assert delta.low <= DELTA.low / found.j + 1e-12
        assert delta.high >= DELTA.high / found.j - 1e-12
        # The sign of the difference is never changed.
        assert delta.value > 0


def _coverage(runs, *, widened):
    """How often the interval holds a true difference of 0.3, the judge calibrated anew each run."""
    rng = np.random.default_rng(10)
    tpr, fpr, probes, items, base, candidate = 0.85, 0.2, 60, 1500, 0.4, 0.7
    held = 0
    for _ in range(runs):
        found = calibrate(rng.binomial(probes, tpr), probes, rng.binomial(probes, fpr), probes)
        labels = [
            rng.random(items) < np.where(rng.random(items) < true, tpr, fpr)
            for true in (base, candidate)
        ]
        delta = paired_bootstrap(labels[1].astype(int) - labels[0])
        known = msgspec.structs.replace(found, j_variance=0.0)
        interval = corrected_delta(delta, found if widened else known)
        held += interval.low <= candidate - base <= interval.high
    return held / runs


def test_coverage_needs_the_calibrations_own_variance():
    assert 0.92 <= _coverage(600, widened=True) <= 0.98
    assert _coverage(600, widened=False) < 0.85


def test_coverage_of_the_corrected_prevalence():
    rng = np.random.default_rng(11)
    held, runs = 0, 600
    for _ in range(runs):
        found = calibrate(rng.binomial(80, 0.9), 80, rng.binomial(80, 0.15), 80)
        labels = rng.random(400) < observed_accuracy(0.6, calibrate(90, 100, 15, 100))
        interval = corrected_prevalence(paired_bootstrap(labels.astype(int)), found)
        held += interval.low <= 0.6 <= interval.high
    assert 0.92 <= held / runs <= 0.98


@pytest.mark.parametrize(
    "wrong", [(1, 0, 0, 1), (0, 1, 0, 0), (3, 2, 0, 1), (0, 1, 2, 1), (-1, 2, 0, 1), (0.5, 1, 0, 1)]
)
def test_bad_counts(wrong):
    with pytest.raises(UsageError):
        calibrate(*wrong)


def test_bad_shares():
    with pytest.raises(UsageError, match="true accuracy"):
        observed_accuracy(1.5, GOOD)
    with pytest.raises(UsageError, match="observed accuracy"):
        corrected_prevalence(msgspec.structs.replace(DELTA, mean=-0.1), GOOD)
