"""From hits to rankings of distinct codes, and to relevance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.metrics.names import METRICS
from memruler.targets import ranking
from memruler.targets.attribution import PADDING, UNATTRIBUTED
from memruler.targets.ranking import ranked, ranked_one, relevance, relevance_one

X, P = UNATTRIBUTED, PADDING
BIG = 2**63 - 1  # the largest turn code: nothing may overflow


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        ([], []),
        ([P, P], []),
        ([4, 2, 4, 1, 2], [4, 2, 1]),
        ([X, X, 4], [X, X, 4]),
        ([4, X, 4, X, 2], [4, X, X, 2]),
        ([P, 4, P, X, 4], [4, X]),
        ([0, 0, BIG, BIG], [0, BIG]),
    ],
)
def test_by_hand(hits, expected):
    assert ranked_one(hits) == expected
    codes, observed = ranked(np.array([hits], dtype=np.int64))
    assert observed.tolist() == [len(expected)]
    assert codes.tolist() == [expected + [P] * (len(hits) - len(expected))]


codes = st.sampled_from([P, X, 0, 1, 2, 3, 7 << 32 | 1, BIG])


@st.composite
def matrices(draw):
    width = draw(st.integers(0, 12))
    rows = draw(st.lists(st.lists(codes, min_size=width, max_size=width), max_size=8))
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


@pytest.fixture(autouse=True, params=[8192, 3], ids=["one block", "blocks of 3"])
def rows_at_a_time(request, monkeypatch):
    """Where a block ends must never show."""
    monkeypatch.setattr(ranking, "_ROWS", request.param)


# The fixture sets a constant once for all examples, which is what Hypothesis asks about.
same_fixture = settings(suppress_health_check=["function_scoped_fixture"])


@same_fixture
@given(matrices())
def test_a_matrix_is_ranked_as_its_rows_are(hits):
    given_hits = hits.copy()
    out, observed = ranked(hits)
    assert np.array_equal(hits, given_hits)
    assert out.shape == hits.shape
    for row, result, length in zip(hits.tolist(), out.tolist(), observed.tolist(), strict=True):
        expected = ranked_one(row)
        assert length == len(expected)
        assert result == expected + [P] * (len(row) - length)


@same_fixture
@given(matrices(), st.data())
def test_relevance_of_a_matrix_is_that_of_its_rows(hits, data):
    gold = [
        data.draw(st.lists(codes.filter(lambda c: c >= 0), unique=True, max_size=4)) for _ in hits
    ]
    flat = np.array([code for own in gold for code in own], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, gold)])
    rankings, _ = ranked(hits)
    out = relevance(rankings, flat, offsets)
    assert out.dtype == np.bool_
    assert out.shape == hits.shape
    for row, own, result in zip(rankings.tolist(), gold, out.tolist(), strict=True):
        assert result == relevance_one(row, own)


@same_fixture
@given(st.lists(codes, max_size=12), st.sets(st.sampled_from([0, 1, 2, 3]), min_size=1))
def test_hiding_a_hit_without_credit_could_only_have_helped(hits, gold):
    """The reason why such a hit keeps its slot: without it, no score falls and some rise."""
    kept = relevance_one(ranked_one(hits), gold)
    hidden = relevance_one(ranked_one([code for code in hits if code != X]), gold)
    for k in range(1, len(hidden) + 1):
        for metric in METRICS.values():
            if metric.kind == "per-query":
                score = metric.definition
                assert score(kept, len(gold), k) <= score(hidden, len(gold), k)


@same_fixture
@given(st.permutations([10, 11, 12, X, X, 13]))
def test_which_irrelevant_hit_stands_where_changes_nothing(irrelevant):
    hits = [irrelevant[0], 1, *irrelevant[1:4], 2, *irrelevant[4:]]
    expected = [False, True, False, False, False, True, False, False]
    assert relevance_one(ranked_one(hits), {1, 2}) == expected


def test_gold_of_one_query_is_nothing_to_another():
    hits = np.array([[1, 2], [1, 2]], dtype=np.int64)
    out = relevance(hits, np.array([1, 2], dtype=np.int64), np.array([0, 1, 2]))
    assert out.tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("gold", "offsets", "message"),
    [
        ([1], [0, 1], "offsets do not fit"),
        ([1], [0, 1, 2], "offsets do not fit"),
        ([1], [1, 1, 1], "offsets do not fit"),
        ([1], [0, 2, 1], "offsets do not fit"),
        ([X], [0, 1, 1], "negative"),
        ([P], [0, 1, 1], "negative"),
        ([1, 1], [0, 2, 2], "twice"),
    ],
)
def test_gold_that_does_not_fit_is_refused(gold, offsets, message):
    hits = np.array([[1], [X]], dtype=np.int64)
    with pytest.raises(ValueError, match=message):
        relevance(hits, np.array(gold, dtype=np.int64), np.array(offsets))


@pytest.mark.parametrize("hits", [np.array([1, 2]), np.array([[-3]])])
def test_hits_that_are_no_codes_are_refused(hits):
    with pytest.raises(ValueError, match="matrix"):
        ranked(hits)
