"""Two-level factorial designs, whole or a fraction, and what each can tell apart.

A cell says of each factor whether it is on (+1) or off (-1). The effect of a set of factors `T` is
`2/N * sum over the N cells of v * product of the signs of T`: the change that a factor makes, on
average over the settings of the others; for two or more factors, half the change that one makes to
the effect of the rest (Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, 2005,
chapter 5). Two levels only: that is what gives every factor one effect and one share.

A fraction (ibid., chapter 6) sets some factors by generators, `d = a * b * c`. Each generator is a
word (a, b, c, d) whose product of signs is the same in every cell, and so is each product of words.
An effect cannot be told from its aliases: those whose factors differ from its own by a word.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Literal

import msgspec

from memruler.errors import UsageError

__all__ = [
    "MOST_CELLS",
    "Contrast",
    "Design",
    "Term",
    "contrasts",
    "fractional_design",
    "full_design",
    "parse_generator",
]

MOST_CELLS = 256
"""Cells of a design; more are no ablation but a search."""

_MOST_FACTORS = 12
"""Factors of a design; there are 2**n effects to sort by their aliases."""

_LEAST_RESOLUTION = 3


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """A product of factors, as one effect is the alias of another.

    Attributes:
        factors: In the order of the design; at least one.
        sign: -1 where it counts against.
    """

    factors: tuple[str, ...]
    sign: Literal[1, -1] = 1

    def __str__(self) -> str:
        return ("-" if self.sign < 0 else "") + " x ".join(self.factors)


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """Which cells are measured.

    Attributes:
        factors: Their names.
        cells: The factors that are on in each cell, the first free factor changing fastest.
        words: Products that have one sign in every cell; none where the design is whole.
        resolution: Factors in the shortest word; at 3 a factor is aliased with pairs, at 4 with
            triples, at 5 with fours. None where the design is whole.
    """

    factors: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    words: tuple[Term, ...] = ()
    resolution: int | None = None

    def aliases(self, *effect: str) -> tuple[Term, ...]:
        """What the effect of these factors cannot be told from, fewest factors first."""
        found = []
        for word in self.words:
            others = set(word.factors) ^ set(effect)
            if others:
                found.append(Term(factors=self.sorted(others), sign=word.sign))
        places = {name: at for at, name in enumerate(self.factors)}
        return tuple(
            sorted(found, key=lambda t: (len(t.factors), [places[name] for name in t.factors]))
        )

    def sorted(self, names: set[str]) -> tuple[str, ...]:
        """These factors in the order of the design."""
        return tuple(name for name in self.factors if name in names)


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of an effect and its aliases: all that the cells tell of either.

    Attributes:
        factors: Of the effect with the fewest factors among them.
        effect: Its size, in the unit of the values.
        aliases: The others; none in a whole design.
    """

    factors: tuple[str, ...]
    effect: Fraction
    aliases: tuple[Term, ...]


def full_design(factors: Sequence[str]) -> Design:
    """Every combination of on and off.

    Raises:
        UsageError: There are too few or too many factors, or a name comes twice.
    """
    return fractional_design(factors, ())


def parse_generator(text: str) -> Term:
    """Read `d = a * b * c` or `d = -a * b * c` as the word of d, a, b and c.

    Raises:
        UsageError: It is not of that form.
    """
    left, equals, right = (part.strip() for part in text.partition("="))
    minus = right.startswith("-")
    names = [left, *(name.strip() for name in right.removeprefix("-").split("*"))]
    if not equals or not all(names):
        raise UsageError(
            "a generator is written `d = a * b * c`, with names of factors", where=text
        )
    return Term(factors=tuple(names), sign=-1 if minus else 1)


def fractional_design(factors: Sequence[str], generators: Sequence[Term]) -> Design:
    """The combinations in which every generator holds.

    Args:
        factors: Their names; from 2 to 12.
        generators: From `parse_generator`: the factor that is set, then those that set it.

    Raises:
        UsageError: A name is unknown or comes twice, a factor is set by itself or by another that
            is set, there are too few factors or too many factors or cells, or two factors could
            not be told from each other.
    """
    names = tuple(factors)
    if len(names) < 2 or len(set(names)) != len(names):  # noqa: PLR2004 - two to tell apart
        raise UsageError(
            "a factorial design needs two or more factors, each once", where=", ".join(names)
        )
    if len(names) > _MOST_FACTORS:
        raise UsageError(
            f"{len(names)} factors, more than {_MOST_FACTORS}",
            hint="let one factor set several things together",
        )
    by_factor = _by_factor(names, generators)
    free = [name for name in names if name not in by_factor]
    if len(free) >= MOST_CELLS.bit_length():
        raise UsageError(
            f"{len(free)} free factors make {2 ** len(free)} cells, more than {MOST_CELLS}",
            hint="leave some out, or take a fraction of the design",
        )
    cells = []
    for bits in range(2 ** len(free)):
        on = {name for at, name in enumerate(free) if bits >> at & 1}
        on |= {
            name for name, word in by_factor.items() if word.sign * _sign(on, word.factors[1:]) == 1
        }
        cells.append(tuple(name for name in names if name in on))
    words = tuple(_words(names, tuple(by_factor.values())))
    shortest = min((len(word.factors) for word in words), default=None)
    if shortest is not None and shortest < _LEAST_RESOLUTION:
        worst = next(word for word in words if len(word.factors) == shortest)
        raise UsageError(
            f"the generators cannot tell {' from '.join(worst.factors)}",
            hint="give each generator other factors; a resolution of 3 or more is needed",
        )
    return Design(factors=names, cells=tuple(cells), words=words, resolution=shortest)


def contrasts(design: Design, values: Sequence[Fraction]) -> tuple[Contrast, ...]:
    """Every effect, or sum of aliased effects, that the cells tell; fewest factors first.

    Args:
        design: Which cells there are.
        values: One a cell, in its order.
    """
    if len(values) != len(design.cells):
        raise UsageError(f"{len(values)} values for {len(design.cells)} cells")
    rest, found = _terms(design.factors), []
    known: set[tuple[str, ...]] = {word.factors for word in design.words}
    for effect in rest:
        if effect in known:
            continue
        aliases = design.aliases(*effect)
        known |= {effect, *(alias.factors for alias in aliases)}
        total = sum(
            (_sign(set(cell), effect) * value)
            for cell, value in zip(design.cells, values, strict=True)
        )
        size = Fraction(2 * total) / len(values)
        found.append(Contrast(factors=effect, effect=size, aliases=aliases))
    return tuple(found)


def _sign(on: set[str], factors: Sequence[str]) -> int:
    return prod(1 if name in on else -1 for name in factors)


def _terms(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every set of factors but the empty one, fewest first."""
    masks = sorted(range(1, 2 ** len(names)), key=lambda mask: (mask.bit_count(), _bits(mask)))
    for mask in masks:
        yield tuple(names[at] for at in _bits(mask))


def _bits(mask: int) -> list[int]:
    return [at for at in range(mask.bit_length()) if mask >> at & 1]


def _by_factor(names: tuple[str, ...], generators: Sequence[Term]) -> dict[str, Term]:
    found: dict[str, Term] = {}
    for word in generators:
        text = f"{word.factors[0]} = {Term(factors=word.factors[1:], sign=word.sign)}"
        for name in word.factors:
            if name not in names:
                raise UsageError(
                    f"a generator names no factor: {name}",
                    where=text,
                    hint=f"the factors are {', '.join(names)}",
                )
        if len(set(word.factors)) != len(word.factors) or word.factors[0] in found:
            raise UsageError("a generator names a factor twice, or sets it again", where=text)
        found[word.factors[0]] = word
    for name, word in found.items():
        if set_too := [other for other in word.factors[1:] if other in found]:
            raise UsageError(
                f"{name} is set by {set_too[0]}, which a generator sets itself",
                hint="use factors that no generator sets on the right-hand side",
            )
    return found


def _words(names: tuple[str, ...], generators: tuple[Term, ...]) -> Iterator[Term]:
    """Every product of one or more generators, shortest first."""
    products: list[tuple[frozenset[str], int]] = [(frozenset(), 1)]
    for word in generators:
        products += [(own ^ set(word.factors), sign * word.sign) for own, sign in products]
    terms = [
        Term(factors=tuple(name for name in names if name in own), sign=1 if sign > 0 else -1)
        for own, sign in products[1:]
    ]
    yield from sorted(terms, key=lambda term: len(term.factors))
