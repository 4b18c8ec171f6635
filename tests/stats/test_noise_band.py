import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.stats.noise_band import noise_band, own_differences, own_sigma


def test_one_difference_by_hand():
    # The line from (0, 1) to (4, 9) is at 7 where 10 was measured at 3: 3 off, and w is 3/4.
    found = own_differences(np.array([0.0, 3.0, 4.0]), np.array([1.0, 10.0, 9.0]))
    assert found.tolist() == pytest.approx([3 / math.sqrt(1 + 1 / 16 + 9 / 16)])


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_a_straight_line_has_no_own_difference(level, slope):
    slots = np.array([0.0, 3.0, 5.0, 6.0, 8.0])
    assert own_differences(slots, level + slope * slots) == pytest.approx([0, 0, 0], abs=1e-12)
    assert own_sigma(slots, level + slope * slots) == 0


def test_sigma_is_that_of_one_measurement():
    random = np.random.Generator(np.random.PCG64(3))
    values = 5 + 0.25 * random.standard_normal(40_000)
    assert own_sigma(np.arange(40_000.0), values) == pytest.approx(0.25, rel=0.02)
    values[::20] += 100  # one wild value of twenty spoils three differences of twenty
    assert own_sigma(np.arange(40_000.0), values) < 0.35


def test_the_band_of_many_rounds_is_two_standard_deviations_of_a_median():
    rounds = 10_000
    assert noise_band(1.0, rounds) * math.sqrt(rounds) == pytest.approx(2 * 1.2533, rel=1e-3)
    assert noise_band(3.0, 12) == pytest.approx(3 * noise_band(1.0, 12))
    assert noise_band(1.0, 12) == pytest.approx(0.7873, abs=1e-4)
