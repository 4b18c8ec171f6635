import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.sensitivity import headline_metric, sensitivity
from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.shift_winners import flip_change, gaps, over_targets, recommendation
from memruler.errors import Refusal, UsageError
from memruler.report.document import encode

GOLD = {"raw": [[1]], "source": [[1, 2]], "canonical": [[2]]}


def _queries(*rankings, **fields):
    return [{"ranking": ranking, "gold": GOLD, **fields} for ranking in rankings]


@pytest.fixture
def flipped(make_scored):
    """`turns` ranks the raw item first, `facts` the fact: who wins is a matter of the target."""
    turns = make_scored("turns", _queries([1, 9, 8, 2], [1, 9, 2]))
    facts = make_scored("facts", _queries([2, 9, 1], [2, 9, 8, 1]))
    return [turns, facts]


def test_the_winner_is_a_matter_of_the_target(flipped):
    found = sensitivity(flipped)
    assert (found.metric, found.k, found.queries, found.common) == ("ndcg", 4, 2, 2)
    assert found.headline.outcome == "changed"
    winners = {choice.target: choice.winners for choice in found.headline.choices}
    assert winners == {
        "raw": ("turns",),
        "source": ("turns", "facts"),
        "canonical": ("facts",),
    }
    (gap,) = [one for one in found.gaps if (one.metric, one.k) == ("ndcg", 4)]
    assert (gap.a, gap.b) == ("turns", "facts")
    assert [one.winner for one in gap.gaps] == ["turns", None, "facts"]
    assert gap.flips == (("raw", "canonical"),)
    assert gap.ties == ("source",)


def test_top1_stands_once_and_every_other_metric_at_each_depth(flipped):
    found = sensitivity(flipped)
    cells = [(one.metric, one.k) for one in found.recommendations]
    assert len(set(cells)) == len(cells) == 6 * 2 + 1
    assert ("top1", 1) in cells
    assert len(found.gaps) == len(cells)


def test_queries_are_matched_by_name_whatever_their_order(flipped, make_scored):
    turns, facts = flipped
    names = [f"q{at}" for at in range(2)]
    swapped = make_scored(
        "facts",
        [
            {**query, "name": name}
            for query, name in zip(_queries([2, 9, 8, 1], [2, 9, 1]), reversed(names), strict=True)
        ],
    )
    one, two = sensitivity([turns, facts]), sensitivity([turns, swapped])
    assert one.recommendations == two.recommendations
    assert one.gaps == two.gaps


def test_only_common_queries_that_all_serve_decide(make_scored):
    unserved = {"ranking": [1], "gold": {"raw": [[1]], "canonical": [[]]}, "name": "bare"}
    gold = {"raw": [[1]], "canonical": [[2]]}
    one = make_scored(
        "one",
        [
            {"ranking": [1, 2], "gold": gold, "name": "a"},
            {"ranking": [9, 8], "gold": gold, "name": "mine"},
            {**unserved, "gold": gold},
        ],
    )
    two = make_scored("two", [{"ranking": [2, 1], "gold": gold, "name": "a"}, unserved])
    found = sensitivity([one, two])
    assert (found.common, found.queries) == (2, 1)
    assert found.headline.choices[0].means == {"one": 1.0, "two": pytest.approx(0.6309, abs=1e-4)}
    assert any("1 of the 2 common queries are not served" in note for note in found.notes)
    assert any("1 of the 3 queries of one were not asked" in note for note in found.notes)
    # Shifts are over whatever both targets serve, in each system by itself.
    assert found.shifts[0].whole.queries == 3 + 1


def test_a_failed_search_is_no_common_query(make_scored):
    failed = [*_queries([1]), {**_queries([2])[0], "reason": "search_failed"}]
    found = sensitivity([make_scored("one", _queries([1], [2])), make_scored("two", failed)])
    assert (found.asked, found.common, found.queries) == (2, 1, 1)
    assert any("may not be scored in each (search_failed)" in note for note in found.notes)


def test_no_common_query_is_refused(make_scored):
    one = make_scored("one", [{"ranking": [1], "gold": GOLD, "name": "a"}])
    two = make_scored("two", [{"ranking": [1], "gold": GOLD, "name": "b"}])
    with pytest.raises(Refusal, match="no query in common") as caught:
        sensitivity([one, two])
    assert caught.value.exit_code == 4


def test_no_query_that_all_serve_is_refused(make_scored):
    gold = {"raw": [[1]], "canonical": [[]]}
    with pytest.raises(Refusal, match="none of the 1 common queries") as caught:
        sensitivity([make_scored("one", [{"ranking": [1], "gold": gold}])])
    assert "canonical serves 0" in str(caught.value)


def test_another_corpus_is_refused(make_scored):
    one = make_scored("one", _queries([1]), identity={"corpus": {"sha256": "a"}})
    two = make_scored("two", _queries([1]), identity={"corpus": {"sha256": "b"}})
    with pytest.raises(Refusal, match="two is not over the same corpus as one"):
        sensitivity([one, two])


def test_other_gold_is_refused(make_scored):
    two_anchors = {"raw": [[1], [3]], "source": [[1, 2], [3]], "canonical": [[2], []]}
    one = make_scored("one", _queries([1]))
    two = make_scored("two", [{"ranking": [1], "gold": two_anchors}])
    with pytest.raises(
        Refusal, match="another number of gold anchors in two under raw than in one"
    ):
        sensitivity([one, two])


def test_one_target_is_refused(make_scored):
    with pytest.raises(Refusal, match="only one"):
        sensitivity([make_scored("one", [{"ranking": [1], "gold": {"raw": [[1]]}}])])


def test_a_target_that_one_store_lacks_is_left_out_and_named(make_scored):
    one = make_scored("one", _queries([1, 2]))
    bare = {"raw": [[1]], "source": [[1]]}
    two = make_scored(
        "two", [{"ranking": [1], "gold": bare}], unserved={"canonical": "it does not tell"}
    )
    found = sensitivity([one, two])
    assert found.targets == ("raw", "source")
    assert found.left_out == {"canonical": {"two": "it does not tell"}}


def test_equal_names_are_told_apart(flipped):
    again = [flipped[0], flipped[0], flipped[1]]
    found = sensitivity(again)
    assert found.systems == ("turns", "turns#2", "facts")
    assert [one.name for one in found.scores] == list(found.systems)


def test_one_system_has_shifts_and_no_winners(flipped):
    found = sensitivity(flipped[:1])
    assert found.shifts[0].whole.queries == 2
    assert (found.gaps, found.categories, found.rules, found.over_targets) == ((), (), (), ())
    assert found.headline.outcome == "same"


def test_an_average_may_agree_with_one_target_only():
    means = {"raw": {"a": 0.9, "b": 0.1}, "canonical": {"a": 0.4, "b": 0.5}}
    found = over_targets("ndcg", 4, means)
    assert (found.winners, found.agrees, found.differs) == (("a",), ("raw",), ("canonical",))
    assert found.value == 0.65


def test_a_tie_with_a_common_winner_is_no_change():
    means = {"raw": {"a": 0.5, "b": 0.5}, "canonical": {"a": 0.4, "b": 0.5}}
    assert recommendation("ndcg", 4, means).outcome == "tied"
    (gap,) = gaps("ndcg", 4, means)
    assert (gap.flips, gap.ties) == ((), ("raw",))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=4))
def test_two_systems_change_exactly_if_they_flip(values):
    means = {f"t{at}": {"a": a, "b": b} for at, (a, b) in enumerate(values)}
    (gap,) = gaps("ndcg", 4, means)
    outcome = recommendation("ndcg", 4, means).outcome
    assert (outcome == "changed") == bool(gap.flips)
    assert (outcome == "tied") == (bool(gap.ties) and not gap.flips)


def test_the_mean_of_category_means_can_undo_a_flip(make_scored):
    # Many easy queries for one system, few hard ones for the other.
    gold = {"raw": [[1]], "canonical": [[2]]}
    many = [{"gold": gold, "category": "many", "cluster": at % 2} for at in range(4)]
    few = [{"gold": gold, "category": "few", "cluster": 2}]
    one = make_scored("one", [{**q, "ranking": [1, 2]} for q in (*many, *few)])
    two = make_scored(
        "two", [{**q, "ranking": [2]} for q in many] + [{**few[0], "ranking": [1, 2, 9]}]
    )
    found = sensitivity([one, two])
    over = {one.over: one for one in found.aggregations}
    assert (over["queries"].groups, over["categories"].groups, over["clusters"].groups) == (5, 2, 3)
    raw = {a: r.recommendations[0].choices[0].means["two"] for a, r in over.items()}
    assert raw["queries"] == pytest.approx(1 / 5)
    assert raw["categories"] == pytest.approx(1 / 2)
    assert raw["clusters"] == pytest.approx(1 / 3)


def test_a_mean_that_says_nothing_says_why(flipped):
    over = {one.over: one for one in sensitivity(flipped).aggregations}
    assert over["categories"].reason == "no query has a category"
    assert over["clusters"].reason.startswith("every query is of a cluster of its own, as where")
    assert over["categories"].recommendations == ()


def test_where_targets_agree(flipped):
    found = {(one.on, one.k): one for one in sensitivity(flipped).agreements}
    hit = found["hit", 4]
    # Every target finds something for every query of both systems, at other ranks.
    assert (hit.of, hit.agree, hit.nothing, hit.changed, hit.queries) == (4, 4, 0, 4, 2)
    assert [len(one) for one in (hit.flips.kept, hit.flips.gone, hit.flips.new)] == [1, 0, 0]
    assert hit.flips.kept[0].targets == ("raw", "canonical")
    assert hit.flips.kept[0].winners == ("turns", "facts")
    rank = found["first_rank", 4]
    assert (rank.agree, rank.share, rank.queries, rank.recommendation) == (0, None, 0, None)
    assert rank.flips is None
    assert rank.reason.endswith("so there is no verdict")


def test_what_nobody_finds_is_no_agreement(make_scored):
    # Items of raw and canonical are never the same, so a shared first rank is that of no hit.
    found = sensitivity([make_scored(name, _queries([9, 8], [7])) for name in "ab"])
    for one in found.agreements:
        assert (one.agree, one.nothing, one.of, one.queries) == (0, 4, 4, 0)
        assert (one.share, one.recommendation) == (None, None)


def test_a_query_that_only_one_system_finds_decides_where_targets_agree(make_scored):
    gold = {"raw": [[1]], "canonical": [[1]]}
    one = make_scored("one", [{"ranking": [1], "gold": gold}, {"ranking": [9], "gold": gold}])
    two = make_scored("two", [{"ranking": [9], "gold": gold}, {"ranking": [9], "gold": gold}])
    rank = next(a for a in sensitivity([one, two]).agreements if a.on == "first_rank")
    assert (rank.agree, rank.nothing, rank.queries) == (1, 3, 1)
    assert {c.winners for c in rank.recommendation.choices} == {("one",)}


def test_flips_that_come_and_go():
    before = {"raw": {"a": 1, "b": 0}, "source": {"a": 0, "b": 1}, "canonical": {"a": 1, "b": 0}}
    after = {"raw": {"a": 0, "b": 1}, "source": {"a": 0, "b": 1}, "canonical": {"a": 1, "b": 0}}
    found = flip_change(before, after)
    assert [(f.targets, f.winners) for f in found.kept] == [(("source", "canonical"), ("b", "a"))]
    assert [f.targets for f in found.gone] == [("raw", "source")]
    assert [(f.targets, f.winners) for f in found.new] == [(("raw", "canonical"), ("b", "a"))]
    # The same two targets the other way round are no flip that stayed.
    turned = {target: {"a": mine["b"], "b": mine["a"]} for target, mine in before.items()}
    assert flip_change(before, turned).kept == ()


def test_agreement_on_the_first_rank_leaves_later_ranks(make_scored):
    gold = {"raw": [[1], [2]], "canonical": [[1], [3]]}
    found = sensitivity([make_scored("one", [{"ranking": [1, 2], "gold": gold}])])
    rank = next(one for one in found.agreements if one.on == "first_rank")
    assert (rank.agree, rank.changed, rank.share) == (1, 1, 1.0)


def test_the_smallest_gap_stands_with_each_choice():
    means = {"raw": {"a": 0.5, "b": 0.25, "c": 0.125}, "canonical": {"a": 0.5, "b": 0.5, "c": 0}}
    raw, canonical = recommendation("ndcg", 4, means).choices
    assert (raw.gap, canonical.gap) == (0.25, None)
    assert recommendation("ndcg", 4, {"raw": {"a": 1.0}}).choices[0].gap is None


def test_another_rule_can_change_the_winner(make_scored):
    # Per anchor `deep` has found it all with its first hit; per id `wide` finds more of it.
    gold = {"raw": [[1]], "source": [[1, 2, 3]]}
    deep = make_scored("deep", [{"ranking": [1, 9, 8, 7], "gold": gold}])
    wide = make_scored("wide", [{"ranking": [9, 1, 2, 3], "gold": gold}])
    rules = {(one.metric, one.k): one for one in sensitivity([deep, wide]).rules}
    changed = rules["ndcg", 4]
    assert (changed.rule, changed.queries, changed.changed) == ("id", 1, ("source",))
    assert changed.used.choices[1].winners == ("deep",)
    assert changed.other.choices[1].winners == ("wide",)
    assert rules["mrr", 4].changed == ()


def test_level_item_has_no_other_rule(make_scored):
    scored = [make_scored(name, _queries([1, 2]), level="item") for name in "ab"]
    found = sensitivity(scored)
    assert (found.rule, found.rules) == ("id", ())
    assert all(card.rules == () for card in found.cards)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, ("ndcg", 4)),
        ("mrr@2", ("mrr", 2)),
        ("top1", ("top1", 1)),
        ("top1@1", ("top1", 1)),
        ("recall_pooled", ("recall_pooled", 4)),
    ],
)
def test_the_metric_that_leads(asked, found):
    assert headline_metric(asked, (2, 4)) == found


@pytest.mark.parametrize("asked", ["nope", "precision@2", "ndcg@3", "ndcg@x", "top1@2", "ndcg@2,4"])
def test_a_metric_that_is_not_scored(asked):
    with pytest.raises(UsageError):
        headline_metric(asked, (2, 4))


def test_reads_back_as_json(flipped):
    found = sensitivity(flipped, "recall_any@2")
    assert msgspec.json.decode(encode(found), type=Sensitivity) == found


def test_the_published_winners(tiap):
    found = sensitivity([tiap.scored("f1"), tiap.scored("f5")])
    f1, f5 = found.systems
    assert (f1[-2:], f5[-2:], found.queries) == ("f1", "f5", 453)
    assert (found.metric, found.k, found.headline.outcome) == ("ndcg", 60, "changed")
    winners = {choice.target: choice.winners for choice in found.headline.choices}
    assert winners == {"raw": (f1,), "source": (f5,), "canonical": (f1,)}
    # Per id the source winner is another one: the rule moves as much as the target.
    (rule,) = [one for one in found.rules if (one.metric, one.k) == ("ndcg", 60)]
    assert (rule.rule, rule.changed) == ("id", ("source",))
    json.loads(encode(found))


def test_credit_per_id_is_as_published(tiap):
    found = sensitivity([tiap.scored("f5", "id")])
    means = {one.target: one.own.depths[-1].ndcg for one in found.scores[0].targets}
    assert {target: round(mean, 4) for target, mean in means.items()} == {
        "raw": 0.1680,
        "source": 0.4118,
        "canonical": 0.4714,
    }


def test_other_gold_is_seen_under_every_rule_and_target(make_scored):
    two_anchors = {"raw": [[1], [3]], "source": [[1, 2], [3]], "canonical": [[2], []]}
    pair = [
        make_scored("one", _queries([1]), rule="id"),
        make_scored("two", [{"ranking": [1], "gold": two_anchors}], rule="id"),
    ]
    with pytest.raises(Refusal, match="two under canonical than in one under raw"):
        sensitivity(pair)


def test_where_anchors_are_not_known_gold_cannot_be_held_against_each_other(make_scored):
    one = make_scored("one", _queries([1, 2]), anchored=False)
    two = make_scored(
        "two", [{"ranking": [1], "gold": {**GOLD, "source": [[1], [2]]}}], anchored=False
    )
    found = sensitivity([one, two])
    assert any("same gold is not known" in note for note in found.notes)
    assert found.served == ()
    assert {one.reason for one in found.recounts} == {
        "the input does not tell which anchor an item supports"
    }


def test_the_published_dependence_is_that_on_dropped_anchors(tiap):
    found = sensitivity([tiap.scored("f1"), tiap.scored("f5")])
    f1, f5 = found.systems
    served = {one.target: one for one in found.served}
    assert [one.same for one in found.served] == [True, True, False]
    assert (served["canonical"].of, served["canonical"].served) == (898, {f1: 529, f5: 675})
    rows = {one.over: one for one in found.recounts}
    assert (rows["dropped_missed"].queries, rows["dropped_missed"].anchors) == (453, 898)
    means = {
        over: {
            choice.target: [round(choice.means[name], 4) for name in (f1, f5)]
            for one in recount.recommendations
            if (one.metric, one.k) == ("ndcg", 60)
            for choice in one.choices
        }
        for over, recount in rows.items()
    }
    assert means["dropped_missed"]["canonical"] == [0.4765, 0.4994]
    assert means["dropped_missed"]["source"] == [0.5062, 0.5106]
    assert (rows["served_by_all"].queries, rows["served_by_all"].anchors) == (453, 529)
    assert means["served_by_all"]["canonical"] == [0.5472, 0.5439]
    hit = next(one for one in found.agreements if (one.on, one.k) == ("hit", 60))
    assert (hit.agree, hit.nothing, hit.changed, hit.queries) == (577, 113, 577, 267)
    assert [len(one) for one in (hit.flips.kept, hit.flips.gone, hit.flips.new)] == [1, 1, 1]
    rank = next(one for one in found.agreements if (one.on, one.k) == ("first_rank", 60))
    assert (rank.agree, rank.nothing, rank.recommendation) == (0, 113, None)


def test_another_rule_is_refused(make_scored):
    one = make_scored("one", _queries([1]))
    two = make_scored("two", _queries([1]), rule="id")
    with pytest.raises(
        Refusal, match="two is scored with credit rule id, one with credit rule anch"
    ):
        sensitivity([one, two])


def test_without_anchors_there_is_no_other_rule(make_scored):
    found = sensitivity([make_scored("one", _queries([1, 2]), anchored=False)] * 2)
    assert (found.rule, found.rules) == ("id", ())
    says = {one.point: one.says for one in found.cards[0].statements}
    assert says["anchor"].startswith("none: the file of targets does not tell")
