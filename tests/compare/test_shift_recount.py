import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.sensitivity import sensitivity
from memruler.compare.target_anchors import anchor_places, drops, only_anchors, with_dropped
from memruler.metrics.credit import Support, credit_one
from memruler.metrics.credited import credited
from memruler.model.credit import Supports

UNUSED = 100
LOG3 = 0.6309297535714575
"""1 / log2(3), the discount at rank 2."""


def _ends(lengths):
    return np.cumsum([0, *lengths])


def _supports(queries, *, graded, sets):
    """The gold of queries, each a list of anchors, each a list of (items, grade)."""
    kept = [[anchor for anchor in anchors if anchor] for anchors in queries]
    anchors = [anchor for query in kept for anchor in query]
    supports = [support for anchor in anchors for support in anchor]
    return Supports(
        target="made",
        of=np.array([len(query) for query in queries], np.int64),
        anchor_offsets=_ends(map(len, kept)),
        support_offsets=_ends(map(len, anchors)),
        items=np.array([item for items, _ in supports for item in items], np.int64),
        grades=np.array([grade for _, grade in supports], float) if graded else None,
        set_offsets=_ends(len(items) for items, _ in supports) if sets else None,
        place=np.flatnonzero([bool(anchor) for query in queries for anchor in query]),
    )


@st.composite
def _gold(draw):
    graded, sets = draw(st.booleans()), draw(st.booleans())
    items = st.lists(st.integers(0, 9), min_size=1, max_size=2 if sets else 1, unique=True)
    grade = st.sampled_from([0.5, 1.0]) if graded else st.just(1.0)
    anchor = st.lists(st.tuples(items, grade), max_size=2)
    queries = draw(st.lists(st.lists(anchor, max_size=3), min_size=1, max_size=4))
    return queries, _supports(queries, graded=graded, sets=sets)


_RANKING = st.lists(st.integers(0, 9), max_size=5, unique=True)


def _equal(made, hits, queries, rule):
    """Every query against the definition; `queries` has the anchors that should count."""
    found = credited(hits, made, (1, 3), rule)
    for row, anchors in enumerate(queries):
        if not anchors:
            assert not found.served()[row]
            continue
        told = [[Support(frozenset(items), grade) for items, grade in anchor] for anchor in anchors]
        for k in (1, 3):
            one = credit_one([item for item in hits[row] if item >= 0], told, k, rule)
            assert found.values["ndcg", k][row] == pytest.approx(one.ndcg, abs=1e-12)
            assert found.values["recall_micro", k][row] == pytest.approx(one.recall_micro)
            assert found.values["recall_all", k][row] == one.recall_all
            assert found.values["mrr", k][row] == one.mrr


def _hits(data, queries):
    hits = np.full((queries, 5), -1, np.int32)
    for row in range(queries):
        ranking = data.draw(_RANKING)
        hits[row, : len(ranking)] = ranking
    return hits


@given(_gold(), st.data(), st.sampled_from(["anchor", "cover"]))
def test_dropped_anchors_are_misses_by_the_definition(gold, data, rule):
    queries, supports = gold
    made = with_dropped(supports, UNUSED)
    assert not drops(made).any()
    # A dropped anchor as the definition has it: what nobody returns would find it.
    whole = [
        [anchor or [([UNUSED + at], 1.0)] for at, anchor in enumerate(anchors)]
        for anchors in queries
    ]
    _equal(made, _hits(data, len(queries)), whole, rule)


@given(_gold(), st.data(), st.sampled_from(["anchor", "cover"]))
def test_only_some_anchors_are_gold(gold, data, rule):
    queries, supports = gold
    size = sum(map(len, queries))
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    made = only_anchors(supports, anchor_places(supports), wanted)
    left, at = [], 0
    for anchors in queries:
        left.append(
            [a for a, one in zip(anchors, wanted[at : at + len(anchors)], strict=True) if one]
        )
        at += len(anchors)
    assert made.of.tolist() == list(map(len, left))
    _equal(made, _hits(data, len(queries)), [[a for a in q if a] for q in left], rule)


def test_places_are_known_where_nothing_is_dropped():
    whole = _supports([[[([1], 1.0)]]], graded=False, sets=False)
    bare = Supports(**{f: getattr(whole, f) for f in whole.__struct_fields__ if f != "place"})
    assert anchor_places(bare).tolist() == [0]
    dropped = Supports(
        target="made",
        of=np.array([2]),
        anchor_offsets=np.array([0, 1]),
        support_offsets=np.array([0, 1]),
        items=np.array([1]),
    )
    assert anchor_places(dropped) is None


# Of two anchors `wide` has a fact for both and finds one; `lean` has one fact, and finds it.
WIDE = {"ranking": [3, 9], "gold": {"raw": [[1], [2]], "canonical": [[3], [4]]}}
LEAN = {"ranking": [3, 9], "gold": {"raw": [[1], [2]], "canonical": [[3], []]}}


def _by_target(recount, metric, k=2):
    (one,) = [r for r in recount.recommendations if (r.metric, r.k) == (metric, k)]
    return {choice.target: choice.means for choice in one.choices}


def test_who_drops_the_anchor_wins_no_more(make_scored):
    found = sensitivity([make_scored("wide", [WIDE]), make_scored("lean", [LEAN])])
    canonical = found.headline.choices[1]
    assert canonical.winners == ("lean",)
    assert canonical.means["lean"] == 1.0
    (raw, served) = found.served
    assert (raw.same, served.same, served.of, served.served) == (
        True,
        False,
        2,
        {"wide": 2, "lean": 1},
    )
    missed, alike = found.recounts
    assert (missed.queries, missed.anchors, missed.zeros) == (1, 2, {})
    assert _by_target(missed, "ndcg")["canonical"] == pytest.approx(
        {"wide": 1 / (1 + LOG3), "lean": 1 / (1 + LOG3)}
    )
    assert _by_target(missed, "recall_pooled")["canonical"] == {"wide": 0.5, "lean": 0.5}
    assert (alike.queries, alike.anchors) == (1, 1)
    assert _by_target(alike, "ndcg")["canonical"] == {"wide": 1.0, "lean": 1.0}


def test_a_query_that_a_target_cannot_serve_is_a_zero_with_a_name(make_scored):
    gone = {"ranking": [1], "gold": {"raw": [[1], [2]], "canonical": [[], []]}}
    one, two = make_scored("one", [LEAN, gone]), make_scored("two", [WIDE, gone])
    missed, alike = sensitivity([one, two]).recounts
    assert missed.queries == 2
    assert missed.zeros == {"canonical": {"one": 1, "two": 1}}
    assert _by_target(missed, "recall_any")["canonical"] == {"one": 0.5, "two": 0.5}
    assert alike.queries == 1


def test_queries_in_another_order_have_the_same_anchors(make_scored):
    other = {**WIDE, "name": "q9"}
    one = make_scored("one", [{**LEAN, "name": "q1"}, other])
    two = make_scored("two", [other, {**LEAN, "name": "q1"}])
    found = sensitivity([one, two])
    assert all(row.same for row in found.served)
    assert found.recounts[1].anchors == 1 + 2


def test_as_many_anchors_that_are_others_are_not_the_same(make_scored):
    first = {**LEAN, "gold": {**LEAN["gold"], "canonical": [[3], []]}}
    last = {**LEAN, "gold": {**LEAN["gold"], "canonical": [[], [3]]}}
    found = sensitivity([make_scored("first", [first]), make_scored("last", [last])])
    assert [one.same for one in found.served] == [True, False]
    assert found.recounts[1].reason == "no anchor is served by every target in every system"


def test_without_places_it_is_not_possible(make_scored):
    scored = make_scored("one", [LEAN])
    gold = scored.traced.supports
    gold["canonical"] = Supports(
        **{f: getattr(gold["canonical"], f) for f in Supports.__struct_fields__ if f != "place"}
    )
    missed, alike = sensitivity([scored]).recounts
    assert missed.reason is None
    assert alike.reason == "one does not tell which anchors it has under canonical"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [("anchor", "no target drops an anchor in any system"), ("id", "rule id counts items")],
)
def test_nothing_to_recount(make_scored, rule, reason):
    found = sensitivity([make_scored("one", [WIDE], rule=rule)])
    assert all(one.reason.startswith(reason) for one in found.recounts)
