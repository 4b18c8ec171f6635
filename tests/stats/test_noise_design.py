import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats.noise_design import ROUND, read_rounds, schedule

EVEN = st.integers(1, 12).map(lambda half: 2 * half)


def measured(sides, values):
    return list(zip(sides, values, strict=True))


def test_the_order():
    letters = "".join(side[0] for side in schedule(4, warmup=0))
    assert letters == "bccb" + "cbbc" + "bccb" + "cbbc"
    assert schedule(2, warmup=1) == schedule(4, warmup=0)[:12]


@pytest.mark.parametrize("rounds", [0, 1])
def test_too_few_rounds_are_refused(rounds):
    with pytest.raises(Refusal, match="needs repeats"):
        schedule(rounds)


@pytest.mark.parametrize(("rounds", "warmup"), [(3, 1), (4, -1)])
def test_a_wrong_number(rounds, warmup):
    with pytest.raises(UsageError):
        schedule(rounds, warmup)


def test_warmups_are_dropped_and_pairs_are_taken_within_a_round():
    values = [99.0] * 4 + [1.0, 5.0, 7.0, 3.0] + [10.0, 20.0, 30.0, 40.0]
    read = read_rounds(measured(_cut(2, 1), values), 1)
    # The warm-up began with the base, so the first round that counts begins with the candidate.
    assert read.values["candidate"].tolist() == [1.0, 3.0, 20.0, 30.0]
    assert read.values["base"].tolist() == [5.0, 7.0, 10.0, 40.0]
    assert read.slots["base"].tolist() == [1, 2, 4, 7]
    assert read.differences.tolist() == [2.0 - 6.0, 25.0 - 25.0]


def _cut(rounds, warmup):
    return schedule(rounds, warmup)


@given(EVEN, st.integers(0, 3), st.floats(-100, 100), st.floats(-5, 5), st.floats(-1, 1))
def test_a_drift_cancels_between_the_sides(rounds, warmup, level, slope, curve):
    sides = schedule(rounds, warmup)
    line = [level + slope * at for at in range(len(sides))]
    linear = read_rounds(measured(sides, line), warmup).differences
    assert linear == pytest.approx([0] * rounds, abs=1e-9)
    bent = [value + curve * at**2 for at, value in enumerate(line)]
    quadratic = sorted(read_rounds(measured(sides, bent), warmup).differences.tolist())
    middle = (quadratic[rounds // 2 - 1] + quadratic[rounds // 2]) / 2
    assert middle == pytest.approx(0, abs=1e-7)


@given(st.floats(0.01, 50), st.floats(0.01, 50), st.floats(-3, 3))
def test_a_drift_in_time_cancels_however_long_each_side_takes(base, candidate, slope):
    now, values, sides = 0.0, [], schedule(2, warmup=0)
    for side in sides:
        takes = base if side == "base" else candidate
        values.append(slope * (now + takes / 2))
        now += takes
    differences = read_rounds(measured(sides, values), 0).differences
    assert differences == pytest.approx([0, 0], abs=1e-9 * max(now, 1))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_named(bad):
    values = [1.0] * 12
    values[5] = bad
    with pytest.raises(UsageError, match="measurement 5"):
        read_rounds(measured(schedule(2), values), 1)


@pytest.mark.parametrize(
    "sides",
    [
        ["base", "candidate"] * 4,
        ["base", "base", "candidate", "candidate"] * 2,
        [*schedule(2, warmup=0)[:4]] * 2,
        [*schedule(2, warmup=0), "base", "candidate"],
    ],
    ids=["abab", "aabb", "always abba", "half a round"],
)
def test_sides_that_do_not_alternate_are_refused(sides):
    with pytest.raises(UsageError):
        read_rounds(measured(sides, [1.0] * len(sides)), 0)


def test_too_few_measurements_are_refused():
    for count in (0, ROUND, 2 * ROUND):
        sides = schedule(2)[:count]
        with pytest.raises(Refusal):
            read_rounds(measured(sides, [1.0] * count), 1)
