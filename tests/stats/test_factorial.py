from fractions import Fraction
from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats.factorial import (
    Term,
    contrasts,
    fractional_design,
    full_design,
    parse_generator,
)

HALF = parse_generator("d = a * b * c")


def test_a_whole_design_has_every_cell_in_standard_order():
    design = full_design(["a", "b"])
    assert design.cells == ((), ("a",), ("b",), ("a", "b"))
    assert (design.words, design.resolution) == ((), None)
    assert design.aliases("a") == ()


@pytest.mark.parametrize("n", range(2, 9))
def test_a_whole_design_has_two_to_the_n_cells(n):
    cells = full_design([f"f{i}" for i in range(n)]).cells
    assert len(set(cells)) == 2**n


def test_a_half_of_four_factors():
    # The 2^(4-1) design of Box, Hunter and Hunter, chapter 6: I = ABCD, resolution IV.
    design = fractional_design(["a", "b", "c", "d"], [HALF])
    assert [str(word) for word in design.words] == ["a x b x c x d"]
    assert design.resolution == 4
    assert len(design.cells) == 8
    assert all(prod(1 if f in cell else -1 for f in "abcd") == 1 for cell in design.cells)
    assert {(), ("a", "b", "c", "d")} <= set(design.cells)
    assert [str(alias) for alias in design.aliases("a")] == ["b x c x d"]
    assert [str(alias) for alias in design.aliases("a", "b")] == ["c x d"]


def test_a_sixteenth_of_seven_factors():
    # The saturated 2^(7-4) of the same chapter: D = AB, E = AC, F = BC, G = ABC, resolution III.
    texts = ("d = a * b", "e = a * c", "f = b * c", "g = a * b * c")
    design = fractional_design(list("abcdefg"), [parse_generator(text) for text in texts])
    assert (len(design.cells), design.resolution, len(design.words)) == (8, 3, 15)
    pairs = [str(alias) for alias in design.aliases("a") if len(alias.factors) == 2]
    assert pairs == ["b x d", "c x e", "f x g"]


def test_a_minus_takes_the_other_half():
    plus = fractional_design(list("abcd"), [HALF])
    minus = fractional_design(list("abcd"), [parse_generator("d = -a * b * c")])
    assert set(plus.cells).isdisjoint(minus.cells)
    assert set(plus.cells) | set(minus.cells) == set(full_design("abcd").cells)
    assert minus.aliases("a") == (Term(factors=("b", "c", "d"), sign=-1),)
    assert str(minus.aliases("a")[0]) == "-b x c x d"


def test_the_effects_of_two_factors_by_hand():
    # Box, Hunter and Hunter's definition: A is the mean change, AB half the change of A's effect.
    found = {c.factors: c.effect for c in contrasts(full_design("ab"), [0, 1, 2, 5])}
    assert found == {("a",): 2, ("b",): 3, ("a", "b"): 1}


values = st.lists(st.integers(-9, 9), min_size=16, max_size=16)


@given(values)
def test_a_half_tells_the_sum_of_each_effect_and_its_alias(whole):
    full = full_design("abcd")
    known = {c.factors: c.effect for c in contrasts(full, whole)}
    for text in ("d = a * b * c", "d = -a * b * c", "d = a * b"):
        half = fractional_design("abcd", [parse_generator(text)])
        at = {cell: value for cell, value in zip(full.cells, whole, strict=True)}  # noqa: C416
        found = contrasts(half, [at[cell] for cell in half.cells])
        for effect in found:
            aliased = sum(alias.sign * known[alias.factors] for alias in effect.aliases)
            assert effect.effect == known[effect.factors] + aliased
        told = [effect.factors for effect in found]
        told += [alias.factors for effect in found for alias in effect.aliases]
        words = {word.factors for word in half.words}
        every = {c for size in range(1, 5) for c in combinations("abcd", size)}
        assert sorted(told) == sorted(every - words)


@given(values)
def test_a_whole_design_gives_every_value_back(whole):
    design = full_design("abcd")
    mean = Fraction(sum(whole), 16)
    effects = contrasts(design, whole)
    for cell, value in zip(design.cells, whole, strict=True):
        signs = (prod(1 if f in cell else -1 for f in e.factors) for e in effects)
        assert mean + sum(s * e.effect / 2 for s, e in zip(signs, effects, strict=True)) == value


@pytest.mark.parametrize(
    ("factors", "generators", "message"),
    [
        (["a"], [], "two or more factors"),
        (["a", "a"], [], "two or more factors"),
        ([f"f{i}" for i in range(9)], [], "512 cells, more than 256"),
        ([f"f{i}" for i in range(13)], [], "13 factors, more than 12"),
        (["a", "b", "c"], ["c = a * x"], "names no factor: x"),
        (["a", "b", "c"], ["c = a * c"], "names a factor twice"),
        (["a", "b", "c"], ["c = a * b", "c = a * b"], "sets it again"),
        (["a", "b", "c", "d"], ["c = a * b", "d = a * c"], "d is set by c"),
        (["a", "b", "c"], ["c = a"], "cannot tell a from c"),
        (["a", "b", "c", "d", "e"], ["d = a * b * c", "e = a * b * c"], "cannot tell d from e"),
    ],
)
def test_a_design_that_cannot_be(factors, generators, message):
    with pytest.raises(UsageError, match=message):
        fractional_design(factors, [parse_generator(text) for text in generators])


@pytest.mark.parametrize("text", ["", "d", "d =", "= a * b", "d = a * ", "d = a ** b", "d = - "])
def test_a_generator_that_is_none(text):
    with pytest.raises(UsageError, match="a generator is written"):
        parse_generator(text)


def test_values_that_do_not_fit():
    with pytest.raises(UsageError, match="3 values for 4 cells"):
        contrasts(full_design("ab"), [1, 2, 3])
