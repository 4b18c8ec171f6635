"""What each factor contributes to a total change: Shapley values over a whole factorial.

`v(S)` is the value of the cell in which exactly the factors `S` are on, `n` the number of factors.
Everything is a fraction of whole numbers, so the shares add up to the total exactly.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial, isfinite

from memruler.errors import Refusal, UsageError
from memruler.stats.factorial import Design

__all__ = ["interaction_indices", "shapley_values", "shares"]

Number = Fraction | float | int


def shapley_values(values: Sequence[Number]) -> tuple[Fraction, ...]:
    """The share of each factor in the change from all off to all on.

    `phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! * (v(S + i) - v(S))`: the change that
    factor `i` makes when it is switched on, averaged over all orders of switching the factors on
    (Shapley, A value for n-person games, Contributions to the Theory of Games 2, 1953). In the
    effects of a factorial it is the main effect, plus a third of each three-factor interaction
    that `i` is in, a fifth of each of five factors, and so on: interactions of an even number of
    factors move no share.

    Args:
        values: Of all 2**n cells; bit `i` of a cell's place says whether factor `i` is on.

    Returns:
        One share a factor; their sum is `values[-1] - values[0]`.

    Raises:
        UsageError: The number of values is no power of two, or a value is not finite.

    Example:
        Alone, the first adds 1 and the second 2; together they add 5.

        >>> [str(share) for share in shapley_values([0, 1, 2, 5])]
        ['2', '3']
    """
    cells, n = _cells(values)
    shares = []
    for i in range(n):
        gains = [Fraction(0)] * n
        for place, value in enumerate(cells):
            if not place >> i & 1:
                gains[place.bit_count()] += cells[place | 1 << i] - value
        weights = [factorial(s) * factorial(n - s - 1) for s in range(n)]
        total = sum((w * gain for w, gain in zip(weights, gains, strict=True)), Fraction(0))
        shares.append(total / factorial(n))
    return tuple(shares)


def interaction_indices(values: Sequence[Number]) -> dict[tuple[int, int], Fraction]:
    """How much more each pair of factors changes together than one by one.

    The Shapley interaction index of a pair: `I_ij = sum over S without i and j of
    |S|! (n - |S| - 2)! / (n - 1)! * (v(S + ij) - v(S + i) - v(S + j) + v(S))` (Grabisch and
    Roubens, An axiomatic approach to the concept of interaction among players in cooperative
    games, International Journal of Game Theory 28, 1999). Positive where the two help each
    other, negative where one does what the other has done already. Of two factors in all it is the
    change from one's effect alone to its effect beside the other.

    Args:
        values: See `shapley_values`.

    Returns:
        Places of the two factors to their index.

    Raises:
        UsageError: See `shapley_values`.

    Example:
        >>> [(pair, str(index)) for pair, index in interaction_indices([0, 1, 2, 5]).items()]
        [((0, 1), '2')]
    """
    cells, n = _cells(values)
    found = {}
    for i, j in combinations(range(n), 2):
        first, second = 1 << i, 1 << j
        total = Fraction(0)
        for place, value in enumerate(cells):
            if not place & (first | second):
                gain = cells[place | first | second] - cells[place | first]
                gain -= cells[place | second] - value
                size = place.bit_count()
                total += factorial(size) * factorial(n - size - 2) * gain
        found[i, j] = total / factorial(n - 1)
    return found


def shares(design: Design, values: Sequence[Number]) -> dict[str, Fraction]:
    """`shapley_values` of a design by the names of its factors; refused where it is a fraction.

    A share is a sum of effects with weights: 1 for the main effect of `i`, 1/|T| for each `T` of
    odd size that holds `i`, and 0 otherwise. A fraction tells only sums of an effect and all its
    aliases, so a share could be told only if these had weights of equal size. The main effect is
    alone in having the weight 1, so none of its aliases has.

    Args:
        design: Which cells there are.
        values: One a cell, in its order.

    Raises:
        Refusal: The design is a fraction.
        UsageError: See `shapley_values`.
    """
    if design.words:
        what = (
            f"{len(design.cells)} of {2 ** len(design.factors)} cells give no Shapley shares: a "
            "main effect is known only as one sum with its aliases"
        )
        raise Refusal(
            [what], hint="read the main effects beside their aliases, or measure the whole design"
        )
    return dict(zip(design.factors, shapley_values(values), strict=True))


def _cells(values: Sequence[Number]) -> tuple[list[Fraction], int]:
    number = len(values)
    if number < 2 or number & (number - 1):  # noqa: PLR2004 - the least that has a factor
        raise UsageError(
            f"{number} values are no whole factorial", hint="give 2**n of them, one for each cell"
        )
    if not all(isinstance(value, Fraction) or isfinite(value) for value in values):
        raise UsageError("the value of a cell is not finite", hint="measure every cell")
    return [Fraction(value) for value in values], number.bit_length() - 1
