from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import linregress

from memruler.compare.shift_cardinality import cardinalities
from memruler.compare.shift_line import line

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


shared = st.lists(
    st.tuples(st.integers(0, 5), st.integers(-9, 9), st.integers(-99, 99)), min_size=4, max_size=30
)


@given(shared)
def test_t_is_clustered_by_query_as_statsmodels_does(rows):
    models = pytest.importorskip("statsmodels.regression.linear_model", reason="a referee only")
    query, x, y = (np.array(column) for column in zip(*rows, strict=True))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    assume(1 < len(np.unique(query)) < len(query))
    found = line(x, y / 100, query)
    assume(found.t is not None and found.r2 < 0.999)
    design = np.column_stack([np.ones(len(x)), x])
    referee = models.OLS(y / 100, design).fit(cov_type="cluster", cov_kwds={"groups": query})
    variance = referee.cov_params()[1, 1]  # that of the intercept may round to below zero
    assume(variance > 1e-12)
    assert found.slope == pytest.approx(referee.params[1], abs=1e-9)
    assert found.t == pytest.approx(referee.params[1] / variance**0.5, rel=1e-6, abs=1e-7)
    assert found.clusters == len(np.unique(query))


def test_queries_that_stand_there_once_need_no_clusters():
    x, y = np.array([0, 1, 2, 3]), np.array([0.0, 1.0, 1.0, 2.0])
    assert line(x, y, np.arange(4)) == line(x, y)
    assert (
        line(x, y, np.zeros(4, np.int64)).reason == "all points are of one query, so there is no t"
    )


def test_points_twice_do_not_make_t_larger():
    x, y = np.array([0, 1, 2, 3, 4, 5]), np.array([0.0, 1.0, 1.0, 2.0, 1.0, 3.0])
    query = np.arange(6)
    once = line(np.tile(x, 2)[:7], np.tile(y, 2)[:7], np.tile(query, 2)[:7])
    many = line(np.tile(x, 9), np.tile(y, 9), np.tile(query, 9))
    assert many.t < 1.5 * once.t < line(np.tile(x, 9), np.tile(y, 9)).t


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
        (found,) = cardinalities([scored], [(a, b)], (2,))
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
    (found,) = cardinalities([one, two], [("raw", "canonical")], (2,))
    assert found.queries == 5
    assert {(p.low, p.queries) for p in found.bins} == {(0, 1), (1, 2), (2, 1), (3, 1)}
    assert found.line.slope < 0


def test_a_target_within_another_says_nothing_at_the_same_size(make_scored):
    gold = {"raw": [[1]], "source": [[1, 2]], "canonical": [[2]]}
    scored = make_scored("one", [{"ranking": [1, 2], "gold": gold}])
    pairs = [("raw", "source"), ("source", "canonical"), ("raw", "canonical")]
    found = list(cardinalities([scored], pairs, (2,)))
    assert [one.nested for one in found] == [True, True, False]


def test_queries_are_split_by_dropped_anchors(make_scored):
    whole = {"ranking": [1, 2], "gold": {"raw": [[1]], "canonical": [[2]]}}
    less = {"ranking": [3], "gold": {"raw": [[1], [2]], "canonical": [[3], []]}}
    scored = make_scored("one", [whole, less, less])
    (found,) = cardinalities([scored], [("raw", "canonical")], (2,))
    kept, dropped = found.anchors
    assert (kept.dropped, kept.queries, kept.changed) == (False, 1, 1)
    assert kept.mean == pytest.approx(0.6309297535714575 - 1)
    assert (dropped.dropped, dropped.queries, dropped.changed, dropped.mean) == (True, 2, 2, 1.0)
    bare = make_scored("one", [whole], anchored=False)
    assert next(cardinalities([bare], [("raw", "canonical")], (2,))).anchors == ()


def test_the_published_shift_comes_from_dropped_anchors(tiap):
    wanted = {"f1": ((275, -0.0003), (178, 0.1049)), "f5": ((324, -0.0024), (129, 0.1119))}
    for density, parts in wanted.items():
        scored = tiap.scored(density)
        (found,) = cardinalities([scored], [("source", "canonical")], (60,))
        assert tuple((one.queries, round(one.mean, 4)) for one in found.anchors) == parts
