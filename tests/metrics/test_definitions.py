"""Hand-computed values, the refusals, and the laws between the metrics."""

import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memruler.metrics import definitions
from memruler.metrics.names import METRICS

PER_QUERY = {name: m.definition for name, m in METRICS.items() if m.kind == "per-query"}
RECALLS = (definitions.recall_all, definitions.recall_micro, definitions.recall_any)

# Gold at ranks 2 and 4; a third gold id was not retrieved.
HITS = [False, True, False, True, False]
LOG3, LOG5 = math.log2(3), math.log2(5)


@pytest.mark.parametrize(
    ("metric", "k", "expected"),
    [
        ("recall_all", 5, 0.0),
        ("recall_any", 1, 0.0),
        ("recall_any", 2, 1.0),
        ("recall_micro", 1, 0.0),
        ("recall_micro", 3, 1 / 3),
        ("recall_micro", 5, 2 / 3),
        ("precision", 1, 0.0),
        ("precision", 4, 2 / 4),
        ("precision", 5, 2 / 5),
        ("mrr", 1, 0.0),
        ("mrr", 5, 1 / 2),
        ("ndcg", 1, 0.0),
        ("ndcg", 2, (1 / LOG3) / (1 + 1 / LOG3)),
        ("ndcg", 5, (1 / LOG3 + 1 / LOG5) / (1 + 1 / LOG3 + 1 / 2)),
    ],
)
def test_by_hand(metric, k, expected):
    assert PER_QUERY[metric](HITS, 3, k) == pytest.approx(expected, abs=1e-15)


def test_recall_all_needs_every_gold_id():
    assert definitions.recall_all([True, False, True], 2, 2) == 0.0
    assert definitions.recall_all([True, False, True], 2, 3) == 1.0


def test_pooled_recall_weighs_gold_ids_and_not_queries():
    queries = [([True, False], 1), ([True, False], 9)]
    assert definitions.recall_pooled(queries, 2) == 2 / 10
    mean = sum(definitions.recall_micro(hits, gold, 2) for hits, gold in queries) / 2
    assert mean == pytest.approx(5 / 9)


def test_pooled_recall_over_nothing_is_no_number():
    with pytest.raises(ValueError, match="at least one query"):
        definitions.recall_pooled([], 5)


@pytest.mark.parametrize("metric", PER_QUERY)
@pytest.mark.parametrize(
    ("relevance", "gold", "k", "message"),
    [
        ([False, False], 0, 1, "without gold"),
        ([False, False], -1, 1, "without gold"),
        ([True, False], 1, 0, "cut-off is at least 1"),
        ([True, False], 1, 3, "list of 2 has no value at cut-off 3"),
        ([], 1, 1, "list of 0 has no value"),
        ([True, True], 1, 1, "counted twice"),
    ],
)
def test_no_value_is_an_error_and_never_a_number(metric, relevance, gold, k, message):
    with pytest.raises(ValueError, match=message):
        PER_QUERY[metric](relevance, gold, k)
    with pytest.raises(ValueError, match=message):
        definitions.recall_pooled([(relevance, gold)], k)


@pytest.mark.parametrize(
    ("observed", "gold", "k", "expected"),
    [(5, 1, 5, True), (4, 1, 5, False), (5, 0, 5, False), (0, 1, 1, False), (9, 3, 1, True)],
)
def test_who_counts(observed, gold, k, expected):
    assert definitions.has_value(observed, gold, k) is expected


@st.composite
def queries(draw, least=1):
    relevance = draw(st.lists(st.booleans(), min_size=least, max_size=25))
    gold = sum(relevance) + draw(st.integers(0, 4))
    assume(gold >= 1)
    return relevance, gold


@given(queries())
def test_recalls_never_fall_with_depth(query):
    for recall in RECALLS:
        by_depth = [recall(*query, k) for k in range(1, len(query[0]) + 1)]
        assert by_depth == sorted(by_depth)


@given(queries())
def test_all_is_at_most_micro_is_at_most_any(query):
    for k in range(1, len(query[0]) + 1):
        every, micro, some = (recall(*query, k) for recall in RECALLS)
        assert every <= micro <= some


@given(queries())
def test_every_value_is_between_0_and_1(query):
    for k in range(1, len(query[0]) + 1):
        for definition in PER_QUERY.values():
            assert 0.0 <= definition(*query, k) <= 1.0


@given(queries())
def test_recall_all_is_0_where_there_is_more_gold_than_room(query):
    relevance, gold = query
    for k in range(1, min(gold - 1, len(relevance)) + 1):
        assert definitions.recall_all(relevance, gold, k) == 0.0


@given(st.integers(1, 8), st.integers(0, 12))
def test_an_oracle_gets_1_wherever_the_gold_fits(gold, rest):
    relevance = [True] * gold + [False] * rest
    for k in range(1, len(relevance) + 1):
        assert definitions.ndcg(relevance, gold, k) == 1.0
        assert definitions.mrr(relevance, gold, k) == 1.0
        assert definitions.recall_any(relevance, gold, k) == 1.0
        assert definitions.recall_all(relevance, gold, k) == float(k >= gold)
        assert definitions.recall_micro(relevance, gold, k) == min(gold, k) / gold
        assert definitions.precision(relevance, gold, k) == min(gold, k) / k


@given(queries(least=2))
def test_ranks_1_and_2_are_not_the_same(query):
    relevance, gold = query
    assume(relevance[0] != relevance[1])
    swapped = [relevance[1], relevance[0], *relevance[2:]]
    better, worse = (relevance, swapped) if relevance[0] else (swapped, relevance)
    for k in range(2, len(relevance) + 1):
        assert definitions.ndcg(better, gold, k) > definitions.ndcg(worse, gold, k)


def test_the_sum_is_plain_addition_in_rank_order_on_every_python():
    # The built-in sum() compensates from Python 3.12 on, so it is nearer to the exact sum.
    gains = [definitions.discount(rank) for rank in range(1, 61)]
    plain = list(itertools.accumulate(gains))
    exact = [math.fsum(gains[:n]) for n in range(1, 61)]
    assert plain != exact  # there are depths at which the difference shows
    assert [definitions._dcg([True] * n) for n in range(1, 61)] == plain
