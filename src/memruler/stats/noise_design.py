"""The order in which two sides of a noisy measurement are measured, so that drift cancels.

A round measures each side twice: base, candidate, candidate, base (ABBA), and the next round the
other way about (BAAB). Within a round the two sides have the same mean time, so a drift that is
linear in time, or in the number of measurements, takes nothing from their difference, however
long each side takes. As many rounds begin with one side as with the other, so that a quadratic
drift cancels between rounds. (Counterbalancing; Montgomery, Design and Analysis of Experiments,
chapter 4.)
"""

from collections.abc import Sequence
from math import isfinite
from typing import Literal, NamedTuple

import numpy as np

from memruler.errors import Refusal, UsageError
from memruler.stats.sums import Floats

__all__ = ["ROUND", "Measured", "Rounds", "Side", "read_rounds", "schedule"]

Side = Literal["base", "candidate"]

Measured = tuple[Side, float]
"""Which side was measured, and what came out."""

ROUND = 4
"""Measurements of one round."""

_LEAST = 2
_ABBA: tuple[Side, ...] = ("base", "candidate", "candidate", "base")
_BAAB: tuple[Side, ...] = ("candidate", "base", "base", "candidate")


class Rounds(NamedTuple):
    """The measurements that count.

    Attributes:
        slots: Of each side, its places in the order of measurement, ascending.
        values: Of each side, what was measured there.
        differences: Of each round, the midpoint of the candidate's two values minus that of the
            base's two. (Of two values the midpoint is the median.)
    """

    slots: dict[Side, Floats]
    values: dict[Side, Floats]
    differences: Floats


def schedule(rounds: int, warmup: int = 1) -> tuple[Side, ...]:
    """Which side is measured when.

    Args:
        rounds: Rounds that count: an even number, at least 2.
        warmup: Rounds before them that are thrown away.

    Returns:
        Four sides a round, warm-ups first.

    Raises:
        Refusal: Fewer than two rounds.
        UsageError: An odd number of rounds, or a negative number of warm-ups.
    """
    _check(rounds, warmup)
    return tuple(
        side for number in range(warmup + rounds) for side in (_BAAB if number % 2 else _ABBA)
    )


def read_rounds(measured: Sequence[Measured], warmup: int) -> Rounds:
    """Check the measurements and drop the warm-ups.

    Args:
        measured: In the order of measurement, warm-ups included.
        warmup: Rounds at the beginning that do not count.

    Raises:
        Refusal: Fewer than two rounds are left.
        UsageError: A value is not finite, or the sides do not alternate as they must.
    """
    for place, (side, value) in enumerate(measured):
        if not isfinite(value):
            raise UsageError(
                f"a measurement is not finite: {value}",
                where=f"measurement {place} ({side})",
                hint="a measurement that failed has no value: repeat its round",
            )
    kept = measured[warmup * ROUND :] if warmup >= 0 else measured
    _check(len(kept) // ROUND, warmup)
    sides = [tuple(side for side, _ in kept[at : at + ROUND]) for at in range(0, len(kept), ROUND)]
    for at, order in enumerate(sides):
        if order not in (_ABBA, _BAAB):
            raise UsageError(
                f"the sides do not alternate so that drift cancels: {', '.join(order)}",
                where=f"round {at + warmup}",
                hint="a round is base, candidate, candidate, base, or the other way about",
            )
    if sides.count(_ABBA) != sides.count(_BAAB):
        raise UsageError(
            f"{sides.count(_ABBA)} of {len(sides)} rounds begin with the base",
            hint="half of them must",
        )
    return _arranged(kept)


def _arranged(kept: Sequence[Measured]) -> Rounds:
    slots: dict[Side, Floats] = {}
    values: dict[Side, Floats] = {}
    for wanted in _ABBA[:2]:
        places = [at for at, (side, _) in enumerate(kept) if side == wanted]
        slots[wanted] = np.array(places, np.float64)
        values[wanted] = np.array([kept[at][1] for at in places], np.float64)
    pairs = {side: found.reshape(-1, 2).mean(axis=1) for side, found in values.items()}
    return Rounds(slots, values, pairs["candidate"] - pairs["base"])


def _check(rounds: int, warmup: int) -> None:
    if warmup < 0:
        raise UsageError(f"{warmup} rounds of warm-up", hint="any number from 0")
    if rounds < _LEAST:
        raise Refusal(
            [f"{rounds} round{'s' * (rounds != 1)} after the warm-up: noise needs repeats"],
            hint=f"measure at least {_LEAST} rounds; 12 give a band that is worth having",
        )
    if rounds % 2:
        raise UsageError(
            f"{rounds} rounds: as many must begin with one side as with the other",
            hint="choose an even number",
        )
