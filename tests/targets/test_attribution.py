"""From an item's sources to the one code it is credited for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.targets.attribution import (
    PADDING,
    TARGETS,
    UNATTRIBUTED,
    ItemSources,
    credit,
    item_codes,
    session_code,
    turn_code,
    turn_codes,
)

LARGEST = (2**31 - 1, 2**32 - 1)


def flat(items):
    """Sources of items, given as `(sessions, turns)` each, in the flat form."""
    turns = [turn for _, own in items for turn in own]
    return ItemSources(
        session_offsets=np.cumsum([0, *(len(own) for own, _ in items)]),
        sessions=np.array([s for own, _ in items for s in own], dtype=np.int64),
        turn_offsets=np.cumsum([0, *(len(own) for _, own in items)]),
        turn_sessions=np.array([session for session, _ in turns], dtype=np.int64),
        turn_turns=np.array([turn for _, turn in turns], dtype=np.int64),
    )


@pytest.mark.parametrize(
    ("kind", "sessions", "turns", "session", "turn"),
    [
        # one turn
        ("turn", [3], [(3, 7)], 3, turn_code(3, 7)),
        ("turn", [3, 3], [(3, 7), (3, 7)], 3, turn_code(3, 7)),
        ("turn", [0], [(0, 0)], 0, turn_code(0, 0)),
        # several turns of one session
        ("turn", [3], [(3, 7), (3, 8)], 3, UNATTRIBUTED),
        # several sessions
        ("turn", [3, 4], [(3, 7), (4, 0)], UNATTRIBUTED, UNATTRIBUTED),
        ("session", [3, 4], [], UNATTRIBUTED, UNATTRIBUTED),
        # one turn of one session, and the whole of another: neither is certain
        ("turn", [3, 4], [(3, 7)], UNATTRIBUTED, UNATTRIBUTED),
        # a whole session
        ("session", [3], [], 3, UNATTRIBUTED),
        # sources are unknown
        ("turn", [], [], UNATTRIBUTED, UNATTRIBUTED),
        # turns alone say where they are
        ("turn", [], [(3, 7)], 3, turn_code(3, 7)),
        # not what was said, as it was said: no credit under raw
        ("fact", [3], [(3, 7)], UNATTRIBUTED, UNATTRIBUTED),
        # no kind is named, and one of our turns is the only source: taken at its word
        ("unknown", [3], [(3, 7)], 3, turn_code(3, 7)),
        ("unknown", [3, 4], [], UNATTRIBUTED, UNATTRIBUTED),
    ],
)
def test_by_hand(kind, sessions, turns, session, turn):
    assert credit("session", kind, sessions, turns) == session
    assert credit("turn", kind, sessions, turns) == turn


positions = st.tuples(
    st.integers(0, 3) | st.just(LARGEST[0]), st.integers(0, 3) | st.just(LARGEST[1])
)
lineages = st.lists(
    st.tuples(
        st.sampled_from(["turn", "session", "fact", "unknown"]),
        st.lists(positions.map(lambda p: p[0]), max_size=3),
        st.lists(positions, max_size=3),
    ),
    max_size=15,
)


@given(lineages, st.sampled_from(["session", "turn"]))
def test_a_whole_lineage_is_credited_as_its_items_are(lineage, level):
    sources = flat([(sessions, turns) for _, sessions, turns in lineage])
    codes = item_codes(level, [kind for kind, _, _ in lineage], sources)
    assert codes.dtype == np.int64
    assert codes.tolist() == [credit(level, *item) for item in lineage]


@given(st.lists(positions, unique=True))
def test_codes_are_unique_and_never_look_like_a_marker(turns):
    codes = [turn_code(*turn) for turn in turns]
    assert len(set(codes)) == len(codes)
    assert all(0 <= code < 2**63 and code not in {UNATTRIBUTED, PADDING} for code in codes)
    both = np.array(turns, dtype=np.int64).reshape(-1, 2)
    assert turn_codes(both[:, 0], both[:, 1]).tolist() == codes


def test_narrow_integers_do_not_overflow():
    three, seven = np.array([3], dtype=np.int32), np.array([7], dtype=np.int32)
    assert turn_codes(three, seven).tolist() == [turn_code(3, 7)]


@pytest.mark.parametrize("position", [(-1, 0), (0, -1), (2**31, 0), (0, 2**32)])
def test_positions_out_of_range_are_refused(position):
    session, turn = position
    with pytest.raises(ValueError, match="position"):
        turn_code(*position)
    with pytest.raises(ValueError, match="position"):
        turn_codes(np.array([session]), np.array([turn]))
    with pytest.raises(ValueError, match="position"):
        item_codes("turn", ["turn"], flat([([], [position])]))
    if session:
        with pytest.raises(ValueError, match="position"):
            session_code(session)
        with pytest.raises(ValueError, match="position"):
            item_codes("session", ["session"], flat([([session], [])]))


@pytest.mark.parametrize(
    "offsets", [[0], [0, 1, 2], [0, 2], [1, 1], [0, 0]], ids=lambda o: "-".join(map(str, o))
)
def test_offsets_that_do_not_fit_are_refused(offsets):
    nothing = np.zeros(0, dtype=np.int64)
    sources = ItemSources(np.array(offsets), np.array([3]), np.array([0, 0]), nothing, nothing)
    with pytest.raises(ValueError, match="offsets do not fit"):
        item_codes("session", ["session"], sources)


def test_offsets_that_run_backwards_are_refused():
    nothing = np.zeros(0, dtype=np.int64)
    sources = ItemSources(
        np.array([0, 2, 1, 2]), np.array([3, 4]), np.zeros(4, dtype=np.int64), nothing, nothing
    )
    with pytest.raises(ValueError, match="offsets do not fit"):
        item_codes("session", ["session"] * 3, sources)


def test_an_unknown_target_is_named_with_those_that_exist():
    assert TARGETS == ("raw",)
    with pytest.raises(UsageError) as caught:
        credit("turn", "turn", [0], [(0, 0)], "rwa")
    assert "rwa" in caught.value.what
    assert "raw" in caught.value.hint
    with pytest.raises(UsageError):
        item_codes("turn", [], flat([]), "rwa")
