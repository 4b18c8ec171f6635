import math

import pytest

from memruler.errors import Refusal, UsageError
from memruler.stats.noise import noise_verdict


@pytest.mark.parametrize(
    ("delta", "better", "verdict"),
    [
        (0.0, "higher", "unchanged"),
        (-0.0, "lower", "unchanged"),
        (1e-300, "higher", "better"),
        (1e-300, "lower", "worse"),
        (-2.0, "higher", "worse"),
        (-2.0, "lower", "better"),
    ],
)
def test_an_exact_ruler(delta, better, verdict):
    assert noise_verdict(delta, ruler="exact", band=None, better=better) == verdict


@pytest.mark.parametrize(
    ("delta", "better", "verdict"),
    [
        (0.0, "higher", "inconclusive"),
        (0.5, "higher", "inconclusive"),
        (-0.5, "lower", "inconclusive"),
        (0.51, "higher", "better"),
        (0.51, "lower", "worse"),
        (-0.51, "lower", "better"),
    ],
)
def test_a_noisy_ruler(delta, better, verdict):
    assert noise_verdict(delta, ruler="noisy", band=0.5, better=better) == verdict


@pytest.mark.parametrize("band", [0.0, 0.5, math.nan])
def test_a_band_on_an_exact_ruler_is_refused(band):
    with pytest.raises(Refusal, match="deterministic") as caught:
        noise_verdict(1.0, ruler="exact", band=band, better="higher")
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("delta", [0.0, 100.0])
def test_no_band_on_a_noisy_ruler_is_refused(delta):
    with pytest.raises(Refusal, match="without a band"):
        noise_verdict(delta, ruler="noisy", band=None, better="higher")


@pytest.mark.parametrize("band", [0.0, -1.0, math.nan, math.inf])
def test_a_band_that_is_none(band):
    with pytest.raises(UsageError, match="band"):
        noise_verdict(1.0, ruler="noisy", band=band, better="higher")


@pytest.mark.parametrize("delta", [math.nan, math.inf])
@pytest.mark.parametrize(("ruler", "band"), [("exact", None), ("noisy", 1.0)])
def test_a_difference_that_is_not_finite(delta, ruler, band):
    with pytest.raises(UsageError, match="not finite"):
        noise_verdict(delta, ruler=ruler, band=band, better="higher")
