"""Refusals counted by hand, and the area under the curve against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.abstention import Refusals, auroc, held_out, sweep

stats = pytest.importorskip("scipy.stats", reason="needs scipy, a referee")
SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 0.5000001, 2.0, 1e300])


def arrays(pairs):
    scores, kind = zip(*pairs, strict=True)
    return np.array(scores, np.float64), np.array(kind, np.bool_)


def test_the_measures_by_hand():
    found = Refusals(3, 4, 1, 6)  # TP 3, FN 1, FP 1, TN 5
    assert (found.refused, found.precision, found.recall) == (4, 0.75, 0.75)
    assert found.over_refusal == pytest.approx(1 / 6)
    assert found.f1 == pytest.approx(2 * 0.75 * 0.75 / 1.5)
    assert found.balanced_accuracy == pytest.approx((3 / 4 + 5 / 6) / 2)
    assert found.youden == pytest.approx(3 / 4 - 1 / 6)


def test_what_has_no_denominator_is_absent_and_no_zero():
    assert Refusals(0, 4, 0, 6).precision is None
    assert Refusals(0, 4, 0, 6).f1 == 0
    lone = Refusals(0, 0, 2, 6)
    assert (lone.recall, lone.balanced_accuracy, lone.youden) == (None, None, None)
    assert (lone.precision, lone.f1) == (0, 0)
    assert Refusals(1, 2, 0, 0).over_refusal is None
    assert Refusals(0, 0, 0, 6).f1 is None


def test_the_area_by_hand_with_a_tie():
    # with an answer: 3, 2; without: 2, 1. Pairs: 3>2, 3>1, 2=2, 2>1: 3.5 of 4.
    assert auroc(*arrays([(3, True), (2, True), (2, False), (1, False)])) == 0.875
    assert auroc(*arrays([(1, True), (1, False)])) == 0.5
    assert auroc(*arrays([(1, True)])) is None


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=30))
def test_the_area_is_the_share_of_pairs_and_scipys_u(pairs):
    scores, kind = arrays(pairs)
    found = auroc(scores, kind)
    has, lacks = scores[kind], scores[~kind]
    if not len(has) or not len(lacks):
        assert found is None
        return
    wins = sum(float(a > b) + float(a == b) / 2 for a in has for b in lacks)
    assert found == pytest.approx(wins / (len(has) * len(lacks)))
    rank = np.unique(scores, return_inverse=True)[1]  # scipy dislikes infinities
    u = stats.mannwhitneyu(rank[kind], rank[~kind], method="asymptotic").statistic
    assert found == pytest.approx(u / (len(has) * len(lacks)))
    assert auroc(-scores, kind) == pytest.approx(1 - found)


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=30))
def test_a_sweep_counts_what_is_below_each_threshold(pairs):
    scores, kind = arrays(pairs)
    found = sweep(scores, kind)
    assert list(found.threshold) == [*sorted({s for s in scores if np.isfinite(s)}), np.inf]
    best = None
    for place, threshold in enumerate(found.threshold):
        below = scores < threshold
        counted = found.at(place)
        assert counted.refused_unanswerable == int((below & ~kind).sum())
        assert counted.refused_answerable == int((below & kind).sum())
        if counted.youden is not None and (best is None or counted.youden > best[0] + 1e-12):
            best = (counted.youden, place)
    assert found.best() == (None if best is None else best[1])


def test_of_equal_thresholds_the_one_that_refuses_least_is_best():
    scores, kind = arrays([(1, False), (2, True), (3, False), (4, True)])
    # below 2: 1/2 - 0; below 4: 2/2 - 1/2; both 0.5.
    found = sweep(scores, kind)
    assert found.threshold[found.best()] == 2


@given(
    st.lists(st.tuples(SCORES, st.booleans(), st.integers(0, 3)), min_size=1, max_size=24),
)
def test_each_cluster_is_refused_by_the_others_best(rows):
    scores, kind = arrays([(s, k) for s, k, _ in rows])
    cluster = np.array([c for _, _, c in rows])
    verdict, thresholds = held_out(scores, kind, cluster)
    judged = 0
    for one in sorted(set(cluster)):
        mine = cluster == one
        others = sweep(scores[~mine], kind[~mine])
        best = others.best() if (~mine).any() else None
        if best is None:
            assert (verdict[mine] == -1).all()
            continue
        limit = others.threshold[best]
        assert thresholds[judged] == limit
        assert ((scores < limit) == (verdict == 1))[mine].all()
        judged += 1
    assert judged == len(thresholds)


def test_what_is_held_out_does_not_choose_its_own_threshold():
    # In each cluster the scores part the kinds, at another place than in the other.
    scores = np.array([1.0, 2, 11, 12])
    kind = np.array([False, True, False, True])
    cluster = np.array([0, 0, 1, 1])
    verdict, thresholds = held_out(scores, kind, cluster)
    assert sorted(thresholds) == [2, 12]
    assert verdict.tolist() == [1, 1, 0, 0]
