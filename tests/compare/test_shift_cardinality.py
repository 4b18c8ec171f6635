from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import linregress

from memruler.compare.shift_cardinality import cardinality, line

points = st.lists(
    st.tuples(st.integers(-20, 20), st.floats(-1, 1).map(lambda y: round(y, 6))),
    min_size=3,
    max_size=40,
)


@given(points)
def test_the_line_is_scipys(pairs):
    x, y = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    assume(np.ptp(x) > 0 and np.ptp(y) > 1e-5)
    found, referee = line(x, y), linregress(x, y)
    assert found.slope == pytest.approx(referee.slope, abs=1e-9)
    assert found.intercept == pytest.approx(referee.intercept, abs=1e-9)
    assert found.r2 == pytest.approx(referee.rvalue**2, abs=1e-9)
    if found.r2 < 0.999:
        assert found.t == pytest.approx(referee.slope / referee.stderr, rel=1e-6, abs=1e-7)


def test_t_and_r_squared_by_hand():
    found = line(np.array([0, 1, 2, 3]), np.array([0.0, 1.0, 1.0, 2.0]))
    assert (found.slope, found.intercept) == (pytest.approx(0.6), pytest.approx(0.1))
    # sxx = 5, syy = 2, sxy = 3: r2 = 9 / 10, and t = sqrt(0.9 * 2 / 0.1)
    assert found.r2 == pytest.approx(0.9)
    assert found.t == pytest.approx(18**0.5)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 queries are too few"),
        ([1, 2], [0.1, 0.2], "2 queries are too few"),
        ([1, 1, 1], [0.1, 0.2, 0.3], "differs by the same for every query"),
        ([1, 2, 3], [0.5, 0.5, 0.5], "the shift is the same"),
    ],
)
def test_no_line_without_a_reason(x, y, reason):
    found = line(np.array(x, np.int64), np.array(y))
    assert (found.slope, found.intercept, found.r2, found.t) == (None, None, None, None)
    assert reason in found.reason


def test_points_on_the_line_have_no_t():
    found = line(np.array([1, 2, 3, 4]), np.array([0.1, 0.2, 0.3, 0.4]))
    assert (found.slope, found.r2) == (pytest.approx(0.1), pytest.approx(1.0))
    assert found.t is None
    assert "every point lies on the line" in found.reason


def _query(more):
    """A query with one raw item, first, and `1 + more` canonical ones, none of them found."""
    items = list(range(10, 11 + more))
    return {"ranking": [1], "gold": {"raw": [[1]], "canonical": [items]}}


def test_bins_hold_every_query_once(make_scored):
    extra = [0, 1, 4, 5, 8, 9, 16, 17, 40]
    scored = make_scored("store", [_query(more) for more in extra])
    for a, b, sign in (("raw", "canonical", 1), ("canonical", "raw", -1)):
        found = cardinality([scored], a, b, 2)
        assert found.queries == sum(part.queries for part in found.bins) == len(extra)
        ends = [
            (-inf if p.low is None else p.low, inf if p.high is None else p.high)
            for p in found.bins
        ]
        assert ends == sorted(ends)
        counts = {(p.low, p.high): p.queries for p in found.bins}
        assert counts[0, 0] == counts[sign, sign] == counts[4 * sign, 4 * sign] == 1
        far = (17, None) if sign > 0 else (None, -17)
        assert counts[far] == 2
        assert all(part.changed == part.queries for part in found.bins)
        assert all(part.mean == -1.0 * sign for part in found.bins)
        assert found.line.reason == "the shift is the same for every query"


def test_systems_are_pooled(make_scored):
    one = make_scored("one", [_query(1), _query(2)])
    two = make_scored("two", [_query(1), _query(3), {**_query(0), "ranking": [10]}])
    found = cardinality([one, two], "raw", "canonical", 2)
    assert found.queries == 5
    assert {(p.low, p.queries) for p in found.bins} == {(0, 1), (1, 2), (2, 1), (3, 1)}
    assert found.line.slope < 0
