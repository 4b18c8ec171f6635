import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats.factorial import contrasts, fractional_design, full_design, parse_generator
from memruler.stats.shapley import interaction_indices, shapley_values, shares

numbers = st.integers(-50, 50) | st.floats(-1, 1)


@st.composite
def games(draw, most=5):
    n = draw(st.integers(1, most))
    return draw(st.lists(numbers, min_size=2**n, max_size=2**n))


def by_orders(values):
    """The definition in words: the mean gain over all orders of switching on."""
    n = len(values).bit_length() - 1
    total = [Fraction(0)] * n
    for order in permutations(range(n)):
        at = 0
        for factor in order:
            total[factor] += Fraction(values[at | 1 << factor]) - Fraction(values[at])
            at |= 1 << factor
    return tuple(share / math.factorial(n) for share in total)


def test_two_factors_by_hand():
    # a alone +1 and beside b +3: (1 + 3) / 2; b alone +2 and beside a +4: (2 + 4) / 2.
    assert shapley_values([0, 1, 2, 5]) == (2, 3)
    assert interaction_indices([0, 1, 2, 5]) == {(0, 1): 2}


def test_the_glove_game():
    # One left glove (0) and two right ones (1, 2); a pair is worth 1: 4/6, 1/6, 1/6.
    worth = [0, 0, 0, 1, 0, 1, 0, 1]
    assert shapley_values(worth) == (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))
    # The other right glove is of no use: a substitute has a negative index.
    assert interaction_indices(worth)[1, 2] == Fraction(-1, 2)


@given(games())
def test_the_definition_by_orders(values):
    assert shapley_values(values) == by_orders(values)


@given(games())
def test_efficiency_to_the_last_bit(values):
    assert sum(shapley_values(values)) == Fraction(values[-1]) - Fraction(values[0])


@given(games(), st.data())
def test_a_dummy_gets_nothing_more_than_it_always_adds(values, data):
    add = data.draw(st.integers(-5, 5))
    exact = [Fraction(v) for v in values]
    wider = exact + [v + add for v in exact]
    found = shapley_values(wider)
    assert found[-1] == add
    assert found[:-1] == shapley_values(values)
    newest = len(found) - 1
    assert all(v == 0 for pair, v in interaction_indices(wider).items() if newest in pair)


@given(games(4), st.data())
def test_symmetry(values, data):
    n = len(values).bit_length() - 1
    order = data.draw(st.permutations(range(n)))
    renamed = [
        values[sum((place >> new & 1) << old for new, old in enumerate(order))]
        for place in range(2**n)
    ]
    found = shapley_values(values)
    assert shapley_values(renamed) == tuple(found[old] for old in order)


@given(st.data(), st.integers(1, 5))
def test_additivity(data, n):
    one, other = (
        data.draw(st.lists(st.integers(-50, 50), min_size=2**n, max_size=2**n)) for _ in range(2)
    )
    both = shapley_values([a + b for a, b in zip(one, other, strict=True)])
    apart = zip(shapley_values(one), shapley_values(other), strict=True)
    assert both == tuple(a + b for a, b in apart)


@given(st.lists(st.integers(-9, 9), min_size=16, max_size=16))
def test_a_share_is_the_odd_effects_divided_among_their_factors(values):
    # What the docstring says, and what the refusal of fractions rests on.
    effects = contrasts(full_design("abcd"), values)
    for name, share in shares(full_design("abcd"), values).items():
        odd = [e for e in effects if name in e.factors and len(e.factors) % 2]
        assert share == sum(e.effect / len(e.factors) for e in odd)


@given(st.lists(st.integers(-9, 9), min_size=4, max_size=4))
def test_of_two_factors_the_index_parts_alone_from_last(values):
    off, a, _, both = values
    share, index = shapley_values(values)[0], interaction_indices(values)[0, 1]
    assert share - index / 2 == a - off
    assert share + index / 2 == both - values[2]


def test_a_fraction_gives_no_shares():
    half = fractional_design("abcd", [parse_generator("d = a * b * c")])
    with pytest.raises(Refusal, match="8 of 16 cells give no Shapley shares"):
        shares(half, range(8))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "no whole factorial"),
        ([1], "no whole factorial"),
        ([1, 2, 3], "no whole factorial"),
        ([1, math.nan], "not finite"),
        ([1, math.inf], "not finite"),
    ],
)
@pytest.mark.parametrize("of", [shapley_values, interaction_indices])
def test_bad_values(of, values, message):
    with pytest.raises(UsageError, match=message):
        of(values)
