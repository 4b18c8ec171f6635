"""The best one-to-one assignment, for lists that may stand in any order."""

from collections.abc import Sequence
from math import inf

__all__ = ["best_total"]


def best_total(worth: Sequence[Sequence[float]]) -> float:  # noqa: C901 - one known algorithm
    """The largest sum over pairings of rows with columns, each used at most once.

    The Hungarian method (Kuhn 1955, in the shortest-path form of Jonker and Volgenant 1987), in
    O(rows^2 columns).

    Args:
        worth: One row each, all of one length; numbers from 0 up.

    Example:
        >>> best_total([[1.0, 0.5], [1.0, 0.0]])
        1.5
    """
    if not worth or not worth[0]:
        return 0.0
    if len(worth) > len(worth[0]):
        worth = [list(column) for column in zip(*worth, strict=True)]
    rows, columns = len(worth), len(worth[0])
    left, right = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner, way = [0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0], at = row, 0
        least, used = [inf] * (columns + 1), [False] * (columns + 1)
        while owner[at]:
            used[at] = True
            here, step, following = owner[at], inf, 0
            for column in range(1, columns + 1):
                if used[column]:
                    continue
                cost = -worth[here - 1][column - 1] - left[here] - right[column]
                if cost < least[column]:
                    least[column], way[column] = cost, at
                if least[column] < step:
                    step, following = least[column], column
            for column in range(columns + 1):
                if used[column]:
                    left[owner[column]] += step
                    right[column] -= step
                else:
                    least[column] -= step
            at = following
        while at:
            owner[at], at = owner[way[at]], way[at]
    return sum(
        worth[owner[column] - 1][column - 1] for column in range(1, columns + 1) if owner[column]
    )
