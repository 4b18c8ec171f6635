"""The vectorised path against the definitions, to the last bit, and its own contracts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.definitions import has_value
from memruler.metrics.names import METRICS
from memruler.metrics.vectorised import _FORMULAS, score_matrix

PER_QUERY = {name: m.definition for name, m in METRICS.items() if m.kind == "per-query"}


def matrix(lists, width=None):
    width = max(map(len, lists), default=0) if width is None else width
    out = np.zeros((len(lists), width), dtype=np.bool_)
    for row, hits in zip(out, lists, strict=True):
        row[: len(hits)] = hits
    return out


def scored(lists, gold, cutoffs, width=None):
    observed = np.array([len(hits) for hits in lists], dtype=np.int64)
    return score_matrix(
        matrix(lists, width), observed, np.array(gold, dtype=np.int64), tuple(cutoffs)
    )


@st.composite
def runs(draw):
    lists = draw(st.lists(st.lists(st.booleans(), max_size=25), max_size=12))
    # Some queries have no gold at all: they have no hits and no value.
    gold = [sum(hits) + draw(st.integers(0, 3)) for hits in lists]
    cutoffs = sorted(draw(st.sets(st.integers(1, 30), min_size=1, max_size=6)))
    return lists, gold, cutoffs


def test_there_is_a_formula_for_every_per_query_metric():
    assert set(_FORMULAS) == set(PER_QUERY)


@given(runs())
def test_every_value_equals_its_definition_bit_for_bit(run):
    lists, gold, cutoffs = run
    result = scored(lists, gold, cutoffs)
    for (name, definition), k in itertools.product(PER_QUERY.items(), cutoffs):
        values = result.values(name, k)
        for query, (hits, n) in enumerate(zip(lists, gold, strict=True)):
            if has_value(len(hits), n, k):
                assert values[query] == definition(hits, n, k)
            else:
                assert values[query] is np.ma.masked
                with pytest.raises(ValueError, match=r"no value|without gold"):
                    definition(hits, n, k)


@given(runs())
def test_aggregates_are_over_exactly_those_that_count(run):
    lists, gold, cutoffs = run
    result = scored(lists, gold, cutoffs)
    for k in cutoffs:
        rows = [(h, n) for h, n in zip(lists, gold, strict=True) if has_value(len(h), n, k)]
        assert int(result.counted(k).sum()) == len(rows)
        assert int(result.attainable(k).sum()) == sum(n <= k for _, n in rows)
        for name, metric in METRICS.items():
            aggregate = result.aggregate(name, k)
            if not rows:
                assert aggregate is None
                continue
            assert (aggregate.counted, aggregate.of) == (len(rows), sum(n >= 1 for n in gold))
            if metric.kind == "pooled":
                assert aggregate.value == metric.definition(rows, k)
            else:
                total = math.fsum(metric.definition(h, n, k) for h, n in rows)
                assert aggregate.value == total / len(rows)


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_no_bit_of_a_mean(run, random):
    lists, gold, cutoffs = run
    order = list(range(len(lists)))
    random.shuffle(order)
    one = scored(lists, gold, cutoffs)
    other = scored([lists[i] for i in order], [gold[i] for i in order], cutoffs)
    for name, k in itertools.product(METRICS, cutoffs):
        assert one.aggregate(name, k) == other.aggregate(name, k)


@given(runs(), st.data())
def test_a_slice_is_scored_as_if_it_were_alone(run, data):
    lists, gold, cutoffs = run
    among = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    whole = scored(lists, gold, cutoffs)
    alone = scored(
        list(itertools.compress(lists, among)), list(itertools.compress(gold, among)), cutoffs
    )
    mask = np.array(among, dtype=np.bool_)
    for name, k in itertools.product(METRICS, cutoffs):
        assert whole.aggregate(name, k, mask) == alone.aggregate(name, k)


def test_a_cutoff_deeper_than_every_list_has_no_number():
    result = scored([[True, False]], [1], [2, 3])
    assert result.aggregate("recall_all", 2).value == 1.0
    assert result.aggregate("recall_all", 3) is None
    assert result.values("recall_all", 3)[0] is np.ma.masked


@pytest.mark.parametrize(("queries", "width"), [(0, 0), (0, 5), (3, 0)])
def test_nothing_to_score_is_no_number(queries, width):
    result = scored([[]] * queries, [1] * queries, [1, 5], width)
    assert all(result.aggregate(name, k) is None for name in METRICS for k in (1, 5))
    assert len(result.values("ndcg", 1)) == queries


def test_rows_that_do_not_count_leave_no_trace_in_a_mean():
    short, no_gold = [True], [False] * 5
    full = [False, True, False, False, False]
    result = scored([short, no_gold, full], [1, 0, 1], [5])
    aggregate = result.aggregate("mrr", 5)
    assert (aggregate.value, aggregate.counted, aggregate.of) == (0.5, 1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"relevance": np.zeros(3, dtype=np.bool_)}, "boolean matrix"),
        ({"relevance": np.zeros((2, 3))}, "boolean matrix"),
        ({"observed": np.array([3])}, "one whole number a query"),
        ({"observed": np.array([3.0, 3.0])}, "one whole number a query"),
        ({"gold": np.array([[1, 1]])}, "one whole number a query"),
        ({"observed": np.array([4, 3])}, "observed lies between"),
        ({"observed": np.array([-1, 3])}, "observed lies between"),
        ({"gold": np.array([-1, 1])}, "at least 0"),
        ({"gold": np.array([1, 0])}, "counted twice"),
        ({"observed": np.array([3, 1])}, "beyond the end"),
        ({"cutoffs": ()}, "ascending"),
        ({"cutoffs": (0, 1)}, "at least 1"),
        ({"cutoffs": (5, 1)}, "ascending"),
        ({"cutoffs": (1, 1)}, "distinct"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    good = {
        "relevance": np.array([[True, False, False], [False, True, False]]),
        "observed": np.array([3, 3]),
        "gold": np.array([1, 1]),
        "cutoffs": (1, 3),
    }
    score_matrix(**good)
    with pytest.raises(ValueError, match=message):
        score_matrix(**good | change)


@pytest.mark.parametrize("among", [np.array([1, 0]), np.array([True]), np.array([[True, False]])])
def test_a_slice_is_a_mask_and_never_a_list_of_rows(among):
    with pytest.raises(ValueError, match="boolean mask"):
        scored([[True], [False]], [1, 1], [1]).aggregate("mrr", 1, among)


def test_what_was_not_scored_is_a_key_error():
    result = scored([[True]], [1], [1])
    for wrong in (("mrr", 2), ("mmr", 1)):
        with pytest.raises(KeyError):
            result.values(*wrong)
        with pytest.raises(KeyError):
            result.aggregate(*wrong)
    with pytest.raises(KeyError):  # pooled: no query has a value of its own
        result.values("recall_pooled", 1)


@given(runs())
def test_padded_means_count_every_query_with_gold_and_fill_up_with_misses(run):
    lists, gold, cutoffs = run
    found = scored(lists, gold, cutoffs)
    deepest = max(cutoffs)
    filled = [hits + [False] * (deepest - len(hits)) for hits in lists]
    asked = [(hits, number) for hits, number in zip(filled, gold, strict=True) if number]
    for k in cutoffs:
        for name, definition in PER_QUERY.items():
            mean = found.aggregate(name, k, padded=True)
            if not asked:
                assert mean is None
                continue
            values = [definition(hits, number, k) for hits, number in asked]
            assert mean.value == math.fsum(values) / len(values)
            assert mean.counted == mean.of == len(asked)
