import json
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.shift_pairs import shift_of
from memruler.compare.target_record import SHIFTED
from memruler.compare.target_scores import target_scores

# Two anchors under raw (items 1 and 2); under canonical only the first has a form (item 3).
TWO = {"ranking": [3, 1, 9, 8], "gold": {"raw": [[1], [2]], "canonical": [[3], []]}}
ONLY_RAW = {"ranking": [1, 9, 8, 7], "gold": {"raw": [[1]], "canonical": [[]]}}
MISSED = {"ranking": [9, 8, 7, 6], "gold": {"raw": [[1]], "canonical": [[2]]}}
FAILED = {"ranking": [], "gold": {"raw": [[1]], "canonical": [[2]]}, "reason": "search_failed"}


@pytest.fixture
def found(make_scored):
    queries = [
        {**TWO, "category": "hop"},
        {**ONLY_RAW, "category": "hop"},
        {**MISSED, "category": "one"},
        FAILED,
    ]
    return target_scores(make_scored("store", queries))


def test_every_query_is_scored_or_excluded_by_name(found):
    raw, canonical = found.targets
    assert (raw.queries, raw.scored, raw.excluded) == (4, 3, {"search_failed": 1})
    assert (canonical.scored, canonical.excluded) == (
        2,
        {"no_eligible_item": 1, "search_failed": 1},
    )
    for one in found.targets:
        assert one.scored + sum(one.excluded.values()) == one.queries
    assert (raw.anchors_of, raw.anchors, raw.eligible) == (4, 4, 4)
    assert (canonical.anchors_of, canonical.anchors, canonical.eligible) == (4, 2, 2)
    assert found.shared == 2


def test_own_means_by_hand(found):
    raw = found.targets[0].own
    assert (raw.queries, raw.anchors, raw.top1) == (3, 4, 1 / 3)
    two, four = raw.depths
    assert (two.k, four.k) == (2, 4)
    assert two.found == 2.0
    assert (two.recall_any, two.recall_all) == (2 / 3, 1 / 3)
    assert two.recall_micro == pytest.approx((0.5 + 1 + 0) / 3, abs=1e-15)
    assert two.recall_pooled == 2 / 4
    assert two.mrr == pytest.approx((1 / 2 + 1 + 0) / 3, abs=1e-15)
    first = (1 / log2(3)) / (1 + 1 / log2(3))
    assert two.ndcg == pytest.approx((first + 1 + 0) / 3, abs=1e-15)


def test_shared_means_are_over_queries_that_all_serve(found):
    raw, canonical = (one.shared for one in found.targets)
    assert raw.queries == canonical.queries == 2
    assert raw.depths[0].recall_any == canonical.depths[0].recall_any == 0.5
    assert (raw.depths[0].mrr, canonical.depths[0].mrr) == (0.25, 0.5)
    assert (raw.anchors, canonical.anchors) == (3, 2)


def test_categories_add_up(found):
    for one in found.targets:
        assert [c.name for c in one.categories] == ["hop", "one"]
        assert sum(c.own.queries for c in one.categories) == one.own.queries
        for at, depth in enumerate(one.own.depths):
            parts = [c.own.depths[at].found for c in one.categories if c.own.depths]
            assert sum(parts) == depth.found


def test_a_category_that_nobody_serves_has_a_reason_and_no_number(make_scored):
    found = target_scores(
        make_scored("store", [{**ONLY_RAW, "category": "a"}, {**MISSED, "category": "b"}])
    )
    hop = found.targets[1].categories[0].own
    assert (hop.queries, hop.top1, hop.depths) == (0, None, ())
    assert hop.reason == "no query to take a mean over under canonical"


def test_the_pair_by_hand(found):
    (pair,) = found.pairs
    assert (pair.a, pair.b, pair.subset) == ("raw", "canonical", "served by both")
    assert pair.whole.queries == 2
    two = pair.whole.depths[0]
    assert [shift.metric for shift in two.shifts] == list(SHIFTED)
    mrr = two.of("mrr")
    assert (mrr.changed, mrr.up, mrr.down, mrr.share, mrr.mean) == (1, 1, 0, 0.5, 0.25)
    assert (mrr.spread.min, mrr.spread.median, mrr.spread.max) == (0.0, 0.25, 0.5)
    assert (two.of("top1").changed, two.of("recall_any").changed) == (1, 0)
    hop, one = pair.categories
    assert (hop.name, hop.shifts.queries, hop.shifts.depths[0].of("mrr").changed) == ("hop", 1, 1)
    assert (one.shifts.queries, one.shifts.depths[0].of("mrr").changed) == (1, 0)


def test_a_pair_without_a_query_says_so(make_scored):
    (pair,) = target_scores(make_scored("store", [ONLY_RAW])).pairs
    assert (pair.whole.queries, pair.whole.depths) == (0, ())
    assert pair.whole.reason == "no query is served by both raw and canonical"


def test_a_third_target_does_not_change_a_pair(make_scored):
    gold = {"raw": [[1]], "canonical": [[2]]}
    other = {"ranking": [1, 2], "gold": {**gold, "edge": [[]]}}
    found = target_scores(make_scored("store", [other]))
    whole = {(pair.a, pair.b): pair.whole.queries for pair in found.pairs}
    assert whole == {("raw", "canonical"): 1, ("raw", "edge"): 0, ("canonical", "edge"): 0}
    assert found.shared == 0
    assert found.targets[0].shared.reason is not None


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_a_shift_agrees_with_numpy(values):
    found = shift_of("ndcg", np.array(values))
    real = np.where(np.abs(values) > 1e-12, values, 0.0)
    assert found.changed == np.count_nonzero(real) == found.up + found.down
    assert found.mean == pytest.approx(real.mean(), abs=1e-12)
    assert found.spread.p25 == pytest.approx(np.quantile(real, 0.25), abs=1e-12)
    assert found.spread.mean_absolute == pytest.approx(np.abs(real).mean(), abs=1e-12)
    order = [getattr(found.spread, name) for name in ("min", "p5", "p25", "median", "p75", "max")]
    assert order == sorted(order)


def test_rounding_is_no_change():
    found = shift_of("ndcg", np.array([1e-13, -1e-13, 0.0]))
    assert (found.changed, found.mean, found.spread.max) == (0, 0.0, 0.0)


_PUBLISHED = {
    "ndcg_changed_count": "ndcg",
    "mrr_changed_count": "mrr",
    "recall_changed_count": "recall_micro",
    "hit_flip_count": "recall_any",
    "top1_flip_count": "top1",
}


@pytest.mark.parametrize("density", ["f1", "f5"])
def test_equals_the_published_results(tiap, density):
    published = json.loads((tiap.folder / "published.json").read_text(encoding="utf-8"))
    wanted = published[f"density_lexical_{density}"]
    found = target_scores(tiap.scored(density))
    for one in found.targets:
        want = wanted["targets"][one.target]
        own, deepest = one.own, one.own.depths[-1]
        assert one.scored == want["queries"]
        assert one.excluded.get("no_eligible_item", 0) == want["zero_target_cases"]
        assert (own.anchors, deepest.found) == (want["total_relevant"], want["total_hits"])
        means = {
            "hit_rate_at_k": deepest.recall_any,
            "micro_recall_at_k": deepest.recall_pooled,
            "mrr": deepest.mrr,
            "ndcg_at_k": deepest.ndcg,
            "recall_at_k": deepest.recall_micro,
            "top1_hit_rate": own.top1,
        }
        for name, value in means.items():
            assert value == pytest.approx(want[name], abs=1e-9), name
    for pair in found.pairs:
        want = wanted["pairwise"][f"{pair.a}_vs_{pair.b}"]
        assert pair.whole.queries == want["shared_queries"]
        deepest = pair.whole.depths[-1]
        for name, metric in _PUBLISHED.items():
            assert deepest.of(metric).changed == want[name], name
