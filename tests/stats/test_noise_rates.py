"""How often the band is left when nothing differs: the rates that docs/timing.md prints.

`pytest tests/stats/test_noise_rates.py -m slow -n 0 -s` prints them.
"""

import numpy as np
import pytest

from memruler.stats.noise_band import noise_band
from memruler.stats.noise_design import schedule

DRAWS = 40_000


def _normal(random, shape):
    return random.standard_normal(shape)


def _lognormal(random, shape):
    return np.exp(0.5 * random.standard_normal(shape))


def _pauses(random, shape):
    stopped = (random.random(shape) < 0.1) * np.abs(10 * random.standard_normal(shape))
    return random.standard_normal(shape) + stopped


def _exponential(random, shape):
    return random.exponential(size=shape)


def _persistent(random, shape):
    values = random.standard_normal(shape)
    values[:, 0] /= np.sqrt(1 - 0.9**2)
    for at in range(1, shape[1]):
        values[:, at] += 0.9 * values[:, at - 1]
    return values


def _walk(random, shape):
    return np.cumsum(random.standard_normal(shape), axis=1)


def _noisier_candidate(random, shape):
    wider = np.array([2.0 if s == "candidate" else 1.0 for s in schedule(shape[1] // 4, 0)])
    return random.standard_normal(shape) * wider


def _sigma(values, slots):
    """`own_sigma` of many sides at once."""
    share = (slots[1:-1] - slots[:-2]) / (slots[2:] - slots[:-2])
    off = values[:, 1:-1] - values[:, :-2] - share * (values[:, 2:] - values[:, :-2])
    own = off / np.sqrt(1 + (1 - share) ** 2 + share**2)
    return 1.4826022185056018 * np.median(np.abs(own), axis=1)


def rates(noise, rounds, seed=7):
    """As `noisy_delta`: how often the band is left, and how often a verdict falls."""
    random = np.random.Generator(np.random.PCG64(seed))
    values = noise(random, (DRAWS, 4 * rounds))
    sides = np.array(schedule(rounds, warmup=0))
    base, candidate = values[:, sides == "base"], values[:, sides == "candidate"]
    pairs = [side.reshape(DRAWS, rounds, 2).mean(axis=2) for side in (base, candidate)]
    delta = np.abs(np.median(pairs[1] - pairs[0], axis=1))
    sigma = _sigma(base, np.flatnonzero(sides == "base").astype(float))
    other = _sigma(candidate, np.flatnonzero(sides == "candidate").astype(float))
    unit = noise_band(1.0, rounds)
    outside = delta > unit * sigma
    verdict = outside & ~((other > 2 * sigma) & (delta <= unit * other))
    return float(np.mean(outside)), float(np.mean(verdict))


def told(name, rounds, found):
    outside, verdict = found
    print(f"{name}, {rounds}: left {100 * outside:.1f} %, verdict {100 * verdict:.1f} %")  # noqa: T201


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, 4, 6, 8, 12, 20, 40])
def test_the_nominal_rate_holds_for_normal_noise(rounds):
    found = rates(_normal, rounds)
    told("normal", rounds, found)
    assert found[0] == pytest.approx(0.0455, abs=0.005)
    assert found[1] <= found[0]


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [4, 12, 40])
@pytest.mark.parametrize(
    ("noise", "most"),
    [
        (_lognormal, 0.06),
        (_pauses, 0.06),
        (_exponential, 0.06),
        (_persistent, 0.05),
        (_walk, 0.05),
        (_noisier_candidate, 0.10),
    ],
)
def test_the_rate_of_verdicts_for_other_noise(noise, most, rounds):
    found = rates(noise, rounds)
    told(noise.__name__, rounds, found)
    assert found[1] < most
