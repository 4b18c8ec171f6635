from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.deltas import macro, moved, paired_delta, verdict

BITS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)
FRACTIONS = st.integers(1, 9).flatmap(lambda d: st.integers(0, d).map(lambda n: Fraction(n, d)))


def delta(pairs, name="all"):
    return paired_delta("recall_all", ("session", 5), name, len(pairs), pairs)


@given(BITS)
def test_of_zeros_and_ones_the_delta_is_wins_minus_losses_to_the_last_bit(pairs):
    found = delta([(float(b), float(c)) for b, c in pairs])
    assert found.wins == pairs.count((0, 1))
    assert found.losses == pairs.count((1, 0))
    assert found.delta == (found.wins - found.losses) / len(pairs)


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=60))
def test_the_verdict_is_that_of_exact_fractions(pairs):
    found = delta([(float(b), float(c)) for b, c in pairs])
    exact = sum(c - b for b, c in pairs)
    wanted = "better" if exact > 0 else ("worse" if exact < 0 else "unchanged")
    assert verdict(found) == wanted
    assert abs(found.delta - float(exact / len(pairs))) < 1e-12


@given(BITS)
def test_swapping_the_runs_turns_the_sign(pairs):
    there = delta([(float(b), float(c)) for b, c in pairs])
    back = delta([(float(c), float(b)) for b, c in pairs])
    assert (back.delta, back.wins, back.losses) == (-there.delta, there.losses, there.wins)


def test_thirds_that_cancel_are_exactly_zero():
    third, two = 1 / 3, 2 / 3
    found = delta([(0.0, third), (third, two), (two, 0.0), (0.1, 0.3), (0.3, 0.1)])
    assert found.delta == 0
    assert verdict(found) == "unchanged"
    assert (found.wins, found.losses) == (3, 2)


def test_a_single_small_difference_is_no_rounding():
    pairs = [(0.5, 0.5)] * 10_000 + [(1 / 1000, 1 / 999)]
    assert verdict(delta(pairs)) == "better"


def test_a_query_moves_without_tolerance():
    assert moved(0.1 + 0.2, 0.3) == -1
    assert moved(0.5, 0.5) == 0
    assert moved(0.0, 1e-300) == 1


def test_macro_weighs_categories_alike():
    big = delta([(0.0, 1.0)] + [(0.0, 0.0)] * 9, "big")
    small = delta([(1.0, 0.0)], "small")
    found = macro({"big": big, "small": small})
    assert (found.categories, found.base, found.candidate) == (2, 0.5, 0.05)
    assert found.delta == (0.1 - 1) / 2
