"""Holm's correction: a table of twenty slices must not sell its luckiest."""

from collections.abc import Mapping

import msgspec

from memruler.errors import UsageError
from memruler.stats.proportion import whole

__all__ = ["AdjustedP", "Holm", "holm"]


class AdjustedP(msgspec.Struct, frozen=True, kw_only=True):
    """One hypothesis.

    Attributes:
        name: What was tested.
        p: As it was given.
        adjusted: For a comparison with the error rate of the whole family; never below `p`.
        rank: Place among the p-values given, 1 for the smallest; equal ones in the order given.
    """

    name: str
    p: float
    adjusted: float
    rank: int


class Holm(msgspec.Struct, frozen=True, kw_only=True):
    """A family of hypotheses.

    Attributes:
        family: How many were tested, whether listed or not.
        rows: Those listed, in the order given.
    """

    family: int
    rows: tuple[AdjustedP, ...]

    def significant(self, alpha: float = 0.05) -> tuple[str, ...]:
        """Names that hold at a family-wise error rate of `alpha`, by rising p.

        Args:
            alpha: Between 0 and 1.
        """
        held = [row for row in self.rows if row.adjusted <= alpha]
        return tuple(row.name for row in sorted(held, key=lambda row: row.rank))


def holm(pvalues: Mapping[str, float], *, family: int | None = None) -> Holm:
    """Adjust p-values for how many were looked at.

    For the i-th smallest of `m`: `adjusted_i = max over j <= i of min(1, (m - j + 1) p_j)` (Holm, A
    simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6,
    1979). It bounds the chance of even one false finding, whatever the dependence of the tests.

    Args:
        pvalues: Name to p, from 0 to 1; at least one.
        family: How many hypotheses were tested, where some are not listed: those must all have
            greater p-values. None where all are listed.

    Raises:
        UsageError: There is no p-value, one is out of range, or the family is below their number.

    Example:
        >>> found = holm({"temporal": 0.01, "multi-hop": 0.04, "single-hop": 0.03})
        >>> [(row.name, row.adjusted) for row in found.rows]
        [('temporal', 0.03), ('multi-hop', 0.06), ('single-hop', 0.06)]
        >>> found.family, found.significant()
        (3, ('temporal',))
    """
    if not pvalues:
        raise UsageError("there are no p-values", hint="give at least one")
    given: Mapping[str, object] = pvalues
    for name, p in given.items():
        if not isinstance(p, int | float) or not 0 <= p <= 1:  # NaN lies nowhere
            raise UsageError(
                f"a p-value is {p!r}",
                where=name,
                hint="from 0 to 1; leave out what could not be tested",
            )
    number = len(pvalues)
    size = number if family is None else whole(family, "the family", number)
    order = sorted(pvalues, key=lambda name: pvalues[name])
    adjusted: dict[str, tuple[int, float]] = {}
    highest = 0.0
    for at, name in enumerate(order):
        highest = max(highest, min(1.0, (size - at) * float(pvalues[name])))
        adjusted[name] = (at + 1, highest)
    rows = tuple(
        AdjustedP(name=name, p=float(p), adjusted=adjusted[name][1], rank=adjusted[name][0])
        for name, p in pvalues.items()
    )
    return Holm(family=size, rows=rows)
