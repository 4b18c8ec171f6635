import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.metrics.credit import Support, credit_one
from memruler.model.credit import Supports
from memruler.scoring.contested import contested
from memruler.scoring.traced import Traced


def gold(target, queries):
    """Supports of queries, each a list of anchors, each a list of `Support`."""
    anchors = [anchor for query in queries for anchor in query]
    supports = [support for anchor in anchors for support in anchor]

    def offsets(groups):
        return np.concatenate(([0], np.cumsum([len(group) for group in groups]))).astype(np.int64)

    return Supports(
        target=target,
        of=np.array([len(query) for query in queries]),
        anchor_offsets=offsets(queries),
        support_offsets=offsets(anchors),
        items=np.array([item for one in supports for item in sorted(one.items)], dtype=np.int32),
        grades=np.array([one.grade for one in supports]),
        set_offsets=offsets([one.items for one in supports]),
    )


def traced(hits, relaxed, strict=(), **about):
    number = len(hits)
    return Traced(
        name="t",
        origin="file",
        query=None,
        category=np.full(number, -1),
        categories=(),
        cluster=np.arange(number),
        hits=np.array(hits, dtype=np.int32),
        reason=np.full(number, -1),
        reasons=(),
        supports={
            "relaxed": gold("relaxed", relaxed),
            "strict": gold("strict", strict or [[] for _ in hits]),
        },
        **about,
    )


def one(*items, grade=1.0):
    return Support(frozenset(items), grade)


def told(found):
    return list(zip(found.rank.tolist(), found.item.tolist(), found.gains.tolist(), strict=True))


def test_only_the_first_item_of_an_anchor_gains():
    trace = traced([[5, 7, 6, 8]], [[[one(5), one(6)], [one(8)]]])
    wanted = [(1, 5, True), (3, 6, False), (4, 8, True)]
    for rule in ("anchor", "cover"):
        assert told(contested(trace, "relaxed", "strict", 4, rule)) == wanted
    assert [gains for *_, gains in told(contested(trace, "relaxed", "strict", 4, "id"))] == [
        True
    ] * 3


def test_a_better_grade_gains_after_a_worse_one_and_not_before():
    anchors = [[[one(1, grade=0.5), one(2), one(3, grade=0.5)]]]
    found = contested(traced([[1, 2, 3]], anchors), "relaxed", "strict", 3)
    assert found.gains.tolist() == [True, True, False]
    found = contested(traced([[2, 1, 3]], anchors), "relaxed", "strict", 3)
    assert found.gains.tolist() == [True, False, False]


def test_of_a_set_only_the_last_gains_and_none_where_it_is_not_complete():
    anchors = [[[one(1, 2)]]]
    found = contested(traced([[2, 9, 1]], anchors), "relaxed", "strict", 3)
    assert told(found) == [(1, 2, False), (3, 1, True)]
    assert told(contested(traced([[2, 9, 1]], anchors), "relaxed", "strict", 2)) == [(1, 2, False)]
    with pytest.raises(UsageError, match="support only together"):
        contested(traced([[2, 9, 1]], anchors), "relaxed", "strict", 3, "id")


def test_what_the_strict_target_admits_is_not_contested_but_finds_the_anchor():
    trace = traced([[1, 2]], [[[one(1), one(2)]]], [[[one(1)]]])
    assert told(contested(trace, "relaxed", "strict", 2)) == [(2, 2, False)]
    trace = traced([[2, 1]], [[[one(1), one(2)]]], [[[one(1)]]])
    assert told(contested(trace, "relaxed", "strict", 2)) == [(1, 2, True)]


def test_an_item_that_returns_counts_once():
    trace = traced([[1, 1]], [[[one(1)]]])
    assert told(contested(trace, "relaxed", "strict", 2, "id")) == [(1, 1, True)]


@pytest.mark.parametrize("about", [{"level": "item"}, {"anchored": False}])
def test_without_anchors_each_counts_by_itself(about):
    trace = traced([[5, 6]], [[[one(5), one(6)]]], **about)
    assert contested(trace, "relaxed", "strict", 2).gains.tolist() == [True, True]


SUPPORT = st.builds(
    Support,
    st.frozensets(st.integers(0, 7), min_size=1, max_size=3),
    st.sampled_from([0.25, 0.5, 1.0]),
)
ANCHORS = st.lists(st.lists(SUPPORT, min_size=1, max_size=3), min_size=1, max_size=3)


@settings(max_examples=300)
@given(ANCHORS, st.permutations(range(8)), st.integers(1, 8))
def test_an_item_gains_where_the_definition_finds_more(anchors, ranking, k):
    found = contested(traced([ranking], [anchors]), "relaxed", "strict", k)
    eligible = {item for supports in anchors for support in supports for item in support.items}
    assert found.item.tolist() == [item for item in ranking[:k] if item in eligible]
    for rank, gains in zip(found.rank.tolist(), found.gains.tolist(), strict=True):
        before = credit_one(ranking, anchors, rank - 1).found if rank > 1 else 0.0
        assert gains == (credit_one(ranking, anchors, rank).found > before)
