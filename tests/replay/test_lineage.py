import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import SystemUnderTestError
from memruler.model.corpus import TurnRef
from memruler.model.system import Hit, MemoryItem, SessionInput, TurnInput
from memruler.replay.inputs import InstanceInputs, Origin
from memruler.replay.lineage import AMBIGUOUS, MIXED, LineageBook

POSITIONS = {
    "s0000": TurnRef(3, -1),
    "s0000.t0000": TurnRef(3, 0),
    "s0000.t0001": TurnRef(3, 1),
    "s0000.t0002": TurnRef(3, 2),
    "s0001": TurnRef(1, -1),
    "s0001.t0002": TurnRef(1, 2),
}
THREE = ((3, 0), (3, 1), (3, 2))
DERIVED = {
    "s0000.d0000": Origin("fact", (TurnRef(3, 0), TurnRef(3, 2))),
    "s0000.d0001": Origin("fact", (TurnRef(3, 1),)),
    "s0000.d0002": Origin("fact", ()),
    "s0000.d0003": Origin("summary", (TurnRef(3, -1),)),
}
TEXTS = {
    "s0000.t0000": "Ann: hello",
    "s0000.t0001": " Ann: the same\n",
    "s0000.t0002": "  ",
    "s0001.t0002": "Ann: the same",
    "s0000.d0000": "Ann greets.",
    "s0000.d0001": "Ann repeats.",
    "s0000.d0002": "From nowhere.",
    "s0000.d0003": "All of it.",
}


def given_out(derived=True):
    """Two sessions of turns, and what the data set derived from the first one."""
    wanted = [key for key in TEXTS if derived or key in POSITIONS]
    sessions = tuple(
        SessionInput(
            key=session,
            turns=tuple(
                TurnInput(key=key, text=TEXTS[key], speaker="Ann")
                for key in wanted
                if key.startswith(session)
            ),
        )
        for session in ("s0000", "s0001")
    )
    return InstanceInputs(sessions, POSITIONS, DERIVED if derived else {})


def known(derived=True, **item):
    """The record of one exported item that says nothing but what `item` says."""
    said = {"id": "own", "kind": "unknown", "sources": (), "text": "?"}
    (record,) = LineageBook(given_out(derived), [MemoryItem(**(said | item))]).records
    return record


def test_exported_items_come_first_and_keep_their_state():
    items = [
        MemoryItem(id="a", kind="turn", sources=("s0000.t0000",), text="x"),
        MemoryItem(
            id="b", kind="turn", sources=("s0001.t0002",), text="y", status="refused", reason="dup"
        ),
    ]
    book = LineageBook(given_out(), items)
    assert [(r.item, r.sessions, r.turns, r.status, r.reason) for r in book.records] == [
        (0, (3,), ((3, 0),), "stored", None),
        (1, (1,), ((1, 2),), "refused", "dup"),
    ]
    assert book.row(Hit(item="b")) == 1
    assert book.chars(0) == 1


def test_an_item_known_only_from_a_hit_is_added_once():
    book = LineageBook(given_out(), ())
    hit = Hit(item="n", sources=("s0001.t0002", "s0000"), text="abc", kind="fact")
    assert [book.row(hit), book.row(hit)] == [0, 0]
    record = book.records[0]
    assert (record.sessions, record.turns, record.kind) == ((1, 3), ((1, 2),), "fact")


@pytest.mark.parametrize("sources", [("s9999",), ("s0000.t0000", "foreign")])
def test_an_item_with_an_unknown_source_comes_from_nowhere(sources):
    book = LineageBook(given_out(), ())
    book.row(Hit(item="n", sources=sources))
    assert book.records[0].sessions == ()
    assert book.records[0].attribution == "unknown"
    assert book.chars(0) is None


def test_one_id_with_two_origins_is_a_fault_of_the_system():
    book = LineageBook(given_out(), ())
    book.row(Hit(item="n", sources=("s0000.t0000",)))
    with pytest.raises(SystemUnderTestError, match="two different origins"):
        book.row(Hit(item="n", sources=("s0001.t0002",)))


def test_an_id_exported_twice_is_a_fault_of_the_system():
    item = MemoryItem(id="a", kind="turn", sources=(), text="")
    with pytest.raises(SystemUnderTestError, match="twice"):
        LineageBook(given_out(), [item, item])


def origin(record):
    return record.attribution, record.kind, record.sessions, record.turns


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ({"sources": ("s0000.t0000",), "kind": "turn"}, ("reported", "turn", (3,), ((3, 0),))),
        ({"sources": ("s0000.t0000",)}, ("reported", "unknown", (3,), ((3, 0),))),
        ({"sources": ("s0001",), "kind": "session"}, ("reported", "session", (1,), ())),
        ({"id": "s0000.t0000"}, ("id", "turn", (3,), ((3, 0),))),
        ({"id": "s0000"}, ("id", "session", (3,), ())),
        ({"id": "s0000.t0000", "kind": "fact"}, ("id", "fact", (3,), ((3, 0),))),
        ({"text": "Ann: hello"}, ("text", "turn", (3,), ((3, 0),))),
        ({"text": "\tAnn: hello \n"}, ("text", "turn", (3,), ((3, 0),))),
        ({"text": "Ann: hello", "kind": "note"}, ("text", "note", (3,), ((3, 0),))),
    ],
)
def test_the_ways_to_know(item, wanted):
    assert origin(known(**item)) == wanted
    assert origin(known(**item, derived=False)) == wanted


@pytest.mark.parametrize(
    "item",
    [
        {"text": "ann: hello"},
        {"text": "hello"},
        {"text": "Ann:  hello"},
        {"text": "Ann: hello, and more"},
        {"text": "  "},  # as one unit is
        {"text": ""},
        {"id": " s0000"},
        {"id": "s0000.t0009"},
    ],
)
def test_nothing_is_guessed(item):
    assert origin(known(**item)) == ("unknown", "unknown", (), ())


def test_reported_goes_before_id_and_id_before_text():
    item = {"id": "s0001.t0002", "text": "Ann: hello"}
    assert known(**item).turns == ((1, 2),)
    assert known(**item, sources=("s0000.t0001",)).turns == ((3, 1),)
    assert known(**item).attribution == "id"


def test_a_foreign_source_is_not_looked_for_in_another_way():
    record = known(id="s0000.t0000", text="Ann: hello", sources=("s0000.t0000", "mine"))
    assert origin(record) == ("unknown", "unknown", (), ())


def test_a_text_of_two_units_is_unknown_and_counted():
    items = [
        MemoryItem(id="a", kind="turn", sources=(), text="Ann: the same"),
        MemoryItem(id="b", kind="turn", sources=(), text="Ann: hello"),
        MemoryItem(id="c", kind="turn", sources=(), text="other"),
        MemoryItem(id="d", kind="turn", sources=("s0000.t0000",), text="other"),
    ]
    book = LineageBook(given_out(), items)
    assert [r.attribution for r in book.records] == ["unknown", "text", "unknown", "reported"]
    assert book.attribution() == {"unknown": 2, "text": 1, "reported": 1, AMBIGUOUS: 1}
    assert AMBIGUOUS not in LineageBook(given_out(), items[1:]).attribution()


@pytest.mark.parametrize(
    ("sources", "said", "wanted"),
    [
        # A store that calls everything a turn, or says nothing, is not believed.
        (("s0000.d0000",), "turn", ("reported", "fact", (3,), ((3, 0), (3, 2)))),
        (("s0000.d0003",), "unknown", ("reported", "summary", (3,), ())),
        # A system's own transformation is.
        (("s0000.d0000",), "node", ("reported", "node", (3,), ((3, 0), (3, 2)))),
        (("s0000.d0000", "s0000.d0001"), "turn", ("reported", "fact", (3,), THREE)),
        (("s0000.t0001", "s0000.d0001"), "turn", ("reported", MIXED, (3,), ((3, 1),))),
        (("s0001.t0002", "s0000.d0001"), "fact", ("reported", "fact", (1, 3), ((1, 2), (3, 1)))),
        (("s0000.d0003", "s0000.d0001"), "unknown", ("reported", MIXED, (3,), ())),
        # One source that is not known makes all of them so.
        (("s0000.d0002",), "turn", ("unknown", "fact", (), ())),
        (("s0000.d0001", "s0000.d0002"), "turn", ("unknown", "fact", (), ())),
    ],
)  # fmt: skip
def test_keys_of_derived_memories(sources, said, wanted):
    assert origin(known(sources=sources, kind=said)) == wanted


def test_derived_memories_by_id_and_text():
    fact = ("fact", (3,), ((3, 0), (3, 2)))
    assert origin(known(id="s0000.d0000")) == ("id", *fact)
    assert origin(known(text="Ann greets.", kind="turn")) == ("text", *fact)
    assert origin(known(text="From nowhere.")) == ("unknown", "fact", (), ())
    # Not given, so neither key nor text means anything.
    for item in ({"id": "s0000.d0000"}, {"text": "Ann greets."}):
        assert known(**item, derived=False).attribution == "unknown"


def test_hits_are_attributed_like_exported_items():
    book = LineageBook(given_out(), ())
    hits = [
        Hit(item="s0000.t0000"),
        Hit(item="b", text="Ann: hello "),
        Hit(item="c", text="Ann greets.", sources=()),
        Hit(item="d", text="Ann: the same"),
        Hit(item="e"),
    ]
    assert [book.row(hit) for hit in (*hits, *hits)] == [*range(5)] * 2
    ways = [record.attribution for record in book.records]
    assert ways == ["id", "text", "text", "unknown", "unknown"]
    assert [record.kind for record in book.records[:3]] == ["turn", "turn", "fact"]


def test_an_id_whose_text_changes_is_no_unit():
    """The text of a hit may be a passage that was cut out for the question."""
    book = LineageBook(given_out(), ())
    book.row(Hit(item="n", text="Ann: hello"))
    assert book.records[0].attribution == "text"
    book.row(Hit(item="n", text=" Ann: hello"))
    book.row(Hit(item="n"))
    assert book.records[0].attribution == "text"
    book.row(Hit(item="n", text="Ann greets."))
    assert origin(book.records[0]) == ("unknown", "unknown", (), ())
    book.row(Hit(item="n", text="Ann: hello"))
    assert book.attribution() == {"unknown": 1}


def test_texts_are_gone_through_only_where_an_item_needs_it():
    book = LineageBook(given_out(), [])
    book.row(Hit(item="n", sources=("s0000",)))
    book.row(Hit(item="s0001"))
    assert "_texts" not in vars(book)
    book.row(Hit(item="m", text="x"))
    assert "_texts" in vars(book)


KEYS = st.sampled_from([*TEXTS, "s0000", "s0001", "foreign"])


@given(
    st.lists(KEYS, max_size=4).map(tuple),
    st.one_of(KEYS, st.text(max_size=3)),
    st.one_of(st.sampled_from([*TEXTS.values()]), st.text(max_size=3)),
    st.sampled_from(["turn", "session", "unknown", "fact", "node"]),
)
def test_what_is_known_is_known_as_a_whole(sources, name, text, kind):
    record = known(id=name, sources=sources, text=text, kind=kind)
    assert (record.attribution == "unknown") == (not record.sessions)
    assert record.sessions or not record.turns
    assert {session for session, _ in record.turns} <= set(record.sessions)
    if sources:
        assert record.attribution in {"reported", "unknown"}
    if any(key in DERIVED for key in sources):
        assert record.kind not in {"turn", "session", "unknown"}
