"""Wilcoxon's signed-rank test of paired differences, and their means over tasks."""

from collections.abc import Hashable, Sequence
from math import erfc, fsum, sqrt
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from memruler.errors import UsageError
from memruler.stats.sums import Floats, Ints, as_columns, cluster_codes

__all__ = [
    "Ranks",
    "Wilcoxon",
    "Zeros",
    "as_column",
    "signed_ranks",
    "task_means",
    "wilcoxon_signed_rank",
]

Zeros = Literal["pratt", "wilcoxon"]

_MOST_STEPS = 2**24
"""Largest convolution, in additions: some 250 differences without ties, 4,096 all of one size; well
below a second."""
_SAME = 2.0**-40
"""Sizes closer than this share of the largest are tied: rounding must not tell them apart."""
_ROUNDING = 2.0**-50
"""What rounding may leave of differences that cancel on paper, as a share of the largest."""


class Wilcoxon(msgspec.Struct, frozen=True, kw_only=True):
    """The test of one column of differences.

    Attributes:
        plus: Sum of the ranks of the positive differences.
        minus: Sum of the ranks of the negative ones.
        n: Differences, zeros included.
        zeros: How many are zero.
        zero_method: `pratt` ranks zeros with the others and then drops them; `wilcoxon` drops them
            first.
        method: `exact`, or `normal` with the variance that ties leave, without a continuity
            correction.
        p: Two-sided.
        warnings: What a reader must know, one sentence each.
    """

    plus: float
    minus: float
    n: int
    zeros: int
    zero_method: Zeros
    method: Literal["exact", "normal"]
    p: float
    warnings: tuple[str, ...] = ()


class Ranks(NamedTuple):
    """Ranks of the differences that are not zero.

    Attributes:
        doubled: Twice the rank, so that ties at a half are whole numbers.
        signs: 1 or -1.
        zeros: How many differences are zero.
    """

    doubled: Ints
    signs: Ints
    zeros: int


def wilcoxon_signed_rank(deltas: ArrayLike, *, zeros: Zeros = "pratt") -> Wilcoxon:
    """Whether paired differences lean to one side, by their ranks.

    Sizes are ranked, ties share their mean rank, and `W+` is the sum of the positive ones' ranks.
    Were each sign a fair coin, `W+` would be a sum of independent terms, each 0 or its rank: its
    distribution is computed by convolution, ties included, up to some 250 differences (more with
    ties). Beyond, it is normal with mean `sum(r) / 2` and variance `sum(r^2) / 4`, which is the tie
    correction. `p = min(1, 2 min(P(W+ <= w), P(W+ >= w)))` (Wilcoxon, Individual comparisons by
    ranking methods, Biometrics Bulletin 1, 1945; zeros as in Pratt, Remarks on zeros and ties in
    the Wilcoxon signed rank procedures, JASA 54, 1959).

    The differences must be independent: reduce those of one task to their mean with `task_means`.

    Args:
        deltas: Candidate minus baseline, one a task; finite.
        zeros: How zeros are treated; see `Wilcoxon.zero_method`.

    Raises:
        UsageError: There are none, one is not finite, or `zeros` is unknown.

    Example:
        >>> found = wilcoxon_signed_rank([0.4, 0.3, -0.1, 0.2, 0.5, 0.0])
        >>> found.plus, found.minus, found.zeros, found.p
        (18.0, 2.0, 1, 0.125)
    """
    column = as_column(deltas)
    ranks = signed_ranks(column, zeros)
    plus = int(ranks.doubled[ranks.signs > 0].sum())
    total = int(ranks.doubled.sum())
    # In units of what all ranks share: with one size only, the sum is binomial.
    unit = int(np.gcd.reduce(ranks.doubled)) or 1
    exact = len(ranks.doubled) * (total // unit) <= _MOST_STEPS
    return Wilcoxon(
        plus=plus / 2,
        minus=(total - plus) / 2,
        n=len(column),
        zeros=ranks.zeros,
        zero_method=zeros,
        method="exact" if exact else "normal",
        p=_exact_p(ranks.doubled // unit, plus // unit)
        if exact
        else _normal_p(ranks.doubled, plus),
        warnings=() if total else ("every difference is zero: there is nothing to test",),
    )


def as_column(deltas: ArrayLike) -> Floats:
    """One column of differences, checked.

    Args:
        deltas: At least one, finite.

    Raises:
        UsageError: There are none, or more than one column, or one is not finite.
    """
    columns = as_columns(deltas)
    if columns.shape[1] != 1 or not len(columns):
        raise UsageError("there is no column of differences", hint="give a list of at least one")
    return columns[:, 0]


def signed_ranks(column: Floats, zeros: Zeros) -> Ranks:
    """Ranks and signs of the differences that are not zero, in their order.

    Args:
        column: Shape (items,), finite.
        zeros: See `Wilcoxon.zero_method`.

    Raises:
        UsageError: `zeros` is unknown.
    """
    if zeros not in ("pratt", "wilcoxon"):
        raise UsageError(f"{zeros!r} is no way to treat zeros", hint="pratt or wilcoxon")
    size = np.abs(column)
    near = _SAME * size.max()
    zero = size <= near
    kept = size if zeros == "pratt" else size[~zero]
    order = np.argsort(kept, kind="stable")
    steps = np.diff(kept[order], prepend=0.0) > near
    group = np.cumsum(steps)  # in Pratt's ranking the zeros are group 0
    _, first, length = np.unique(group, return_index=True, return_counts=True)
    doubled = np.empty(len(kept), np.int64)
    # Ranks first + 1 to first + length have the mean first + (length + 1) / 2.
    doubled[order] = np.repeat(2 * first + length + 1, length)
    if zeros == "pratt":
        doubled = doubled[~zero]
    return Ranks(doubled, np.sign(column[~zero]).astype(np.int64), int(zero.sum()))


def task_means(
    deltas: ArrayLike, tasks: Sequence[Hashable] | NDArray[Any]
) -> dict[Hashable, float]:
    """The mean difference of each task, so that a task with many items weighs as much as any.

    Args:
        deltas: Candidate minus baseline, one an item; finite.
        tasks: The name of each item's task.

    Returns:
        Means by task, in the order in which tasks first appear. A sum that cancels but for
        rounding is exactly 0.

    Raises:
        UsageError: A difference is not finite, an item has no task, or the numbers differ.

    Example:
        >>> task_means([1.0, 0.0, 1.0, -1.0], ["a", "a", "b", "b"])
        {'a': 0.5, 'b': 0.0}
    """
    column = as_column(deltas)
    names = tasks.tolist() if isinstance(tasks, np.ndarray) else list(tasks)
    cluster_codes(names, len(column))  # refuses what is no name
    members: dict[Hashable, list[float]] = {}
    for name, delta in zip(names, column.tolist(), strict=True):
        members.setdefault(name, []).append(delta)
    return {name: _mean(values) for name, values in members.items()}


def _mean(values: list[float]) -> float:
    total = fsum(values)
    noise = _ROUNDING * len(values) * max(map(abs, values))
    return 0.0 if abs(total) <= noise else total / len(values)


def _exact_p(ranks: Ints, plus: int) -> float:
    """Both tails of the sum of independent terms, each 0 or its rank with probability 1/2."""
    mass = np.zeros(int(ranks.sum()) + 1)
    mass[0] = 1.0
    for rank in ranks.tolist():
        mass[rank:] = (mass[rank:] + mass[:-rank]) / 2
        mass[:rank] /= 2
    return min(1.0, 2 * float(min(mass[: plus + 1].sum(), mass[plus:].sum())))


def _normal_p(doubled: Ints, plus: int) -> float:
    ranks = doubled / 2
    z = (plus / 2 - ranks.sum() / 2) / sqrt(float((ranks**2).sum()) / 4)
    return erfc(abs(float(z)) / sqrt(2))
