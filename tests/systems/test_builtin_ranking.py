from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.systems.builtin import ranking
from memruler.systems.builtin.ranking import DAY
from memruler.systems.builtin.vectors import best


def decay(days, rates=0.03, floor=0.0, cap=1.0, dated=None):
    ages = np.array([round(day * DAY) for day in days], np.int64)
    return ranking.decay(
        ages,
        np.array([True] * len(days) if dated is None else dated, np.bool_),
        np.broadcast_to(np.asarray(rates, np.float64), ages.shape),
        floor,
        cap,
    )


def test_decay_by_hand():
    factor, relative = decay([0, 10, 100])
    assert factor.tolist() == pytest.approx([1, exp(-0.3), exp(-3)])
    assert relative.tolist() == pytest.approx([0, 0.3, 3])


def test_clamping_by_hand():
    factor, relative = decay([-50, 1, 1000], floor=0.2, cap=1.0)
    assert factor.tolist() == pytest.approx([1, exp(-0.03), 0.2])
    assert np.exp(-relative).tolist() == pytest.approx([1, exp(-0.03), 0.2])
    boosted, _ = decay([-10], cap=10.0)
    assert boosted.tolist() == pytest.approx([exp(0.3)])


def test_an_item_without_a_date_does_not_decay():
    factor, relative = decay([0, 100], dated=[False, True])
    assert factor.tolist() == pytest.approx([1, exp(-3)])
    assert relative.tolist() == pytest.approx([0, 3])


def test_rates_differ_by_item():
    factor, relative = decay([10, 10, 10], rates=[0.03, 0.1, 0])
    assert factor.tolist() == pytest.approx([exp(-0.3), exp(-1), 1])
    assert relative.tolist() == pytest.approx([0.3, 1, 0])


def test_a_cap_of_zero_leaves_nothing_and_breaks_nothing():
    factor, relative = decay([0, 5], cap=0.0)
    assert factor.tolist() == [0, 0]
    assert relative.tolist() == [0, 0]


def test_nothing_in_nothing_out():
    factor, relative = decay([])
    assert factor.size == relative.size == 0


def test_an_extreme_age_neither_overflows_nor_underflows():
    factor, relative = decay([-700_000, 700_000], rates=1000.0)
    assert factor.tolist() == [1, 0]
    assert relative[0] == 0
    factor, relative = decay([400_000, 400_001])
    assert factor.tolist() == [0, 0]
    assert relative.tolist() == [0, 0.03]


days = st.lists(st.integers(0, 3_000 * DAY), min_size=1, max_size=12)


@given(days, st.floats(0, 1), st.integers(0, 5_000 * DAY), st.data())
def test_a_shift_of_all_dates_changes_no_unrounded_order(ages, rate, shift, data):
    count = len(ages)
    cosine = st.floats(-1, 1, allow_subnormal=False)
    relevance = np.array(data.draw(st.lists(cosine, min_size=count, max_size=count)))
    weight = 0.7 + 0.3 * np.array(
        data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    )
    keys = []
    for moved in (0, shift):
        _, relative = ranking.decay(
            np.array(ages) + moved, np.ones(count, bool), np.full(count, rate), 0.0, 1.0
        )
        keys.append(ranking.order_key(relevance, weight, relative))
    assert np.array_equal(*keys)
    assert np.array_equal(best(keys[0], count), best(keys[1], count))


def test_order_key_orders_as_the_score_does():
    factor, relative = decay([3, 0, 9, 40])
    relevance, weight = np.array([0.5, 0.3, 0.9, -0.2]), np.array([0.7, 1, 0.85, 0.85])
    score = relevance * weight * factor
    key = ranking.order_key(relevance, weight, relative)
    assert np.argsort(score).tolist() == np.argsort(key).tolist()


def test_importance_by_hand():
    got = ranking.importance_weight(np.array([0, 0.5, 1]))
    assert got.tolist() == pytest.approx([0.7, 0.85, 1])


def test_rounding_ties_are_left_to_insertion():
    scores = ranking.rounded(np.array([0.12341, 0.12344, 0.12346, -0.00001]), 4)
    assert scores.tolist() == [0.1234, 0.1234, 0.1235, 0.0]
    assert best(scores, 4).tolist() == [2, 0, 1, 3]
    assert not np.signbit(scores[3])


def test_fusion_by_hand():
    first, second = np.array([2, 0, 1]), np.array([0, 3])
    positions, scores = ranking.fuse((first, second), 5, 60, None)
    assert positions.tolist() == [0, 1, 2, 3]
    expected = [1 / 62 + 1 / 61, 1 / 63, 1 / 61, 1 / 62]
    assert scores.tolist() == pytest.approx(expected)
    assert positions[best(scores, 4)].tolist() == [0, 2, 3, 1]


def test_fusion_reads_to_its_depth_and_settles_ties_by_insertion():
    positions, scores = ranking.fuse((np.array([3, 1]), np.array([0, 2])), 4, 60, 1)
    assert positions.tolist() == [0, 3]
    assert scores.tolist() == [1 / 61, 1 / 61]
    assert positions[best(scores, 2)].tolist() == [0, 3]


def test_jaccard_by_hand():
    assert ranking.jaccard(frozenset("abc"), frozenset("bcd")) == 0.5
    assert ranking.jaccard(frozenset(), frozenset()) == 0.0
    assert ranking.jaccard(frozenset("a"), frozenset("a")) == 1.0


def test_mmr_by_hand():
    # lambda 0.6. First: 0 (0.54). Then 1: 0.6*0.88 - 0.4*1 = 0.128; 2: 0.6*0.5 - 0.4*0 = 0.3.
    words = [frozenset("ab"), frozenset("ab"), frozenset("cd")]
    assert ranking.mmr([0.9, 0.88, 0.5], words, 0.6) == [0, 2, 1]
    assert ranking.mmr([0.9, 0.88, 0.5], words, 1.0) == [0, 1, 2]
    # 1/3 of the words shared: 0.6*0.88 - 0.4/3 = 0.395 beats 0.3.
    words[1] = frozenset("ae")
    assert ranking.mmr([0.9, 0.88, 0.5], words, 0.6) == [0, 1, 2]


def test_mmr_ties_go_to_the_earlier_of_the_window():
    assert ranking.mmr([0.5, 0.5, 0.5], [frozenset()] * 3, 0.6) == [0, 1, 2]
    assert ranking.mmr([], [], 0.6) == []


@given(st.lists(st.tuples(st.floats(-1, 1), st.frozensets(st.integers(0, 6))), max_size=12))
def test_mmr_is_a_permutation_that_starts_with_the_most_relevant(window):
    relevance = [cosine for cosine, _ in window]
    words = [frozenset(map(str, found)) for _, found in window]
    order = ranking.mmr(relevance, words, 0.6)
    assert sorted(order) == list(range(len(window)))
    if window:
        assert relevance[order[0]] == max(relevance)
