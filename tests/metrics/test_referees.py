"""Against pytrec_eval and ir_measures, wherever they define the same thing: equal to the bit."""

import math

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from memruler.metrics.definitions import ndcg
from memruler.metrics.vectorised import score_matrix

CUTOFFS = (1, 2, 3, 5, 10, 20, 30)
QUERIES, LENGTH = 400, 30


@pytest.fixture(scope="module")
def trial():
    """Random rankings of distinct ids, some short, with gold that is partly not retrieved."""
    rng = np.random.default_rng(20_240_607)
    observed = np.where(rng.random(QUERIES) < 0.2, rng.integers(1, LENGTH, QUERIES), LENGTH)
    gold = rng.integers(1, 9, QUERIES)
    relevance = np.zeros((QUERIES, LENGTH), dtype=np.bool_)
    run, qrels = {}, {}
    for q in range(QUERIES):
        pool = rng.permutation(60)
        wanted, listed = set(rng.permutation(60)[: gold[q]].tolist()), pool[: observed[q]].tolist()
        relevance[q, : observed[q]] = [item in wanted for item in listed]
        # Scores fall strictly, so no rule for ties has a say. Names are not in rank order.
        run[f"q{q}"] = {f"d{item}": float(LENGTH - rank) for rank, item in enumerate(listed)}
        qrels[f"q{q}"] = {f"d{item}": 1 for item in wanted}
    return score_matrix(relevance, observed, gold, CUTOFFS), run, qrels


def cut(run, k):
    return {
        query: dict(sorted(hits.items(), key=lambda hit: -hit[1])[:k])
        for query, hits in run.items()
    }


def compare(result, metric, k, theirs):
    """Every counted query has the referee's value, bit for bit; returns how many were held."""
    values = result.values(metric, k)
    held = np.flatnonzero(result.counted(k))
    assert [values[q] for q in held] == [theirs[f"q{q}"] for q in held]
    return len(held)


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("recall_micro", "recall"),
        ("recall_any", "success"),
        ("precision", "P"),
        ("ndcg", "ndcg_cut"),
    ],
)
def test_pytrec_eval(trial, metric, measure, k):
    result, run, qrels = trial
    scores = pytrec_eval.RelevanceEvaluator(qrels, {f"{measure}.{k}"}).evaluate(run)
    theirs = {query: values[f"{measure}_{k}"] for query, values in scores.items()}
    assert compare(result, metric, k, theirs) > QUERIES / 2


@pytest.mark.parametrize("k", CUTOFFS)
def test_pytrec_eval_reciprocal_rank_of_the_truncated_run(trial, k):
    result, run, qrels = trial
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(cut(run, k))
    theirs = {query: values["recip_rank"] for query, values in scores.items()}
    assert compare(result, "mrr", k, theirs) > QUERIES / 2


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("recall_micro", ir_measures.R),
        ("recall_any", ir_measures.Success),
        ("precision", ir_measures.P),
        ("ndcg", ir_measures.nDCG),
        ("mrr", ir_measures.RR),
    ],
)
def test_ir_measures(trial, metric, measure, k):
    result, run, qrels = trial
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure @ k], qrels, run)}
    assert compare(result, metric, k, theirs) > QUERIES / 2


def test_the_trial_has_what_makes_tools_differ(trial):
    result, _, _ = trial
    assert int(result.counted(1).sum()) == QUERIES
    assert int(result.counted(LENGTH).sum()) < QUERIES  # short lists
    assert int(result.attainable(3).sum()) < QUERIES  # more gold than room
    assert len(set(result.values("ndcg", 10).compressed().tolist())) > 100


# What follows pins the differences that docs/metrics.md states, so that the page stays true.


def test_tied_scores_are_re_sorted_by_the_referees_and_never_by_us():
    run, qrels = {"q": {"c": 1.0, "a": 1.0, "d": 1.0}}, {"q": {"a": 1}}
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert scores["q"]["recip_rank"] == pytest.approx(1 / 3)
    by_name = {
        str(m.measure): m.value
        for m in ir_measures.iter_calc([ir_measures.RR, ir_measures.RR @ 5], qrels, run)
    }
    assert by_name == {"RR": pytest.approx(1 / 3), "RR@5": 1.0}
    ours = score_matrix(
        np.array([[False, True, False]]), np.array([3]), np.array([1]), (3,)
    ).values("mrr", 3)
    assert ours[0] == 1 / 2


def test_a_query_missing_from_the_run_is_dropped_by_one_and_0_for_the_other():
    run, qrels = {"q": {"a": 1.0}}, {"q": {"a": 1}, "absent": {"a": 1}}
    scores = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert set(scores) == {"q"}
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run)[ir_measures.RR] == 0.5


def test_a_short_list_is_scored_by_pytrec_eval_and_left_out_by_us():
    scores = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"P.5"}).evaluate({"q": {"a": 1.0}})
    assert scores["q"]["P_5"] == 0.2
    with pytest.raises(ValueError, match="list of 1 has no value"):
        ndcg([True], 1, 5)


def test_a_discount_of_1_at_ranks_1_and_2_does_not_see_them_swapped():
    def flat_at_the_top(relevance):
        return sum(
            hit / (1 if rank == 1 else math.log2(rank))
            for rank, hit in enumerate(relevance, start=1)
        )

    first, second = [True, False, False], [False, True, False]
    assert flat_at_the_top(first) == flat_at_the_top(second) == 1.0
    assert flat_at_the_top([False, False, True]) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg(first, 1, 3) == 1.0
    assert ndcg(second, 1, 3) == pytest.approx(0.6309, abs=1e-4)
