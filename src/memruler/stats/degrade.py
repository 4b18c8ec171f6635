"""Makes a saved result worse by a known amount, so that a ruler can be asked whether it sees it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memruler.errors import Refusal, UsageError
from memruler.stats.sums import Floats, Ints

__all__ = ["choose", "degrade_rankings", "degrade_scores", "steps"]


def choose(candidates: ArrayLike, number: int, seed: int = 7) -> Ints:
    """Choose some of the candidates; more of them always include those chosen before.

    Args:
        candidates: Distinct numbers of rows.
        number: How many, from 1 to all of them.
        seed: Not negative. The same seed gives the same choice.

    Returns:
        In ascending order.

    Raises:
        Refusal: There are no candidates.
        UsageError: More are wanted than there are.
    """
    rows = np.asarray(candidates, np.int64)
    if not len(rows):
        raise Refusal(
            ["nothing can be made worse: no query has a hit to lose"],
            hint="take a run that finds something, or a deeper cut-off",
        )
    if not 1 <= number <= len(rows):
        raise UsageError(f"{number} of {len(rows)} candidates", hint=f"from 1 to {len(rows)}")
    # Raw bits: numpy promises them for good, and not its shuffling.
    order = np.argsort(np.random.PCG64(seed).random_raw(len(rows)), kind="stable")
    return np.sort(rows[order[:number]])


def steps(most: int) -> tuple[int, ...]:
    """Numbers from 1 to `most`, each twice the one before, and `most` itself."""
    return (*(2**power for power in range(max(most, 1).bit_length()) if 2**power < most), most)


def degrade_rankings(hits: Ints, gold: NDArray[np.bool_], rows: ArrayLike, stand_in: int) -> Ints:
    """Take every gold hit of some queries away, and leave something worthless in its place.

    The lists keep their lengths, so a query that had a value at a cut-off still has one.

    Args:
        hits: [Q, L], item of each rank.
        gold: [Q, L], whether it is gold.
        rows: Queries to be made worse.
        stand_in: Number of an item that earns no credit.

    Returns:
        A copy.

    Raises:
        UsageError: A query has no gold hit, or the two matrices do not fit.
    """
    if hits.shape != gold.shape:
        raise UsageError(f"hits are {hits.shape} and gold is {gold.shape}", hint="one flag a hit")
    chosen = np.asarray(rows, np.int64)
    for row in chosen.tolist():
        if not gold[row].any():
            raise UsageError("a query without a gold hit cannot be made worse", where=f"row {row}")
    worse = hits.copy()
    worse[chosen] = np.where(gold[chosen], stand_in, hits[chosen])
    return worse


def degrade_scores(values: ArrayLike, rows: ArrayLike) -> Floats:
    """Set the scores of some items to 0.

    Args:
        values: One score an item, each at least 0.
        rows: Items to be made worse; each has more than 0.

    Returns:
        A copy.

    Raises:
        UsageError: An item has nothing to lose.
    """
    worse = np.array(values, np.float64)
    chosen = np.asarray(rows, np.int64)
    if bool((worse[chosen] <= 0).any()):
        raise UsageError("an item with a score of 0 cannot be made worse")
    worse[chosen] = 0.0
    return worse
