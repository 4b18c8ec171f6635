"""The vectorised credit equals its definition to the last bit, and pytrec_eval where they agree."""

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.credit import Support, credit_one, ideal_cover
from memruler.metrics.credit_steps import places
from memruler.metrics.credited import CREDIT_METRICS, credited
from memruler.model.credit import Supports

CUTOFFS = (1, 2, 3, 5, 8)


def supports_of(queries, *, grades=False, sets=False) -> Supports:
    """Arrays from lists: queries of anchors of `(items, grade)`."""
    anchors = [a for q in queries for a in q]
    flat = [s for a in anchors for s in a]
    items = [item for names, _ in flat for item in sorted(names)]
    return Supports(
        target="made",
        of=np.array([len(q) for q in queries], np.int64),
        anchor_offsets=np.cumsum([0, *map(len, queries)]),
        support_offsets=np.cumsum([0, *map(len, anchors)]),
        items=np.array(items, np.int64),
        grades=np.array([g for _, g in flat]) if grades else None,
        set_offsets=np.cumsum([0, *(len(names) for names, _ in flat)]) if sets else None,
    )


def matrix(rankings, length=8):
    hits = np.full((len(rankings), length), -1, np.int32)
    for row, ranking in enumerate(rankings):
        hits[row, : len(ranking)] = ranking
    return hits


rankings = st.lists(st.integers(0, 11), max_size=8)


def anchors(grade, size):
    support = st.tuples(st.frozensets(st.integers(0, 11), min_size=1, max_size=size), grade)
    return st.lists(st.lists(support, min_size=1, max_size=3), max_size=4)


graded = st.sampled_from([0.25, 0.3, 0.5, 1.0])
one = st.just(1.0)


@pytest.mark.parametrize("rule", ["anchor", "id", "cover"])
@pytest.mark.parametrize(("grades", "sets"), [(False, False), (True, False), (True, True)])
@given(data=st.data())
def test_equals_the_definition(data, rule, grades, sets):
    if rule == "id" and sets:
        return
    made = st.tuples(rankings, anchors(graded if grades else one, 2 if sets else 1))
    queries = data.draw(st.lists(made, max_size=5))
    gold = supports_of([q for _, q in queries], grades=grades, sets=sets)
    scored = credited(matrix([r for r, _ in queries]), gold, CUTOFFS, rule)
    for row, (ranking, query) in enumerate(queries):
        if not query:
            assert scored.anchors[row] == 0
            continue
        named = [[Support(frozenset(names), grade) for names, grade in a] for a in query]
        for k in CUTOFFS:
            alone = credit_one(ranking, named, k, rule)
            assert scored.anchors[row] == alone.anchors
            assert scored.found[k][row] == alone.found
            for metric in CREDIT_METRICS:
                value = scored.values[metric, k][row]
                assert value == getattr(alone, metric), (metric, k)
                assert 0 <= value <= 1


@given(st.lists(st.tuples(st.lists(st.integers(0, 11), max_size=8, unique=True), anchors(one, 1))))
def test_per_id_is_trec(queries):
    """Per id, with distinct hits, is what pytrec_eval computes."""
    kept = [(r, q) for r, q in queries if q and r]
    scored = credited(
        matrix([r for r, _ in kept]), supports_of([q for _, q in kept]), CUTOFFS, "id"
    )
    qrels = {
        str(n): {str(i): 1 for a in q for names, _ in a for i in names}
        for n, (_, q) in enumerate(kept)
    }
    run = {
        str(n): {str(item): float(-place) for place, item in enumerate(r)}
        for n, (r, _) in enumerate(kept)
    }
    depths = ",".join(map(str, CUTOFFS))
    measures = {f"success.{depths}", f"recall.{depths}", f"ndcg_cut.{depths}", "recip_rank"}
    referee = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    for row in range(len(kept)):
        theirs = referee[str(row)]
        for k in CUTOFFS:
            assert scored.values["recall_any", k][row] == theirs[f"success_{k}"]
            assert scored.values["recall_micro", k][row] == theirs[f"recall_{k}"]
            assert scored.values["ndcg", k][row] == theirs[f"ndcg_cut_{k}"]
        assert scored.values["mrr", 8][row] == theirs["recip_rank"]


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 11), max_size=8, unique=True),
            anchors(st.sampled_from([0.5, 1.0]), 1),
        )
    )
)
def test_graded_gain_is_trecs(queries):
    """Grades 0.5 and 1 are TREC's judgments 1 and 2: nDCG does not change with the scale."""
    kept = [(r, q) for r, q in queries if q and r]
    gold = supports_of([q for _, q in kept], grades=True)
    scored = credited(matrix([r for r, _ in kept]), gold, CUTOFFS, "id")
    qrels, run = {}, {}
    for n, (ranking, query) in enumerate(kept):
        grades = {}
        for names, grade in (support for anchor in query for support in anchor):
            (item,) = names
            grades[str(item)] = max(grades.get(str(item), 0), int(2 * grade))
        qrels[str(n)] = grades
        run[str(n)] = {str(item): float(-place) for place, item in enumerate(ranking)}
    depths = ",".join(map(str, CUTOFFS))
    referee = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{depths}"}).evaluate(run)
    for row in range(len(kept)):
        for k in CUTOFFS:
            assert scored.values["ndcg", k][row] == referee[str(row)][f"ndcg_cut_{k}"]


def test_a_shared_item_costs_under_the_published_rule_only():
    both = [[Support(frozenset({7}))], [Support(frozenset({7}))]]
    published = credit_one([7, 1, 2], both, 60)
    assert published.found == 2
    assert published.recall_all == 1
    assert published.ndcg == pytest.approx(0.6131471927654584, abs=1e-15)
    assert credit_one([7, 1, 2], both, 60, "cover").ndcg == 1
    assert credit_one([7, 1, 2], both, 60, "id").ndcg == 1


def test_a_shared_item_and_one_of_its_own():
    """Anchors a and b: item 1 supports both, item 2 only a."""
    mixed = [[Support(frozenset({1})), Support(frozenset({2}))], [Support(frozenset({1}))]]
    # Serving one anchor at a time beats serving both at once: the published rule has it backwards.
    assert credit_one([2, 1], mixed, 5).ndcg == 1
    assert credit_one([1, 2], mixed, 5).ndcg < 1
    assert credit_one([1, 2], mixed, 5, "cover").ndcg == 1
    step = 1 / math.log2(3)
    assert credit_one([2, 1], mixed, 5, "cover").ndcg == pytest.approx((1 + step) / 2)


def test_partial_and_composed_support():
    """Half support from item 1; items 2 and 3 support fully, but only together."""
    query = [[Support(frozenset({1}), 0.5), Support(frozenset({2, 3}))]]
    at_two = credit_one([1, 2, 3], query, 2)
    assert (at_two.found, at_two.recall_micro, at_two.recall_any, at_two.mrr) == (0.5, 0.5, 0, 0)
    at_three = credit_one([1, 2, 3], query, 3)
    assert (at_three.found, at_three.recall_all, at_three.mrr) == (1, 1, 1 / 3)
    # 0.5 at rank 1 and 0.5 more at rank 3, whose discount is 1 / log2(4); the ideal is 1.
    assert at_three.ndcg == 0.5 + 0.5 / 2
    # No order serves the whole at rank 1, and the corrected ideal knows that: 2, 3 is worse.
    assert credit_one([1, 2, 3], query, 3, "cover").ndcg == 1


@given(st.permutations(range(5)), anchors(graded, 2))
def test_no_order_beats_the_ideal_of_cover(order, query):
    named = [[Support(frozenset(names), grade) for names, grade in a] for a in query]
    if named:
        assert 0 <= credit_one(order, named, 5, "cover").ndcg <= 1
        best, exact = ideal_cover(named, 8)
        assert exact
        assert list(best) == sorted(best)


def test_a_greedy_ideal_says_so():
    many = [[Support(frozenset({n})), Support(frozenset({n + 1}))] for n in range(30)]
    _, exact = ideal_cover(many, 5)
    assert not exact
    gold = supports_of([[[({n}, 1.0), ({n + 1}, 1.0)] for n in range(30)]])
    scored = credited(matrix([[1, 2, 3]]), gold, (5,), "cover")
    assert scored.greedy == 1
    assert 0 < scored.values["ndcg", 5][0] <= 1


def test_places():
    hits = np.array([[4, 9, 4, -1], [7, -1, -1, -1]], np.int32)
    found = places(hits, np.array([0, 0, 0, 1, 1]), np.array([4, 9, 7, 7, 4]))
    assert found.tolist() == [1, 2, 0, 1, 0]
    assert places(np.zeros((1, 0), np.int32), np.array([0]), np.array([4])).tolist() == [0]


@pytest.mark.parametrize("cutoffs", [(), (0,), (2, 2), (3, 1)])
def test_cutoffs_must_ascend(cutoffs):
    with pytest.raises(ValueError, match="ascending"):
        credited(matrix([[1]]), supports_of([[[({1}, 1.0)]]]), cutoffs)


def test_rule_id_refuses_sets():
    gold = supports_of([[[({1, 2}, 1.0)]]], sets=True)
    with pytest.raises(ValueError, match="only together"):
        credited(matrix([[1]]), gold, (1,), "id")
    with pytest.raises(ValueError, match="only together"):
        credit_one([1], [[Support(frozenset({1, 2}))]], 1, "id")
    with pytest.raises(ValueError, match="without an anchor"):
        credit_one([1], [], 1)
    with pytest.raises(ValueError, match="at least 1"):
        credit_one([1], [[Support(frozenset({1}))]], 0)
