"""McNemar's test: by hand, scipy and statsmodels, laws, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from memruler.errors import UsageError
from memruler.stats.mcnemar import mcnemar

COUNTS = st.integers(0, 3000)


def test_by_hand():
    found = mcnemar(6, 2)
    assert found.p == pytest.approx(2 * (1 + 8 + 28) / 2**8, rel=1e-13)
    assert found.mid_p == pytest.approx((2 * (1 + 8 + 28) - 28) / 2**8, rel=1e-13)


@given(COUNTS, COUNTS)
def test_scipy_agrees(wins, losses):
    found = mcnemar(wins, losses)
    if wins + losses:
        assert found.p == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=1e-9, abs=1e-300)
        fewer, n = min(wins, losses), wins + losses
        mid = 2 * binom.cdf(fewer, n, 0.5) - binom.pmf(fewer, n, 0.5)
        assert found.mid_p == pytest.approx(mid, rel=1e-8, abs=1e-300)
    assert 0 <= found.mid_p <= found.p <= 1
    back = mcnemar(losses, wins)
    assert (back.p, back.mid_p) == (found.p, found.mid_p)


def test_statsmodels_agrees():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables", reason="a referee only")
    for wins, losses in [(6, 2), (0, 5), (13, 13), (40, 20)]:
        theirs = tables.mcnemar([[100, losses], [wins, 100]], exact=True)
        assert mcnemar(wins, losses).p == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("same", [1, 13, 500])
def test_as_many_each_way(same):
    found = mcnemar(same, same)
    assert found.p == 1
    assert found.mid_p == pytest.approx(1, abs=1e-12)


def test_nothing_moved():
    found = mcnemar(0, 0)
    assert (found.p, found.mid_p) == (1, 1)
    assert "nothing to test" in found.warnings[0]


def test_many():
    assert mcnemar(500_900, 499_100).p == pytest.approx(
        binomtest(500_900, 1_000_000).pvalue, rel=1e-6
    )
    assert mcnemar(100_000, 0).p == 0  # 2^-99999 is below every number


def test_error_rates_of_both():
    """The exact test keeps its rate and wastes some; the middle one is nearer to it."""
    n = np.arange(31)
    chance = binom.pmf(n, 30, 0.5)
    exact = chance[[mcnemar(int(w), 30 - int(w)).p <= 0.05 for w in n]].sum()
    middle = chance[[mcnemar(int(w), 30 - int(w)).mid_p <= 0.05 for w in n]].sum()
    assert exact <= 0.05
    assert exact <= middle < 0.06


@pytest.mark.parametrize("wrong", [(-1, 0), (0, -1), (1.5, 0), ("3", 1), (None, 1)])
def test_bad_counts(wrong):
    with pytest.raises(UsageError):
        mcnemar(*wrong)


def test_numpy_counts():
    assert mcnemar(np.int64(6), np.int32(2)) == mcnemar(6, 2)
