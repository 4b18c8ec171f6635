import numpy as np
import pytest

from memruler.scoring.timing import Searches
from memruler.studies import ab_latency
from memruler.studies.ab_latency import paired_latency


def side(values, *, failed=(), first=(), places=None):
    """Two instances of four questions; `failed` and `first` are numbers of searches."""
    places = places or [(instance, query) for instance in range(2) for query in range(4)]
    marks = np.arange(len(places))
    return Searches(
        instances=np.array([instance for instance, _ in places]),
        queries=np.array([query for _, query in places]),
        values=np.array(values, dtype=np.float64),
        failed=np.isin(marks, failed),
        first=np.isin(marks, first),
        batches=0,
    )


@pytest.fixture
def paired(monkeypatch):
    def pairing(a, b, together=(0, 1)):
        monkeypatch.setattr(ab_latency, "searches", {"a": a, "b": b}.__getitem__)
        return paired_latency("a", "b", together, seed=7)

    return pairing


def test_the_median_of_the_differences_with_its_sign(paired):
    found = paired(side([1] * 8), side([2, 2, 2, 2, 2, 0.5, 0.5, 100]))
    assert found.median_ms == 1.0
    assert (found.questions, found.b_slower, found.b_faster) == (8, 6, 2)
    assert (found.a_first, found.b_first) == (4, 4)
    assert found.interval.mean == pytest.approx((5 * 1 - 2 * 0.5 + 99) / 8)
    assert found.interval.clusters == 2
    assert (found.why, found.left_out) == (None, {})
    other = paired(side([2, 2, 2, 2, 2, 0.5, 0.5, 100]), side([1] * 8))
    assert other.median_ms == -1.0


def test_warm_up_and_errors_of_either_are_left_out(paired):
    a = side([1] * 8, failed=[2, 4], first=[0])
    b = side([3] * 4 + [9] * 4, failed=[4, 5], first=[0, 1])
    found = paired(a, b)
    assert found.left_out == {
        "warm-up": 2,
        "failed in A": 1,
        "failed in both": 1,
        "failed in B": 1,
    }
    assert found.questions == 3
    assert found.median_ms == 8.0
    # Of questions 0.3, 1.2 and 1.3 only the last adds up to an even number.
    assert (found.a_first, found.b_first) == (1, 2)


def test_what_was_not_asked_in_turns_has_no_difference(paired):
    found = paired(side([1] * 8), side([1] * 4 + [99] * 4), together=[0])
    assert found.left_out == {"not asked of both in turns": 4}
    assert (found.questions, found.median_ms) == (4, 0.0)
    assert found.interval is None
    assert "resampling needs at least two" in found.why


def test_nothing_to_pair(paired):
    found = paired(side([1] * 8), side([2] * 8), together=[])
    assert (found.median_ms, found.interval, found.questions) == (None, None, 0)
    assert found.why == "no question has a difference"


def test_sides_are_paired_by_question_and_not_by_place(paired):
    places = [(instance, query) for instance in (1, 0) for query in range(4)]
    a = side([10, 20, 30, 40, 50, 60, 70, 80])
    b = side([51, 61, 71, 81, 11, 21, 31, 41], places=places)
    found = paired(a, b)
    assert (found.median_ms, found.b_slower) == (1.0, 8)
