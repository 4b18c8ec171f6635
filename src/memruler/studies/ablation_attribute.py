"""From the scores of the cells to what each factor accounts for."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import fsum

from memruler.compare.deltas import moved
from memruler.compare.load import QueryKey
from memruler.errors import Refusal
from memruler.metrics.names import MetricName
from memruler.stats.factorial import Contrast, Design, contrasts
from memruler.stats.shapley import interaction_indices, shares
from memruler.studies.ablation_record import (
    Attribution,
    ContrastResult,
    FactorResult,
    Interaction,
    Move,
)
from memruler.studies.ablation_spec import Outcome

__all__ = ["attribute"]

_ROUNDING = 2.0**-50
"""A mean of fractions such as 1/3 has no exact binary form; what cancels on paper is zero."""

_Values = Mapping[QueryKey, float]


def attribute(
    outcome: Outcome,
    design: Design,
    values: Sequence[_Values],
    measured: Sequence[QueryKey],
    *,
    shared: bool,
) -> Attribution:
    """Attribute one mean to the factors.

    Args:
        outcome: Which mean.
        design: Its cells.
        values: Of each cell, the queries that count with their values.
        measured: Every query that could count.
        shared: Take the queries that count in all cells where those differ.

    Raises:
        Refusal: The cells do not count the same queries, or share none, or what they share says
            another thing than all measured queries with a missing list counted as a miss.
    """
    both = [key for key in measured if all(key in own for own in values)]
    uneven = any(len(own) != len(both) for own in values)
    _refuse_uneven(outcome, values, both, len(measured), shared=shared or not uneven)
    mine = _Table(design, [[own[key] for key in both] for own in values])
    floor = None
    if uneven:
        floor = _Table(design, [[own.get(key, 0.0) for key in measured] for own in values])
    name = MetricName.parse(outcome.metric)
    return Attribution(
        level=outcome.level,
        metric=name.metric,
        k=name.k,
        counted=len(both),
        of=len(measured),
        cell_counted=tuple(len(own) for own in values),
        values=tuple(map(float, mine.means)),
        total=mine.move((), design.factors),
        floor=None if floor is None else floor.move((), design.factors),
        moved=sum(any(moved(a, b) for b in rest) for a, *rest in zip(*mine.rows, strict=True)),
        factors=tuple(_factors(mine, floor)),
        interactions=tuple(_interactions(mine)),
        contrasts=tuple(_contrasts(mine)),
    )


class _Table:
    """Values of the same queries in every cell.

    Args:
        design: Its cells.
        rows: One list a cell.

    Attributes:
        means: The mean of each cell, as the number that it is: sums of these are exact.
        effects: Factors to their contrast.
    """

    def __init__(self, design: Design, rows: Sequence[Sequence[float]]) -> None:
        self.design, self.rows = design, rows
        self.means = [Fraction(fsum(row)) / len(row) for row in rows]
        self.effects: dict[tuple[str, ...], Contrast] = {
            found.factors: found for found in contrasts(design, self.means)
        }
        self._at = {frozenset(on): at for at, on in enumerate(design.cells)}

    def shares(self) -> dict[str, Fraction] | None:
        """Shapley shares; None for a fraction, which has none."""
        try:
            return shares(self.design, self.means)
        except Refusal:
            return None

    def pair(self, off: Sequence[str], on: Sequence[str]) -> tuple[int, int] | None:
        """Places of two cells, by the factors that are on; None if one is not there."""
        found = self._at.get(frozenset(off)), self._at.get(frozenset(on))
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def move(self, off: Sequence[str], on: Sequence[str]) -> Move | None:
        """From one cell to another."""
        pair = self.pair(off, on)
        if pair is None:
            return None
        ways = [moved(a, b) for a, b in zip(*(self.rows[at] for at in pair), strict=True)]
        return Move(
            delta=_number(self.means[pair[1]] - self.means[pair[0]]),
            wins=ways.count(1),
            losses=ways.count(-1),
        )

    def moved_by(self, name: str) -> int | None:
        """Queries that a factor moves beside some setting of the others."""
        pairs = [
            pair
            for on in self.design.cells
            if name not in on and (pair := self.pair(on, (*on, name))) is not None
        ]
        if not pairs:
            return None
        columns = list(zip(*self.rows, strict=True))
        return sum(any(moved(column[a], column[b]) for a, b in pairs) for column in columns)


def _factors(mine: _Table, floor: _Table | None) -> Iterator[FactorResult]:
    every = mine.design.factors
    own = mine.shares()
    low = None if floor is None else floor.shares()
    for name in every:
        main = mine.effects[(name,)]
        below = None
        if floor is not None:
            below = _number(floor.effects[(name,)].effect if low is None else low[name])
        yield FactorResult(
            name=name,
            share=None if own is None else _number(own[name]),
            main=_number(main.effect),
            alone=mine.move((), (name,)),
            last=mine.move([other for other in every if other != name], every),
            moved=mine.moved_by(name),
            aliases=tuple(map(str, main.aliases)),
            floor=below,
        )


def _interactions(mine: _Table) -> Iterator[Interaction]:
    if mine.design.words:
        return
    names = mine.design.factors
    for (i, j), index in interaction_indices(mine.means).items():
        yield Interaction(factors=(names[i], names[j]), index=_number(index))


def _contrasts(mine: _Table) -> Iterator[ContrastResult]:
    if not mine.design.words:
        return
    for effect in mine.effects.values():
        if len(effect.factors) > 1:
            yield ContrastResult(
                factors=effect.factors,
                effect=_number(effect.effect),
                aliases=tuple(map(str, effect.aliases)),
            )


def _refuse_uneven(
    outcome: Outcome, values: Sequence[_Values], both: Sequence[QueryKey], of: int, *, shared: bool
) -> None:
    if shared and both:
        return
    counts = sorted(len(own) for own in values)
    reach = f"from {counts[0]} to {counts[-1]} of {of} measured queries in a cell"
    what = f"{outcome.level} {outcome.metric}: no query counts in every cell ({reach})"
    hint = "leave this metric out, or choose a smaller cut-off"
    if both:
        what = (
            f"{outcome.level} {outcome.metric}: the cells do not count the same queries "
            f"({reach}, {len(both)} in every one)"
        )
        hint += ', or take the means over the queries that count in every cell: members = "shared"'
    raise Refusal([what], hint=hint)


def _number(exact: Fraction) -> float:
    found = float(exact)
    return 0.0 if abs(found) < _ROUNDING else found
