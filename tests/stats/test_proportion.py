"""Wilson's interval and checked counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from memruler.errors import UsageError
from memruler.stats.proportion import Z, whole, wilson


def test_z():
    assert pytest.approx(norm.ppf(0.975), abs=1e-15) == Z


@given(st.integers(1, 5000), st.data())
def test_scipy_agrees(trials, data):
    hits = data.draw(st.integers(0, trials))
    low, high = wilson(hits, trials)
    theirs = binomtest(hits, trials).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= low <= hits / trials <= high <= 1


def test_ends_are_exact_at_the_edges():
    assert wilson(0, 7)[0] == 0
    assert wilson(7, 7)[1] == 1
    assert wilson(7, 7)[0] < 1


@pytest.mark.parametrize("wrong", [(1, 0), (2, 1), (-1, 3), (0.5, 3), (1, 2.0)])
def test_bad_counts(wrong):
    with pytest.raises(UsageError):
        wilson(*wrong)


def test_whole_takes_numpy():
    assert whole(np.int64(3), "it") == 3
    with pytest.raises(UsageError, match="it is nan"):
        whole(float("nan"), "it")
