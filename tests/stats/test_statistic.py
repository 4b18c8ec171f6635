"""The bootstrap of a function of sums: what a statistic is given, and when it has no value."""

import numpy as np
import pytest

from memruler.errors import Refusal, UsageError
from memruler.stats import paired_bootstrap
from memruler.stats.statistic import spread

SIZES = [1, 2, 3] * 4
CODES = np.repeat(np.arange(12), SIZES)
DRAWS = {"resamples": 5000, "seed": 7}


def test_a_mean_is_that_of_the_paired_bootstrap():
    deltas = np.random.default_rng(1).normal(size=24)
    parts = np.column_stack((deltas, np.ones(24)))
    for codes in (None, CODES):
        found = spread(parts, codes, lambda sums: sums[0] / sums[1], **DRAWS)
        plain = paired_bootstrap(deltas, codes, exact=False, **DRAWS)
        ours = (found.value, found.low, found.high, found.low_error, found.high_error)
        assert ours == pytest.approx(
            (plain.mean, plain.low, plain.high, plain.low_error, plain.high_error)
        )
        assert (found.n, found.clusters) == (plain.n, plain.clusters)


def test_sums_are_those_of_whole_clusters():
    seen = []

    def items(sums):
        seen.append(sums[0])
        return sums[0]

    found = spread(np.ones((24, 1)), CODES, items, **DRAWS)
    drawn = np.concatenate(seen[1:])
    assert found.value == 24
    assert drawn == pytest.approx(np.rint(drawn))
    # Twelve draws from 1, 2, 3: between 12 and 36, 24 on average, with a variance of 12 * 2 / 3.
    assert drawn.min() >= 12 - 1e-9
    assert drawn.max() <= 36 + 1e-9
    assert drawn.mean() == pytest.approx(24, abs=0.2)
    assert drawn.var() == pytest.approx(8, rel=0.1)


def test_undefined_resamples_are_left_out_and_counted():
    def above(sums):
        return np.where(sums[0] >= 22, sums[0], np.nan)

    found = spread(np.ones((24, 1)), CODES, above, **DRAWS)
    assert found.low == pytest.approx(22)
    assert 0.15 < found.undefined < 0.3
    assert "no value" in found.warnings[1]


def test_no_value_no_interval():
    found = spread(np.ones((24, 1)), CODES, lambda sums: np.full_like(sums[0], np.nan), **DRAWS)
    assert found.value is found.low is found.high is found.low_error is found.high_error is None
    assert found.undefined == 1


def test_value_but_no_resample_has_one():
    found = spread(
        np.ones((24, 1)),
        CODES,
        lambda sums: np.full(sums.shape[1], 1.0 if sums.shape[1] == 1 else np.nan),
        **DRAWS,
    )
    assert found.value == 1
    assert found.low is found.high is None
    assert found.undefined == 1


def test_refused():
    with pytest.raises(Refusal, match="1 item"):
        spread(np.ones((1, 1)), None, lambda sums: sums[0], **DRAWS)
    with pytest.raises(UsageError):
        spread(np.ones((3, 1)), None, lambda sums: sums[0], resamples=1, seed=7)
