from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.target_sums import exact_mean, exact_sum, percentiles

values = st.lists(st.floats(-2, 2) | st.sampled_from([0.0, 1.0, -1.0]), min_size=1, max_size=50)


@given(values)
def test_the_sum_is_rounded_once(numbers):
    assert exact_sum(np.array(numbers)) == fsum(numbers)
    assert exact_mean(np.array(numbers)) == fsum(numbers) / len(numbers)


def test_thousands_of_thirds_are_exact_whatever_their_order():
    numbers = np.array([1 / 3, 1e-9] * 5000)
    assert exact_sum(numbers) == exact_sum(np.sort(numbers)) == fsum(numbers.tolist())
    assert exact_sum(np.array([])) == 0.0


@given(values, st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_percentiles_are_numpys(numbers, wanted):
    found = percentiles(np.array(numbers), wanted)
    assert found == pytest.approx(np.percentile(numbers, wanted).tolist(), abs=1e-12)
