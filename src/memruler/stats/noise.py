"""Two sides of a noisy measurement: latency, throughput, tokens, scores that re-roll."""

from collections.abc import Sequence

import msgspec
import numpy as np

from memruler.errors import Refusal
from memruler.stats.noise_band import noise_band, own_sigma
from memruler.stats.noise_design import Measured, read_rounds, schedule
from memruler.stats.noise_verdict import Better, NoiseVerdict, Ruler, noise_verdict

__all__ = [
    "Better",
    "Measured",
    "NoiseVerdict",
    "NoisyDelta",
    "Ruler",
    "noise_verdict",
    "noisy_delta",
    "schedule",
]

_WILD = 2.0
"""Times the noise of the base from which on the candidate's own band counts too. Two estimates of
the same sigma differ so much in about 5 % of all measurements of 12 rounds."""


class NoisyDelta(msgspec.Struct, frozen=True, kw_only=True):
    """A difference with the band that it has to leave.

    Attributes:
        verdict: `inconclusive` inside the band, else `better` or `worse`; never `unchanged`. A
            warning says where it is `inconclusive` outside, since the candidate is too noisy.
        better: Which direction is the better one.
        base, candidate: Median of the measurements of each side.
        delta: Median over the rounds of the paired differences; not the difference of the medians.
        relative: `delta / base`; None where the base is 0.
        band: Two sigma of `delta` if nothing differed, from the base alone; above 0.
        sigma: Robust standard deviation of one measurement of the base, drift removed.
        candidate_sigma: The same of the candidate.
        rounds: Rounds that count, of four measurements each.
        warmup: Rounds that were thrown away.
        warnings: What a reader must know, one sentence each.
    """

    verdict: NoiseVerdict
    better: Better
    base: float
    candidate: float
    delta: float
    relative: float | None
    band: float
    sigma: float
    candidate_sigma: float
    rounds: int
    warmup: int
    warnings: tuple[str, ...] = ()


def noisy_delta(measured: Sequence[Measured], *, better: Better, warmup: int = 1) -> NoisyDelta:
    """Whether the candidate differs from the baseline by more than the baseline from itself.

    Medians throughout: one pause of the machine moves no result. The band is taken from the
    baseline alone, since a candidate that is broken may be noisy in a way of its own. But a
    candidate that is more than twice as noisy leaves that band by chance: then the difference must
    leave the band of the candidate as well.

    Args:
        measured: (side, value) in the order that `schedule` gives, warm-ups included.
        better: `lower` for times and costs, `higher` for scores and throughput.
        warmup: Rounds at the beginning that do not count.

    Raises:
        Refusal: Fewer than two rounds count, or the baseline shows no noise at all.
        UsageError: A value is not finite, or the sides do not alternate as `schedule` says.

    Example:
        >>> base, slower = iter([10.0, 10.2, 9.9, 10.1]), iter([12.0, 12.2, 11.8, 12.2])
        >>> sides = schedule(2, warmup=0)
        >>> values = [(s, next(base if s == "base" else slower)) for s in sides]
        >>> found = noisy_delta(values, better="lower", warmup=0)
        >>> found.verdict, round(found.delta, 2), found.rounds
        ('worse', 2.0, 2)
    """
    read = read_rounds(measured, warmup)
    rounds = len(read.differences)
    sigma = own_sigma(read.slots["base"], read.values["base"])
    if sigma == 0:
        raise Refusal(
            ["the baseline gave the same value again and again, so its noise cannot be measured"],
            hint="compare exactly what is deterministic; else measure with a finer clock, or more "
            "work at a time",
        )
    band = noise_band(sigma, rounds)
    delta = float(np.median(read.differences))
    base = float(np.median(read.values["base"]))
    verdict = noise_verdict(delta, ruler="noisy", band=band, better=better)
    other = own_sigma(read.slots["candidate"], read.values["candidate"])
    own_band = noise_band(other, rounds)
    warnings: tuple[str, ...] = ()
    if verdict != "inconclusive" and other > _WILD * sigma and abs(delta) <= own_band:
        verdict = "inconclusive"
        times = f"the candidate is {other / sigma:.1f} times as noisy as the base"
        warnings = (f"outside the band of the base, but {times}: its own band is {own_band:.3g}",)
    return NoisyDelta(
        verdict=verdict,
        better=better,
        base=base,
        candidate=float(np.median(read.values["candidate"])),
        delta=delta,
        relative=delta / base if base else None,
        band=band,
        sigma=sigma,
        candidate_sigma=other,
        rounds=rounds,
        warmup=warmup,
        warnings=warnings,
    )
