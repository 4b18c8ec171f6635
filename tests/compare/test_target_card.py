import numpy as np
import pytest

from memruler.compare.target_card import target_card
from memruler.compare.target_gold import forms_admitted, gold_counts
from memruler.compare.target_words import RULES, admits
from memruler.metrics.credit import Support, credit_one
from memruler.model.credit import Supports
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms

EVERY = np.ones(1, np.bool_)
POINTS = [
    "credit",
    "anchor",
    "item of two anchors",
    "anchors without an eligible item",
    "anchor with several items",
    "composed",
    "partial",
    "item of whole sessions",
    "recall",
    "query without an eligible item",
    "shared subset",
    "delta",
    "audit",
    "category names",
]


def _gold(anchors, *, grades=None, sets=None):
    flat = [item for anchor in anchors for item in anchor]
    return Supports(
        target="made",
        of=np.array([len(anchors)]),
        anchor_offsets=np.array([0, len(anchors)]),
        support_offsets=np.cumsum([0, *(len(a) if sets is None else 1 for a in anchors)]),
        items=np.array(flat, np.int64),
        grades=grades,
        set_offsets=None if sets is None else np.cumsum([0, *map(len, anchors)]),
    )


@pytest.mark.parametrize(
    ("anchors", "several", "sharing"),
    [
        ([[1]], 0, 0),
        ([[1, 2]], 1, 0),
        ([[1], [1]], 0, 1),
        ([[1, 2], [2, 3]], 2, 1),
        ([[1, 1]], 1, 0),
        ([], 0, 0),
    ],
)
def test_what_gold_is_made_of(anchors, several, sharing):
    found = gold_counts(_gold(anchors), EVERY)
    assert (found.anchors, found.several, found.sharing) == (len(anchors), several, sharing)
    assert (found.composed, found.partial, found.unsupported) == (0, 0, 0)
    assert gold_counts(_gold(anchors), ~EVERY).sharing == 0


def test_sets_grades_and_anchors_without_support():
    together = _gold([[1, 2], [3]], sets=True, grades=np.array([0.5, 1.0]))
    found = gold_counts(together, EVERY)
    assert (found.composed, found.partial, found.sharing) == (1, 1, 0)
    assert gold_counts(_gold([[1, 2], [2]], sets=True), EVERY).sharing == 1
    assert gold_counts(_gold([[1], []]), EVERY).unsupported == 1


def _forms(kind, whole=()):
    """Items of nowhere, but for those of one whole session."""
    none = np.zeros(len(kind) + 1, np.int64)
    sessions = np.cumsum([0, *(at in whole for at in range(len(kind)))])
    empty = np.zeros(0, np.int64)
    sources = ItemSources(
        session_offsets=sessions,
        sessions=np.zeros(len(whole), np.int64),
        turn_offsets=none,
        turn_sessions=empty,
        turn_turns=empty,
    )
    return Forms(
        instance=np.zeros(len(kind), np.int64),
        kind=np.array(kind),
        kinds=("turn", "fact", "summary"),
        sources=sources,
    )


def test_forms_are_counted_once():
    forms = _forms([0, 1, 1, 2])
    assert forms_admitted(_gold([[0, 1], [1, 2]]), EVERY, forms) == {"fact": 2, "turn": 1}
    assert forms_admitted(_gold([[1, 2], [3]], sets=True), EVERY, forms) == {
        "fact": 2,
        "summary": 1,
    }
    assert forms_admitted(_gold([[0]]), ~EVERY, forms) == {}


def test_anchors_that_only_items_of_whole_sessions_serve():
    forms = _forms([0, 1, 1, 2, 2], whole=(3, 4))
    gold = _gold([[1], [1, 3], [3], [3, 4]])
    assert gold_counts(gold, EVERY, forms).whole == 2
    assert gold_counts(gold, EVERY).whole is None
    assert gold_counts(gold, ~EVERY, forms).whole == 0
    # Together with an item of one turn it is not only whole sessions that serve the anchor.
    assert gold_counts(_gold([[1, 3], [3, 4]], sets=True), EVERY, forms).whole == 1
    assert gold_counts(_gold([[], [3]]), EVERY, forms).whole == 1


SHARED_ITEM = {
    "ranking": [1, 3, 9],
    "gold": {"raw": [[1], [2]], "canonical": [[3], [3]]},
    "category": "hop",
}
ONLY_RAW = {"ranking": [9], "gold": {"raw": [[1]], "canonical": [[]]}, "category": "one"}


@pytest.mark.parametrize("rule", ["anchor", "id", "cover"])
def test_the_card_says_every_point_that_papers_leave_open(make_scored, rule):
    card = target_card(make_scored("store", [SHARED_ITEM, ONLY_RAW], rule=rule))
    says = {one.point: one.says for one in card.statements}
    assert list(says) == POINTS
    assert says["credit"] == RULES[rule]
    assert "raw 0, canonical 1" in says["item of two anchors"]
    told = says["anchors without an eligible item"]
    assert "raw 0 of 3, canonical 1 of 3" in told
    assert told.startswith(
        "count nowhere" if rule == "id" else "dropped, and the denominators fall"
    )
    assert "0.6309" in says["composed"] or rule != "anchor"
    assert says["item of whole sessions"].startswith("not known")
    assert says["query without an eligible item"].endswith("raw 0, canonical 1")
    assert "(1)" in says["shared subset"]
    assert says["category names"].endswith("hop, one")
    assert ("0.6131" in says["item of two anchors"]) == (rule == "anchor")
    assert says["anchor"].startswith("none" if rule == "id" else "a gold turn")


def test_figures_of_the_card(make_scored):
    card = target_card(make_scored("store", [SHARED_ITEM, ONLY_RAW], forms=_forms([1, 0, 0, 1])))
    raw, canonical = card.targets
    assert (raw.queries, raw.of, canonical.queries) == (2, 2, 1)
    assert canonical.excluded == {"no_eligible_item": 1}
    assert (raw.forms, canonical.forms) == ({"turn": 2}, {"fact": 1})
    (pair,) = card.pairs
    # Found at rank 1 under raw, at rank 2 under canonical, where one item has both anchors.
    assert (pair.queries, pair.mrr, pair.top1, pair.recall, pair.hit_flips) == (1, 1.0, 1.0, 1.0, 0)
    assert (card.shared, card.k) == (1, 4)


def test_a_pair_that_nothing_serves_has_no_share(make_scored):
    card = target_card(make_scored("store", [ONLY_RAW]))
    (pair,) = card.pairs
    assert (pair.queries, pair.ndcg, pair.mean, pair.hit_flips) == (0, None, None, 0)
    assert card.rules[0].reason == "no query is served by every target under both rules"


def test_another_rule_can_change_the_order_of_targets(make_scored):
    # Per anchor canonical finds all with one item; per id it misses two of three.
    query = {"ranking": [2, 1, 9], "gold": {"raw": [[1]], "canonical": [[2, 3, 4]]}}
    card = target_card(make_scored("store", [query]))
    turned = {one.metric: one.turned for one in card.rules}
    assert turned["ndcg"] == (("raw", "canonical"),)
    assert turned["mrr"] == ()
    assert {one.rule for one in card.rules} == {"id"}


def test_rule_id_knows_no_sets(make_scored):
    scored = make_scored("store", [SHARED_ITEM])
    supports = scored.traced.supports
    supports["raw"] = _gold([[1, 2]], sets=True)
    (rule,) = target_card(scored).rules
    assert "under raw some items support only together" in rule.reason


def test_anchors_that_a_silent_store_keeps_are_told(make_scored):
    scored = make_scored("store", [SHARED_ITEM], level="session")
    scored.traced.supports["raw"] = _gold([[1], []])
    says = {one.point: one.says for one in target_card(scored).statements}
    assert says["anchor"] == "a gold session (level session)"
    told = says["anchors without an eligible item"]
    assert "does not tell what it holds, and never found: raw 1, canonical 0" in told


def test_the_card_counts_what_is_composed_partial_and_whole(make_scored):
    scored = make_scored("store", [SHARED_ITEM], forms=_forms([0, 1, 1, 2], whole=(3,)))
    scored.traced.supports["raw"] = _gold([[1, 2], [3]], sets=True, grades=np.array([0.5, 1.0]))
    says = {one.point: one.says for one in target_card(scored).statements}
    assert says["composed"].endswith("supports of several items: raw 1, canonical 0")
    assert says["partial"].endswith("supports in part: raw 1, canonical 0")
    assert says["item of whole sessions"].endswith("only such items serve: raw 1, canonical 2")


def test_what_a_target_admits_says_what_whole_sessions_do():
    for name in ("source", "canonical", "kind:summary"):
        assert "an item of whole sessions comes from each" in admits(name, "run", "turn")
        assert "whole sessions" not in admits(name, "run", "session")
    assert "whole sessions" not in admits("raw", "run", "turn")


def test_a_store_without_known_anchors_drops_none(make_scored):
    scored = make_scored("store", [SHARED_ITEM], anchored=False)
    says = {one.point: one.says for one in target_card(scored).statements}
    assert says["anchors without an eligible item"].startswith("not known: the input does not tell")


@pytest.mark.parametrize(("rule", "first"), [("anchor", 0.6309), ("cover", 1.0)])
def test_a_perfect_list_for_a_set_is_as_the_card_says(rule, first):
    both = [[Support(frozenset({"a", "b"}))]]
    assert round(credit_one(["a", "b"], both, 2, rule).ndcg, 4) == first
