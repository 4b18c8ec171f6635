"""Which stored items are eligible, against the definition in two loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms, Gold, descents, eligible
from memruler.targets.forms import NAMED, VERBATIM, named_target

KINDS = ("turn", "fact", "summary", "unknown", "node")


def ends(lists):
    return np.cumsum([0, *map(len, lists)])


def forms_of(items) -> Forms:
    """Items as `(instance, kind, whole sessions, turns)`."""
    sessions = [sorted({*whole, *(s for s, _ in turns)}) for _, _, whole, turns in items]
    return Forms(
        instance=np.array([i for i, *_ in items], np.int64),
        kind=np.array([KINDS.index(kind) for _, kind, *_ in items], np.int64),
        kinds=KINDS,
        sources=ItemSources(
            session_offsets=ends(sessions),
            sessions=np.array([s for one in sessions for s in one], np.int64),
            turn_offsets=ends([turns for *_, turns in items]),
            turn_sessions=np.array([s for *_, turns in items for s, _ in turns], np.int64),
            turn_turns=np.array([t for *_, turns in items for _, t in turns], np.int64),
        ),
    )


def gold_of(queries, level) -> Gold:
    """Queries as `(instance, [(session, turn), ...])`."""
    anchors = [(i, s, t) for i, places in queries for s, t in places]
    return Gold(
        offsets=ends([places for _, places in queries]),
        instance=np.array([i for i, *_ in anchors], np.int64),
        session=np.array([s for _, s, _ in anchors], np.int64),
        turn=None if level == "session" else np.array([t for *_, t in anchors], np.int64),
    )


def by_loops(target, queries, items, level):
    """The supports of each anchor that is served, and how many anchors there were."""
    found = []
    for instance, places in queries:
        anchors = []
        for session, turn in places:
            mine = []
            for row, (owner, kind, whole, turns) in enumerate(items):
                sessions = {*whole, *(s for s, _ in turns)}
                of_session = session in sessions
                of_turn = (session, turn) in turns or session in whole
                if owner != instance or not (of_session if level == "session" else of_turn):
                    continue
                sole = len(sessions) == 1 and (level == "session" or len(turns) == 1)
                if {
                    "raw": kind in VERBATIM and sole,
                    "source": True,
                    "canonical": kind not in VERBATIM,
                    "kind:fact+node": kind in {"fact", "node"},
                }[target]:
                    mine.append(row)
            anchors.append(mine)
        found.append(anchors)
    return found


place = st.tuples(st.integers(0, 2), st.integers(0, 3))
item = st.tuples(
    st.integers(0, 1),
    st.sampled_from(KINDS),
    st.sets(st.integers(0, 2), max_size=2),
    st.sets(place, max_size=3),
)
query = st.tuples(st.integers(0, 1), st.lists(place, max_size=3, unique=True))


@pytest.mark.parametrize("level", ["turn", "session"])
@pytest.mark.parametrize("name", ["raw", "source", "canonical", "kind:fact+node"])
@given(items=st.lists(item, max_size=8), queries=st.lists(query, max_size=4))
def test_equals_two_loops(name, level, items, queries):
    # A whole session has no turn beside it: that is how it is known to be whole.
    items = [
        (i, k, tuple(sorted(w)), tuple(sorted(t for t in turns if t[0] not in w)))
        for i, k, w, turns in items
    ]
    if level == "session":
        queries = [(i, [(s, 0) for s in sorted({s for s, _ in places})]) for i, places in queries]
    target = named_target(name)
    gold, forms = gold_of(queries, level), forms_of(items)
    wanted = by_loops(name, queries, items, level)
    for keep in (False, True):
        made = eligible(target, gold, forms, descents(gold, forms), keep=keep)
        assert made.of.tolist() == [len(places) for _, places in queries]
        for row, anchors in enumerate(wanted):
            if not keep:
                anchors = [mine for mine in anchors if mine]  # noqa: PLW2901
            lo, hi = made.anchor_offsets[row : row + 2]
            got = [
                made.items[made.support_offsets[a] : made.support_offsets[a + 1]].tolist()
                for a in range(lo, hi)
            ]
            assert got == anchors


def test_sparse_positions_do_not_overflow():
    far = 2**31 - 1
    items = [(far, "turn", (), ((far, far),)), (0, "fact", (), ((far, 0),))]
    gold = gold_of([(far, [(far, far)]), (0, [(far, 0)])], "turn")
    made = eligible(
        NAMED["source"], gold, forms_of(items), descents(gold, forms_of(items)), keep=False
    )
    assert made.items.tolist() == [0, 1]


def test_names():
    assert named_target("kind:summary+fact").name == "kind:fact+summary"
    assert named_target("mine.py:Target") is None
    assert named_target("other") is None
    for bad in ("kind:", "kind:1fact", "kind:fact+", "kind:a b"):
        with pytest.raises(UsageError, match="not a kind"):
            named_target(bad)
