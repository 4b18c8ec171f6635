import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats import gate_exact, gate_interval, own_band, paired_bootstrap
from memruler.stats.gate import DEFAULT_BAND
from memruler.stats.interval import Interval


def made(mean, low, high):
    return Interval(
        mean=mean,
        low=low,
        high=high,
        n=60,
        clusters=60,
        level=0.95,
        method="exact",
        resamples=None,
        seed=None,
        low_error=0.0,
        high_error=0.0,
    )


def published(wins, ties, losses):
    return paired_bootstrap([1] * wins + [0] * ties + [-1] * losses)


@pytest.mark.parametrize(
    ("row", "threshold", "band", "decided"),
    [
        # 500 items: +4.0, +1.0 .. +7.0
        ((40, 440, 20), 0.0, 0.04, ("pass", None)),
        ((40, 440, 20), 0.02, 0.04, ("unresolved", "noise_floor")),
        ((40, 440, 20), 0.02, 0.039, ("unresolved", "under_powered")),
        ((40, 440, 20), 0.01, 0.04, ("unresolved", "noise_floor")),
        ((40, 440, 20), 0.07, 0.04, ("unresolved", "noise_floor")),
        ((40, 440, 20), 0.071, 0.04, ("fail", None)),
        ((20, 440, 40), 0.0, 0.04, ("fail", None)),
        ((20, 440, 40), -0.08, 0.04, ("pass", None)),
        ((20, 440, 40), -0.02, 0.04, ("unresolved", "noise_floor")),
        # 60 items: +6.7, -1.7 .. +16.7
        ((6, 52, 2), 0.0, 0.04, ("unresolved", "under_powered")),
        ((6, 52, 2), 0.0, 0.07, ("unresolved", "noise_floor")),
        ((6, 52, 2), -0.02, 0.04, ("pass", None)),
        ((6, 52, 2), 0.17, 0.04, ("fail", None)),
        # 164 items: 0, -6.1 .. +6.1
        ((13, 138, 13), 0.0, 0.0, ("unresolved", "noise_floor")),
        ((13, 138, 13), -0.062, 0.04, ("pass", None)),
        ((13, 138, 13), 0.062, 0.04, ("fail", None)),
        # 60 items: +1.7, +0.0 .. +5.0: a lower end at zero is no gain
        ((1, 59, 0), 0.0, 0.04, ("unresolved", "noise_floor")),
    ],
)
def test_published_rows(row, threshold, band, decided):
    assert gate_interval(published(*row), threshold, band=band) == decided


def test_the_band_is_four_points_where_nobody_says_another():
    assert DEFAULT_BAND == 0.04
    assert gate_interval(made(0.04, -0.1, 0.2)) == ("unresolved", "noise_floor")
    assert gate_interval(made(-0.041, -0.2, 0.1)) == ("unresolved", "under_powered")


def test_an_exact_difference_must_exceed_the_threshold():
    assert gate_exact(0.02, 0.02) == "fail"
    assert gate_exact(0.0) == "fail"
    assert gate_exact(0.0201, 0.02) == "pass"
    assert gate_exact(-0.01, -0.02) == "pass"


def test_rounding_is_no_gain():
    assert 0.8 - 0.7 > 0.1
    assert gate_exact(0.8 - 0.7, 0.1) == "fail"
    assert gate_interval(made(0.1, 0.1 + 0.2 - 0.3, 0.2))[0] == "unresolved"
    assert gate_interval(made(-0.1, -0.2, 0.3 - 0.1 - 0.2))[0] == "unresolved"
    assert gate_interval(made(0.3 - 0.2 + 1e-16, -0.1, 0.2), band=0.1)[1] == "noise_floor"


def test_a_fact_has_no_band():
    with pytest.raises(Refusal, match="a difference is a fact") as caught:
        gate_exact(0.1, band=0.0)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("band", [-0.01, math.nan])
def test_a_band_is_not_negative(band):
    with pytest.raises(UsageError, match="is negative"):
        gate_interval(made(0, -1, 1), band=band)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_decides_nothing(number):
    for call in (
        lambda: gate_exact(number),
        lambda: gate_exact(0.1, number),
        lambda: gate_interval(made(0, -1, 1), number),
        lambda: gate_interval(made(number, -1, 1)),
        lambda: gate_interval(made(0, -1, number)),
    ):
        with pytest.raises(UsageError, match="not finite"):
            call()


def test_own_band_takes_the_wider_side():
    assert own_band(made(0.05, -0.01, 0.12)) == 0.12
    assert own_band(made(-0.05, -0.12, 0.01)) == 0.12
    assert own_band(published(13, 138, 13)) == pytest.approx(10 / 164)


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted),
    st.floats(-1, 1),
    st.floats(0, 1),
)
def test_a_decision_mirrors(numbers, threshold, band):
    low, mean, high = numbers
    outcome, why = gate_interval(made(mean, low, high), threshold, band=band)
    mirrored = gate_interval(made(-mean, -high, -low), -threshold, band=band)
    other = {"pass": "fail", "fail": "pass", "unresolved": "unresolved"}[outcome]
    assert mirrored == (other, why)
    assert (why is None) == (outcome != "unresolved")


def test_a_point_does_not_clear_what_three_in_n_could_undo():
    ties = paired_bootstrap([0.0] * 50)
    assert gate_interval(ties, -0.02) == ("unresolved", "under_powered")
    assert gate_interval(ties, -0.07) == ("pass", None)
    two = paired_bootstrap([1.0] + [0.0] * 9 + [1.0] + [0.0] * 9, [0] * 10 + [1] * 10)
    assert two.low == two.high
    assert gate_interval(two) == ("unresolved", "under_powered")
    assert gate_interval(paired_bootstrap([1.0] * 40)) == ("pass", None)
    assert gate_interval(paired_bootstrap([0.0] * 50)) == ("unresolved", "noise_floor")
