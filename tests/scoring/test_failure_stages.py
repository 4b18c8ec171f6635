"""All anchors at once against one anchor at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memruler.model.failures import STAGES
from memruler.scoring.failure_stages import HELD, Stored, earliest, lost_at
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms, Gold, descents

KINDS = ("turn", "fact", "node", "edge", "path", "session", "unknown")
ITEM = st.tuples(
    st.integers(0, 1),  # instance
    st.sampled_from(KINDS),
    st.sets(st.integers(0, 3), max_size=2),  # turns of session 0
    st.booleans(),  # lost
)
QUERY = st.tuples(
    st.integers(0, 1),
    st.lists(st.integers(0, 3), max_size=3, unique=True),
    st.lists(st.integers(0, 20), max_size=4, unique=True),
)


def one_anchor(instance, turn, given, items, exported):
    """The stage by the words of the documentation; None where it was given."""
    mine = [(n, i) for n, i in enumerate(items) if i[0] == instance and turn in i[2]]
    here = [i for i in items if i[0] == instance]
    stored = [i for _, i in mine if not i[3]]
    if any(n in given for n, _ in mine):
        return None
    if stored:
        linked = any(i[1] in {"edge", "path"} and not i[3] for i in here)
        return "graph" if linked and all(i[1] == "node" for i in stored) else "ranking"
    if mine:
        return "ingest"
    if not exported or any(not i[2] and not i[3] for i in here):
        return "unknown"
    keeps = any(i[1] in {"turn", "session", "unknown"} and i[2] for i in here)
    return "ingest" if keeps or not here else "extraction"


@given(st.lists(ITEM, max_size=8), st.lists(QUERY, min_size=1, max_size=5), st.booleans())
def test_every_anchor_and_query_as_by_hand(items, queries, exported):
    items = sorted(items, key=lambda item: item[0])
    turns = [sorted(item[2]) for item in items]
    flat = np.array([turn for one in turns for turn in one], np.int64)
    ends = np.cumsum([0, *map(len, turns)])
    forms = Forms(
        instance=np.array([item[0] for item in items], np.int64),
        kind=np.array([KINDS.index(item[1]) for item in items], np.int64),
        kinds=KINDS,
        sources=ItemSources(
            session_offsets=np.cumsum([0, *(bool(one) for one in turns)]),
            sessions=np.zeros(sum(map(bool, turns)), np.int64),
            turn_offsets=ends,
            turn_sessions=np.zeros(len(flat), np.int64),
            turn_turns=flat,
        ),
    )
    stored = Stored(
        forms=forms,
        reason=np.array([0 if item[3] else -1 for item in items], np.int16),
        reasons=("full",),
        exported=exported,
    )
    gold = Gold(
        offsets=np.cumsum([0, *(len(query[1]) for query in queries)]),
        instance=np.repeat([query[0] for query in queries], [len(q[1]) for q in queries]),
        session=np.zeros(sum(len(query[1]) for query in queries), np.int64),
        turn=np.array([turn for query in queries for turn in query[1]], np.int64),
    )
    hits = np.full((len(queries), 4), -1, np.int64)
    ranked = []
    for row, (instance, _, wanted) in enumerate(queries):
        mine = [n for n in wanted if n < len(items) and items[n][0] == instance]
        mine = [n for n in mine if not items[n][3]]  # what is lost is never returned
        hits[row, : len(mine)] = mine
        ranked.append(mine)
    given_rows = hits[:, :2]
    found = lost_at(gold, stored, descents(gold, forms), hits, given_rows)
    by_query = earliest(found, len(queries))
    anchor = 0
    for row, (instance, golds, _) in enumerate(queries):
        stages = []
        for turn in golds:
            stage = one_anchor(instance, turn, ranked[row][:2], items, exported)
            code = int(found.code[anchor])
            assert (None if code == HELD else STAGES[code]) == stage
            assert (found.why(anchor, stored, 2) is None) == (stage is None)
            ranks = [at + 1 for at, n in enumerate(ranked[row]) if turn in items[n][2]]
            assert found.rank[anchor] == min(ranks, default=0)
            stages += [stage] if stage else []
            anchor += 1
        order = ["ingest", "unknown", "extraction", "graph", "ranking"]
        first = min(stages, key=order.index, default=None)
        code = int(by_query[row])
        assert (None if code == HELD else STAGES[code]) == first
