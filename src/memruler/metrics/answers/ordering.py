"""How well a list of events is ordered: Kendall's tau-b and BEAM's use of it."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

__all__ = ["Ordering", "ordering", "tau_b"]


class Ordering(NamedTuple):
    """What BEAM's event ordering computes.

    Attributes:
        precision, recall, f1: Over the events, as sets; from 0 to 1.
        tau: Tau-b over the union of the two lists, from -1 to 1; None where it is not defined.
        tau_norm: `(tau + 1) / 2`; None likewise.
        final: `tau_norm * f1`; None likewise.
    """

    precision: float
    recall: float
    f1: float
    tau: float | None
    tau_norm: float | None
    final: float | None


def tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's rank correlation with ties: `(C - D) / sqrt((n0 - n1) (n0 - n2))`.

    C and D count pairs in the same and in the opposite order, n0 all pairs, n1 and n2 those tied in
    either list. Source: Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).

    Args:
        first: Ranks.
        second: Ranks of the same things.

    Returns:
        From -1 to 1; None where all are tied in a list, or there are fewer than two.

    Raises:
        ValueError: The lists are of different lengths.

    Example:
        >>> round(tau_b([1, 2, 3, 4, 5], [1, 2, 3, 6, 6]), 6)
        0.948683
    """
    if len(first) != len(second):
        raise ValueError("two ranks for each thing")
    balance = left = right = 0
    for at in range(len(first)):
        for before in range(at):
            one, two = first[at] - first[before], second[at] - second[before]
            balance += ((one > 0) - (one < 0)) * ((two > 0) - (two < 0))
            left += one != 0
            right += two != 0
    return balance / sqrt(left * right) if left and right else None


def ordering(reference: Sequence[str], said: Sequence[str]) -> Ordering:
    """Score a list of events against the reference, the matched ones under the reference's names.

    An event that a list lacks has the rank behind all, which all that it lacks share.

    Args:
        reference: The events in their order, without duplicates.
        said: What was said, in its order; each reference event at most once.

    Raises:
        ValueError: The reference is empty or holds an event twice.
    """
    if not reference or len(set(reference)) < len(reference):
        raise ValueError("the reference holds events, each once")
    matched = len(set(reference) & set(said))
    extra = sum(1 for event in said if event not in set(reference))
    precision = matched / (matched + extra) if matched + extra else 0.0
    recall = matched / len(reference)
    f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
    union = list(dict.fromkeys([*reference, *said]))
    tau = tau_b(_ranks(reference, union), _ranks(said, union))
    norm = None if tau is None else (tau + 1) / 2
    return Ordering(precision, recall, f1, tau, norm, None if norm is None else norm * f1)


def _ranks(events: Sequence[str], union: Sequence[str]) -> list[float]:
    place = {event: float(rank) for rank, event in enumerate(events, 1)}
    return [place.get(event, float(len(union) + 1)) for event in union]
