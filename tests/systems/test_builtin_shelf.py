"""Admission, eviction, and their account."""

import sqlite3

import pytest

from memruler.errors import InstrumentError
from memruler.model.system import MemoryItem, SessionInput


def states(memory):
    return [(item.text, item.status, item.reason) for item in memory.lineage()]


def found(memory, turns, text="jazz", k=50):
    return [hit.item for hit in memory.search(text, k, turns.at).hits]


def test_lineage_of_what_was_stored(open_memory, turns):
    memory = open_memory("lexical")
    memory.ingest(turns.session("one jazz", "two jazz", key="s7"))
    memory.ingest(SessionInput(key="s8", turns=(turns.turn("whole jazz", "s8"),)))
    assert list(memory.lineage()) == [
        MemoryItem(id="1", kind="turn", sources=("s7.t0",), text="one jazz"),
        MemoryItem(id="2", kind="turn", sources=("s7.t1",), text="two jazz"),
        MemoryItem(id="3", kind="session", sources=("s8",), text="whole jazz"),
    ]
    assert [hit.kind for hit in memory.search("whole", 9, turns.at).hits] == ["session"]


@pytest.mark.parametrize("preset", ["lexical", "dense", "hybrid", "episodic"])
def test_a_blank_text_is_refused_and_accounted(open_memory, turns, preset):
    memory = open_memory(preset)
    memory.ingest(turns.session("jazz", " \n\t\u00a0\u2003\u3000", ""))
    assert states(memory) == [
        ("jazz", "stored", None),
        (" \n\t\u00a0\u2003\u3000", "refused", "blank"),
        ("", "refused", "blank"),
    ]
    assert found(memory, turns) == ["1"]


@pytest.mark.parametrize("preset", ["lexical", "dense"])
def test_a_prefix_duplicate_is_refused(open_memory, turns, preset):
    memory = open_memory(preset, {"dedup_prefix": "true"})
    long = "Jazz " + "x" * 75
    memory.ingest(turns.session(long + " one", long.upper() + " two", long[:-1] + "y", long[:79]))
    assert [state[1:] for state in states(memory)] == [
        ("stored", None),
        ("refused", "prefix_duplicate"),
        ("stored", None),
        ("stored", None),
    ]
    memory.ingest(turns.session(long, key="s1"))
    assert states(memory)[-1][1:] == ("refused", "prefix_duplicate")
    assert found(memory, turns) == [i for i in found(memory, turns) if i in {"1", "3", "4"}]


def test_the_length_of_the_prefix_is_a_setting(open_memory, turns):
    memory = open_memory("lexical", {"dedup_prefix": "true", "dedup_prefix_chars": "3"})
    memory.ingest(turns.session("Jazz", "jAZz club", "ja"))
    assert [state[1] for state in states(memory)] == ["stored", "refused", "stored"]


def test_a_near_duplicate_is_refused(open_memory, turns, fake):
    known = {"a": (1, 0), "b": (0.96, 0.28), "c": (0.9, 0.43589), "d": (0, 1)}
    memory = open_memory("dense", {"dedup_cosine": "0.95"}, embedder=fake(known))
    memory.ingest(turns.session("a", "b", "c", "d"))
    # b is too near to a; c is not (0.9), and b, which it is near to, is not there.
    assert [state[1:] for state in states(memory)] == [
        ("stored", None),
        ("refused", "near_duplicate"),
        ("stored", None),
        ("stored", None),
    ]
    assert sorted(found(memory, turns, "a")) == ["1", "3", "4"]


def test_the_first_reason_that_applies_is_given(open_memory, turns, fake):
    memory = open_memory(
        "dense",
        {"dedup_cosine": "0.5", "dedup_prefix": "true"},
        embedder=fake({"a": (1, 0), "A": (1, 0)}),
    )
    memory.ingest(turns.session("a", "A"))
    assert states(memory)[1][1:] == ("refused", "prefix_duplicate")


@pytest.mark.parametrize("preset", ["lexical", "dense", "hybrid"])
def test_eviction_by_importance_then_age_then_insertion(open_memory, turns, preset):
    memory = open_memory(preset, {"capacity": "2"})
    memory.ingest(
        turns.session(
            ("jazz a", {"importance": 0.9, "time": turns.days_ago(9)}),
            ("jazz b", {"importance": 0.1, "time": turns.days_ago(1)}),
            ("jazz c", {"importance": 0.5, "time": turns.days_ago(3)}),  # b leaves
            ("jazz d", {"time": turns.days_ago(2)}),  # default 0.5: c is older and leaves
            ("jazz e", {"time": turns.days_ago(2)}),  # as d, inserted later: d leaves
            ("jazz f", {}),  # undated counts as oldest: f leaves at once
        )
    )
    assert states(memory) == [
        ("jazz a", "stored", None),
        ("jazz b", "evicted", "capacity"),
        ("jazz c", "evicted", "capacity"),
        ("jazz d", "evicted", "capacity"),
        ("jazz e", "stored", None),
        ("jazz f", "evicted", "capacity"),
    ]
    assert sorted(found(memory, turns)) == ["1", "5"]


def test_an_evicted_prefix_may_come_back(open_memory, turns):
    memory = open_memory("lexical", {"capacity": "1", "dedup_prefix": "true"})
    for key in ("s0", "s1", "s2"):
        memory.ingest(turns.session("jazz a" if key != "s1" else "jazz b", key=key))
    assert [state[1] for state in states(memory)] == ["evicted", "evicted", "stored"]


@pytest.mark.parametrize("preset", ["lexical", "hybrid", "dense"])
def test_rules_survive_a_reopening(open_memory, turns, tmp_path, preset):
    given = {"capacity": "2", "dedup_prefix": "true"}
    first = open_memory(preset, given, folder=tmp_path / "one")
    first.ingest(turns.session(("jazz a", {"importance": 0.9}), "jazz b"))
    first.close()
    again = open_memory(preset, given, folder=tmp_path / "one")
    again.ingest(turns.session("JAZZ A", "jazz c", key="s1"))
    assert states(again) == [
        ("jazz a", "stored", None),
        ("jazz b", "evicted", "capacity"),
        ("JAZZ A", "refused", "prefix_duplicate"),
        ("jazz c", "stored", None),
    ]
    assert sorted(found(again, turns)) == ["1", "4"]


def test_a_session_that_fails_half_way_leaves_nothing(open_memory, turns, monkeypatch):
    memory = open_memory("hybrid", {"capacity": "3", "dedup_prefix": "true"})
    memory.ingest(turns.session("jazz a", "jazz b"))
    before = memory.search("jazz", 9, turns.at)
    insert, calls = memory._shelf.database.insert, []

    def fails_third(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise sqlite3.OperationalError("database or disk is full")
        return insert(*arguments)

    monkeypatch.setattr(memory._shelf.database, "insert", fails_third)
    with pytest.raises(InstrumentError, match="disk is full"):
        memory.ingest(turns.session("jazz c", "jazz d", "jazz e", key="s1"))
    monkeypatch.undo()
    assert memory.search("jazz", 9, turns.at) == before
    assert len(states(memory)) == 2
    memory.ingest(turns.session("jazz c", key="s1"))
    assert [state[1] for state in states(memory)] == ["stored"] * 3
    assert sorted(found(memory, turns)) == ["1", "2", "3"]
