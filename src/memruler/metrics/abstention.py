"""How well something knows that it does not know; pure.

The positive case is a query without an answer, and the positive verdict is to refuse. `TP` are
refused queries without an answer, `FP` refused ones with one, `FN` and `TN` the answered ones.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Refusals", "Sweep", "auroc", "held_out", "sweep"]

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]


class Refusals(msgspec.Struct, frozen=True):
    """Who refused what.

    Attributes:
        refused_unanswerable: TP.
        unanswerable: TP + FN.
        refused_answerable: FP.
        answerable: FP + TN.
    """

    refused_unanswerable: int
    unanswerable: int
    refused_answerable: int
    answerable: int

    @property
    def refused(self) -> int:
        """TP + FP."""
        return self.refused_unanswerable + self.refused_answerable

    @property
    def precision(self) -> float | None:
        """TP / (TP + FP); None where nothing was refused."""
        return self.refused_unanswerable / self.refused if self.refused else None

    @property
    def recall(self) -> float | None:
        """TP / (TP + FN); None where every query has an answer."""
        return self.refused_unanswerable / self.unanswerable if self.unanswerable else None

    @property
    def over_refusal(self) -> float | None:
        """FP / (FP + TN); None where no query has an answer."""
        return self.refused_answerable / self.answerable if self.answerable else None

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN); None where nothing is positive and nothing was refused."""
        whole = self.refused + self.unanswerable
        return 2 * self.refused_unanswerable / whole if whole else None

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean of recall and of 1 - over-refusal; None where either has no denominator."""
        if self.recall is None or self.over_refusal is None:
            return None
        return (self.recall + 1 - self.over_refusal) / 2

    @property
    def youden(self) -> float | None:
        """J = recall - over-refusal, -1 to 1; None likewise. Source: Youden, Cancer 3 (1950)."""
        if self.recall is None or self.over_refusal is None:
            return None
        return self.recall - self.over_refusal


def auroc(scores: _Floats, answerable: _Bools) -> float | None:
    """How often a query with an answer has the higher score than one without; ties count half.

    `AUROC = (R - n (n + 1) / 2) / (n m)`, R being the sum of the mid-ranks of the n queries with an
    answer among all n + m: the Mann-Whitney U over n m. Source: Hanley and McNeil, Radiology 143
    (1982).

    Args:
        scores: No NaN; minus infinity stands for a query that nothing was returned to [Q].
        answerable: Whether a query has an answer [Q].

    Returns:
        0 to 1; None where either kind is missing.
    """
    has = int(answerable.sum())
    lacks = len(answerable) - has
    if not has or not lacks:
        return None
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    ranks = float(middle[place][answerable].sum())  # halves of whole numbers: exact
    return (ranks - has * (has + 1) / 2) / (has * lacks)


class Sweep(msgspec.Struct, frozen=True, eq=False):
    """What a threshold would have refused: every query whose score is below it.

    Attributes:
        threshold: Every distinct finite score, ascending, and infinity, which refuses all [T].
        refused_unanswerable: TP of each [T].
        refused_answerable: FP of each [T].
        unanswerable, answerable: Of all queries.
    """

    threshold: _Floats
    refused_unanswerable: NDArray[np.int64]
    refused_answerable: NDArray[np.int64]
    unanswerable: int
    answerable: int

    def at(self, place: int) -> Refusals:
        """The counts of one threshold."""
        return Refusals(
            int(self.refused_unanswerable[place]),
            self.unanswerable,
            int(self.refused_answerable[place]),
            self.answerable,
        )

    def best(self) -> int | None:
        """The threshold with the largest Youden J; of several the lowest, which refuses least.

        None where either kind of query is missing.
        """
        if not self.unanswerable or not self.answerable:
            return None
        # In whole numbers, so that equal J are equal.
        return int(
            np.argmax(
                self.refused_unanswerable * self.answerable
                - self.refused_answerable * self.unanswerable
            )
        )


def sweep(scores: _Floats, answerable: _Bools) -> Sweep:
    """Try every threshold that makes a difference; see `auroc` for the arguments."""
    values, place = np.unique(scores, return_inverse=True)
    return _swept(values, place, answerable, np.ones(len(scores), np.bool_))


def _swept(values: _Floats, place: NDArray[np.intp], answerable: _Bools, keep: _Bools) -> Sweep:
    has = np.bincount(place[answerable & keep], minlength=len(values))
    lacks = np.bincount(place[~answerable & keep], minlength=len(values))
    seen = has + lacks > 0  # a threshold must not come from what is left out
    values, has, lacks = values[seen], has[seen], lacks[seen]
    zero = np.zeros(1, np.int64)
    # What has minus infinity is refused whatever the threshold is, so that is none.
    first = int(len(values) > 0 and np.isneginf(values[0]))
    return Sweep(
        threshold=np.append(values, np.inf)[first:],
        refused_unanswerable=np.concatenate([zero, np.cumsum(lacks)])[first:],
        refused_answerable=np.concatenate([zero, np.cumsum(has)])[first:],
        unanswerable=int(lacks.sum()),
        answerable=int(has.sum()),
    )


def held_out(
    scores: _Floats, answerable: _Bools, cluster: NDArray[np.integer]
) -> tuple[NDArray[np.int8], _Floats]:
    """Refuse in each cluster by the threshold that is best in all the others.

    Args:
        scores: See `auroc` [Q].
        answerable: Likewise [Q].
        cluster: What is left out together: the conversation [Q].

    Returns:
        Whether each query is refused: 1, 0, or -1 where the other clusters lack one kind of
        query and so have no best threshold [Q]; and the thresholds, one a cluster that has one.
    """
    verdict = np.full(len(scores), -1, np.int8)
    values, place = np.unique(scores, return_inverse=True)
    thresholds = []
    for one in np.unique(cluster):
        mine = cluster == one
        others = _swept(values, place, answerable, ~mine)
        best = others.best()
        if best is None:
            continue
        limit = float(others.threshold[best])
        thresholds.append(limit)
        verdict[mine] = scores[mine] < limit
    return verdict, np.array(thresholds)
