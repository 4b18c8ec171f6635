import pytest

from memruler.errors import SystemUnderTestError
from memruler.model.corpus import TurnRef
from memruler.model.system import Hit, MemoryItem
from memruler.replay.lineage import LineageBook

POSITIONS = {"s0000": TurnRef(3, -1), "s0000.t0000": TurnRef(3, 0), "s0001.t0002": TurnRef(1, 2)}


def test_exported_items_come_first_and_keep_their_state():
    items = [
        MemoryItem(id="a", kind="turn", sources=("s0000.t0000",), text="x"),
        MemoryItem(
            id="b", kind="turn", sources=("s0001.t0002",), text="y", status="refused", reason="dup"
        ),
    ]
    book = LineageBook(POSITIONS, items)
    assert [(r.item, r.sessions, r.turns, r.status, r.reason) for r in book.records] == [
        (0, (3,), ((3, 0),), "stored", None),
        (1, (1,), ((1, 2),), "refused", "dup"),
    ]
    assert book.row(Hit(item="b")) == 1
    assert book.chars(0) == 1


def test_an_item_known_only_from_a_hit_is_added_once():
    book = LineageBook(POSITIONS, ())
    hit = Hit(item="n", sources=("s0001.t0002", "s0000"), text="abc", kind="fact")
    assert [book.row(hit), book.row(hit)] == [0, 0]
    record = book.records[0]
    assert (record.sessions, record.turns, record.kind) == ((1, 3), (), "fact")


@pytest.mark.parametrize("sources", [("s9999",), ("s0000.t0000", "foreign")])
def test_an_item_with_an_unknown_source_comes_from_nowhere(sources):
    book = LineageBook(POSITIONS, ())
    book.row(Hit(item="n", sources=sources))
    assert book.records[0].sessions == ()
    assert book.chars(0) is None


def test_one_id_with_two_origins_is_a_fault_of_the_system():
    book = LineageBook(POSITIONS, ())
    book.row(Hit(item="n", sources=("s0000.t0000",)))
    with pytest.raises(SystemUnderTestError, match="two different origins"):
        book.row(Hit(item="n", sources=("s0001.t0002",)))


def test_an_id_exported_twice_is_a_fault_of_the_system():
    item = MemoryItem(id="a", kind="turn", sources=(), text="")
    with pytest.raises(SystemUnderTestError, match="twice"):
        LineageBook(POSITIONS, [item, item])
