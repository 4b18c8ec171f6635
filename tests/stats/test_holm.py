"""Holm's correction: by hand, statsmodels, laws, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats.holm import holm

PS = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def _adjusted(found):
    return {row.name: row.adjusted for row in found.rows}


def _named(ps):
    return {f"slice {at}": p for at, p in enumerate(ps)}


def test_by_hand():
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert _adjusted(found) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert found.family == 4
    assert [row.rank for row in found.rows] == [2, 4, 3, 1]
    assert found.significant() == ("d", "a")
    assert found.significant(0.02) == ("d",)


def test_the_luckiest_of_twenty_slices_is_not_sold():
    found = holm(_named([0.03] + [0.2 + 0.03 * at for at in range(19)]))
    assert found.rows[0].adjusted == pytest.approx(0.6)
    assert found.significant() == ()


def test_a_family_larger_than_the_list():
    listed = holm({"best": 0.01}, family=20)
    assert listed.family == 20
    assert listed.rows[0].adjusted == pytest.approx(0.2)


def test_statsmodels_agrees():
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="a referee only")
    rng = np.random.default_rng(5)
    for family in (1, 2, 3, 20, 100):
        ps = np.round(rng.random(family) ** 4, 2)  # many ties, some zeros
        theirs = multitest.multipletests(ps, method="holm")[1]
        assert list(_adjusted(holm(_named(ps))).values()) == pytest.approx(theirs.tolist())


@given(PS, st.randoms())
def test_laws(ps, random):
    named = _named(ps)
    found = holm(named)
    by_p = sorted(found.rows, key=lambda row: (row.p, row.rank))
    assert [row.name for row in found.rows] == list(named)
    assert all(row.p <= row.adjusted <= 1 for row in found.rows)
    assert [row.adjusted for row in by_p] == sorted(row.adjusted for row in by_p)
    order = random.sample(list(named), len(named))
    assert _adjusted(holm({name: named[name] for name in order})) == _adjusted(found)


def test_family_wise_error_rate():
    rng = np.random.default_rng(6)
    false = [bool(holm(_named(rng.random(20))).significant()) for _ in range(2000)]
    assert 0.035 < np.mean(false) < 0.065


@pytest.mark.parametrize("wrong", [{}, {"a": 1.1}, {"a": -0.1}, {"a": float("nan")}, {"a": None}])
def test_bad_values(wrong):
    with pytest.raises(UsageError):
        holm(wrong)


@pytest.mark.parametrize("family", [1, 2.5, -1])
def test_bad_family(family):
    with pytest.raises(UsageError):
        holm({"a": 0.1, "b": 0.2}, family=family)
