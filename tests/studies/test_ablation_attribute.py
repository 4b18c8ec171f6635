import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.load import QueryKey
from memruler.errors import Refusal
from memruler.stats.factorial import fractional_design, full_design, parse_generator
from memruler.studies.ablation_attribute import attribute
from memruler.studies.ablation_spec import Outcome

TURN = Outcome(level="turn", metric="recall_all@5")
KEYS = [QueryKey("conv", q) for q in range(4)]
AB = full_design("ab")


def cell(*values):
    """Values by query; None where it does not count."""
    return {key: value for key, value in zip(KEYS, values, strict=True) if value is not None}


def test_two_factors_by_hand():
    # off 2/4, a 3/4 (one up), b 1/4 (one down), both 1/4.
    found = attribute(
        TURN,
        AB,
        [cell(1, 1, 0, 0), cell(1, 1, 1, 0), cell(1, 0, 0, 0), cell(0, 0, 1, 0)],
        KEYS,
        shared=False,
    )
    assert found.values == (0.5, 0.75, 0.25, 0.25)
    assert (found.counted, found.of, found.moved, found.floor) == (4, 4, 3, None)
    assert (found.total.delta, found.total.wins, found.total.losses) == (-0.25, 1, 2)
    a, b = found.factors
    # a: alone +1/4, last 0; b: alone -1/4, last -1/2.
    assert (a.share, a.main, b.share, b.main) == (0.125, 0.125, -0.375, -0.375)
    assert (a.alone.delta, a.alone.wins, a.alone.losses) == (0.25, 1, 0)
    assert (a.last.delta, a.last.wins, a.last.losses) == (0, 1, 1)
    assert (b.alone.delta, b.last.delta) == (-0.25, -0.5)
    assert (a.moved, b.moved) == (2, 2)
    (pair,) = found.interactions
    assert (pair.factors, pair.index) == (("a", "b"), -0.25)
    assert found.contrasts == ()


def test_thirds_that_cancel_are_zero():
    third = 1 / 3
    found = attribute(
        TURN,
        AB,
        [
            cell(third, 2 * third, 1, 0.1),
            cell(2 * third, third, 0.1, 1),
            cell(third, 2 * third, 1, 0.1),
            cell(2 * third, third, 1, 0.1),
        ],
        KEYS,
        shared=False,
    )
    assert [factor.share for factor in found.factors] == [0, 0]
    assert (found.factors[0].moved, found.factors[0].alone.wins) == (4, 2)


def test_a_factor_that_does_nothing():
    found = attribute(
        TURN,
        AB,
        [cell(1, 0, 0, 0), cell(1, 0, 0, 0), cell(1, 1, 0, 0), cell(1, 1, 0, 0)],
        KEYS,
        shared=False,
    )
    idle, other = found.factors
    assert (idle.share, idle.main, idle.moved, idle.alone.wins) == (0, 0, 0, 0)
    assert (other.share, found.interactions[0].index) == (0.25, 0)


values = st.lists(
    st.lists(st.sampled_from([0, 1 / 3, 0.5, 1]), min_size=4, max_size=4), min_size=8, max_size=8
)


@given(values)
def test_the_shares_add_up(rows):
    found = attribute(TURN, full_design("abc"), [cell(*row) for row in rows], KEYS, shared=False)
    assert sum(f.share for f in found.factors) == pytest.approx(found.total.delta, abs=1e-14)
    assert all(f.moved >= f.alone.wins + f.alone.losses for f in found.factors)
    assert found.moved >= max(f.moved for f in found.factors)


UNEVEN = [cell(1, 1, 0, 1), cell(1, 1, 0, None), cell(1, 1, 1, 1), cell(1, 1, 1, None)]


def test_uneven_cells_are_refused():
    with pytest.raises(Refusal, match="do not count the same queries") as caught:
        attribute(TURN, AB, UNEVEN, KEYS, shared=False)
    assert "from 3 to 4 of 4 measured queries in a cell, 3 in every one" in str(caught.value)
    assert 'members = "shared"' in caught.value.hint


def test_shared_queries_stand_beside_their_floor():
    found = attribute(TURN, AB, UNEVEN, KEYS, shared=True)
    assert (found.counted, found.of, found.cell_counted) == (3, 4, (4, 3, 4, 3))
    assert (found.total.delta, found.floor.delta) == (pytest.approx(1 / 3), 0)
    a, b = found.factors
    # a only silences a query that would have been found: nothing over shared ones, -1/4 below.
    assert (a.share, a.floor) == (0, -0.25)
    assert (b.share, b.floor) == (pytest.approx(1 / 3), 0.25)


def test_the_same_number_of_other_queries_is_uneven_too():
    rows = [cell(1, None, 0, 1), cell(None, 1, 0, 1), cell(1, None, 0, 1), cell(1, None, 0, 1)]
    with pytest.raises(Refusal, match="2 in every one"):
        attribute(TURN, AB, rows, KEYS, shared=False)


@pytest.mark.parametrize("shared", [False, True])
def test_nothing_in_every_cell(shared):
    rows = [cell(1, None, None, None), cell(None, 1, None, None), cell(1, 1, 1, 1), {}]
    with pytest.raises(Refusal, match="no query counts in every cell") as caught:
        attribute(TURN, AB, rows, KEYS, shared=shared)
    assert "shared" not in caught.value.hint


def test_a_fraction_gives_effects_with_their_aliases_and_no_shares():
    half = fractional_design("abc", [parse_generator("c = a * b")])
    # Of c = a * b the cell of all off is not there: ("c",), ("a",), ("b",), ("a", "b", "c").
    rows = [cell(0, 0, 0, 0), cell(1, 0, 0, 0), cell(1, 1, 0, 0), cell(1, 1, 1, 1)]
    found = attribute(TURN, half, rows, KEYS, shared=False)
    assert found.total is None
    a, _, c = found.factors
    assert (a.share, a.main, a.aliases, a.alone, a.last) == (None, 0.375, ("b x c",), None, None)
    assert (c.main, c.aliases, c.moved) == (0.125, ("a x b",), None)
    assert found.interactions == ()
    assert found.contrasts == ()


def test_a_fraction_with_both_ends_has_a_total():
    half = fractional_design("abcd", [parse_generator("d = a * b * c")])
    rows = [cell(0, 0, 0, 0)] * 7 + [cell(1, 0, 0, 0)]
    found = attribute(TURN, half, rows, KEYS, shared=False)
    assert found.total.delta == 0.25
    assert [(c.factors, c.aliases) for c in found.contrasts] == [
        (("a", "b"), ("c x d",)),
        (("a", "c"), ("b x d",)),
        (("a", "d"), ("b x c",)),
    ]
    assert {c.effect for c in found.contrasts} == {0.0625}
