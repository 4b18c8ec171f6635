"""Latency of two runs, paired question by question."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from memruler.errors import Refusal
from memruler.scoring.timing import Searches, searches
from memruler.stats.bootstrap import paired_bootstrap
from memruler.store.folder import RunFolder
from memruler.studies.ab_record import AbLatency
from memruler.studies.ab_turns import a_is_first

__all__ = ["paired_latency"]

_ALONE = "not asked of both in turns"


class _Search(NamedTuple):
    ms: float
    failed: bool
    first: bool


def paired_latency(
    a: RunFolder, b: RunFolder, together: Collection[int], *, seed: int
) -> AbLatency:
    """The differences of latency, B less A.

    A question has one where both sides were asked in turns, neither failed, and for neither it was
    the first of its category, which is warm-up.

    Args:
        a: The sealed run of the baseline.
        b: That of the candidate, over the same questions.
        together: Positions of the instances that both went through in turns.
        seed: Of the interval.
    """
    one, other = _by_question(searches(a)), _by_question(searches(b))
    left_out: Counter[str] = Counter()
    deltas: list[float] = []
    clusters: list[int] = []
    a_first = 0
    for question, left in one.items():
        right = other[question]
        reason = _left_out(left, right, together=question[0] in together)
        if reason is not None:
            left_out[reason] += 1
            continue
        deltas.append(right.ms - left.ms)
        clusters.append(question[0])
        a_first += a_is_first(*question)
    try:
        interval, why = paired_bootstrap(deltas, clusters, seed=seed) if deltas else None, None
    except Refusal as refusal:
        interval, why = None, refusal.reasons[0]
    return AbLatency(
        questions=len(deltas),
        median_ms=float(np.median(deltas)) if deltas else None,
        b_slower=sum(delta > 0 for delta in deltas),
        b_faster=sum(delta < 0 for delta in deltas),
        interval=interval,
        why=why if deltas else "no question has a difference",
        left_out=dict(left_out),
        a_first=a_first,
        b_first=len(deltas) - a_first,
    )


def _by_question(found: Searches) -> dict[tuple[int, int], _Search]:
    return dict(_rows(found))


def _rows(found: Searches) -> Iterator[tuple[tuple[int, int], _Search]]:
    places = zip(found.instances.tolist(), found.queries.tolist(), strict=True)
    each = zip(found.values.tolist(), found.failed.tolist(), found.first.tolist(), strict=True)
    for place, (ms, failed, first) in zip(places, each, strict=True):
        yield place, _Search(ms, failed, first)


def _left_out(a: _Search, b: _Search, *, together: bool) -> str | None:
    if a.failed or b.failed:
        return f"failed in {'both' if a.failed and b.failed else 'A' if a.failed else 'B'}"
    if a.first or b.first:
        return "warm-up"
    return None if together else _ALONE
