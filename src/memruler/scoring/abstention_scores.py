"""A threshold on the scores of a search: below it a memory would say that it does not know."""

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import Refusal
from memruler.metrics.abstention import Sweep, auroc, held_out, sweep
from memruler.model.abstention import HeldOut, RetrievalAbstention, Signal, SweepPoint
from memruler.scoring.abstention_counts import by_category, counts, tally

__all__ = ["Asked", "retrieval_abstention", "signal_of"]

_POINTS = 21
_FOLDS = 2
_HINT = "measure a system that gives each hit its own score"


class Asked(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Every query of a run that was asked.

    Attributes:
        answerable: Whether it has an answer [Q].
        category: Names [Q].
        cluster: Position of its conversation [Q].
        scores: Of its hits by rank, None where the system gave none [Q].
        failed: Whether its search failed [Q].
    """

    answerable: NDArray[np.bool_]
    category: Sequence[str]
    cluster: NDArray[np.int64]
    scores: Sequence[Sequence[float | None]]
    failed: NDArray[np.bool_]


def signal_of(scores: Sequence[float | None], signal: Signal, k: int) -> float | str:
    """The one number that stands for a ranking, or why there is none.

    Minus infinity where nothing was returned: a memory that has nothing to say refuses whatever the
    threshold is.

    Args:
        scores: By rank.
        signal: What is looked at.
        k: Depth of `mean`.
    """
    depth = {"top1": 1, "margin": 2, "mean": k}[signal]
    known = [score for score in scores[:depth] if score is not None]
    if not scores:
        return -np.inf
    if len(known) < min(len(scores), depth):
        return "a hit has no score"
    if not np.isfinite(known).all():
        return "a score is not finite"
    if signal == "margin":
        return known[0] - known[1] if len(known) > 1 else "one hit alone has no margin"
    return float(np.mean(known))


def retrieval_abstention(asked: Asked, signal: Signal, k: int) -> RetrievalAbstention:
    """Sweep a threshold over the signal of every query.

    Args:
        asked: The queries.
        signal: What of the scores is looked at.
        k: Depth of `mean`.

    Raises:
        Refusal: There is no signal, it is the same everywhere, or one kind of query is missing.
    """
    found = [
        "search_failed" if failed else signal_of(scores, signal, k)
        for scores, failed in zip(asked.scores, asked.failed.tolist(), strict=True)
    ]
    unscored = Counter(one for one in found if isinstance(one, str))
    kept = np.array([not isinstance(one, str) for one in found], np.bool_)
    values = np.array([one for one in found if not isinstance(one, str)], np.float64)
    answerable, cluster = asked.answerable[kept], asked.cluster[kept]
    names = [name for name, keep in zip(asked.category, kept.tolist(), strict=True) if keep]
    area, swept = _measurable(values, answerable, unscored)
    place = swept.best()
    assert place is not None  # noqa: S101 - both kinds are there
    best = _point(swept, place)
    limit = swept.threshold[place]
    held, why = _held_out(values, answerable, cluster)
    return RetrievalAbstention(
        signal=signal,
        k=k,
        queries=len(values),
        empty=int(np.isneginf(values).sum()),
        unscored=dict(sorted(unscored.items())),
        auroc=area,
        distinct=len(swept.threshold) - 1,
        best=best,
        held_out=held,
        no_held_out=why,
        sweep=_some(swept),
        categories=by_category(names, values < limit, answerable),
    )


def _measurable(
    values: NDArray[np.float64], answerable: NDArray[np.bool_], unscored: Counter[str]
) -> tuple[float, Sweep]:
    if not len(values):
        told = ", ".join(f"{number} queries: {why}" for why, number in sorted(unscored.items()))
        raise Refusal([f"no query has a signal ({told or 'there are none'})"], hint=_HINT)
    area = auroc(values, answerable)
    if area is None:
        lacking = "without" if answerable.all() else "with"
        raise Refusal(
            [f"none of {len(values)} queries is one {lacking} an answer"],
            hint="measure a corpus that has both kinds, such as locomo",
        )
    if (values == values[0]).all():
        raise Refusal(
            [f"the signal is the same in all {len(values)} queries: no threshold parts them"],
            hint=_HINT,
        )
    return area, sweep(values, answerable)


def _point(swept: Sweep, place: int) -> SweepPoint:
    found = swept.at(place)
    return SweepPoint(
        threshold=_finite(swept.threshold[place]), counts=counts("all", found), youden=found.youden
    )


def _finite(threshold: float) -> float | None:
    """None for the threshold that refuses all."""
    return float(threshold) if np.isfinite(threshold) else None


def _some(swept: Sweep) -> tuple[SweepPoint, ...]:
    """Thresholds evenly by the number of queries that they refuse; the ends are among them."""
    refused = swept.refused_unanswerable + swept.refused_answerable
    aims = np.linspace(refused[0], refused[-1], _POINTS)
    places = np.unique(np.searchsorted(refused, aims))
    return tuple(_point(swept, place) for place in places.tolist())


def _held_out(
    values: NDArray[np.float64], answerable: NDArray[np.bool_], cluster: NDArray[np.int64]
) -> tuple[HeldOut | None, str | None]:
    clusters = len(np.unique(cluster))
    if clusters < _FOLDS:
        return None, "there is one conversation, so none can be left out"
    verdict, thresholds = held_out(values, answerable, cluster)
    judged = verdict >= 0
    if not judged.any():
        return None, "no conversation's threshold can be chosen on the others"
    return (
        HeldOut(
            folds=len(thresholds),
            of=clusters,
            skipped=int((~judged).sum()),
            lowest=_finite(thresholds.min()),
            highest=_finite(thresholds.max()),
            counts=counts("all", tally(verdict[judged] == 1, answerable[judged])),
        ),
        None,
    )
