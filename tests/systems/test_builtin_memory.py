"""Searching: presets, laws, hostile text, durability."""

from datetime import UTC, timedelta, timezone
from math import exp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.model.system import ExportsLineage, Memory, SearchesMany, SearchRequest
from memruler.systems.builtin.settings import MOST_HITS
from memruler.systems.builtin.words import MOST_WORDS

PRESETS = ["lexical", "dense", "hybrid", "episodic"]
HOSTILE = [
    "nul \0 in jazz \0",
    "AND OR NOT NEAR(jazz, 2) * ^ : - + { } ( ) \"quoted\" 'single'",
    "words MATCH '; DROP TABLE items; --",
    "🙂🥳 jazz👍🏽 \N{ZERO WIDTH JOINER}",
    "שלום עולם jazz مرحبا \N{RIGHT-TO-LEFT OVERRIDE}",
    "lone \ud83d surrogate jazz",
    "e\N{COMBINING ACUTE ACCENT}tude É jazz",
    '"',
    "*",
    "日本語のテキスト jazz",
    "x" * 40_000 + " jazz",
]


def items(memory, turns, text, k=50, at=None):
    return [hit.item for hit in memory.search(text, k, at or turns.at).hits]


def scores(memory, turns, text, k=50):
    return [hit.score for hit in memory.search(text, k, turns.at).hits]


@pytest.mark.parametrize("preset", PRESETS)
def test_abilities(open_memory, preset):
    memory = open_memory(preset)
    assert isinstance(memory, Memory)
    assert isinstance(memory, ExportsLineage)
    assert isinstance(memory, SearchesMany) == (preset != "lexical")


@pytest.mark.parametrize("preset", PRESETS)
def test_k_is_honoured(open_memory, turns, preset):
    memory = open_memory(preset)
    assert items(memory, turns, "jazz") == []
    memory.ingest(turns.session(*[f"jazz number {n}" for n in range(7)]))
    memory.settle()
    assert len(items(memory, turns, "jazz", 3)) == 3
    assert len(items(memory, turns, "jazz", 7)) == 7
    assert len(items(memory, turns, "jazz", 10_000)) == 7
    assert len(items(memory, turns, "jazz", MOST_HITS)) == 7
    for k in (0, -1, MOST_HITS + 1, 2**63):
        with pytest.raises(UsageError, match="asks for 1 to 1000000000 hits"):
            memory.search("jazz", k, turns.at)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("text", ["", "  \n", "?!"])
def test_a_question_without_words(open_memory, turns, preset, text):
    memory = open_memory(preset)
    memory.ingest(turns.session("jazz"))
    expected = ["1"] if text == "?!" and preset != "lexical" else []
    assert items(memory, turns, text) == expected


def test_lexical_finds_any_word_and_settles_ties_by_insertion(open_memory, turns):
    memory = open_memory("lexical")
    memory.ingest(turns.session("blues bar", "jazz bar", "jazz club", "the and of", "jazz bar"))
    assert items(memory, turns, "What is the jazz bar?") == ["2", "5", "1", "3"]
    got = memory.search("jazz", 1, turns.at).hits[0]
    assert (got.item, got.sources, got.kind, got.text) == ("2", ("s0.t1",), "turn", None)
    assert got.score is not None
    assert got.score > 0
    assert scores(memory, turns, "jazz bar") == sorted(
        scores(memory, turns, "jazz bar"), reverse=True
    )


@pytest.mark.parametrize("preset", ["lexical", "hybrid"])
def test_a_question_of_more_words_than_are_searched(open_memory, turns, preset):
    memory = open_memory(preset)
    memory.ingest(turns.session("jazz", "blues"))
    filler = " ".join(f"w{number}" for number in range(MOST_WORDS - 1))
    assert items(memory, turns, f"the jazz {filler}")[0] == "1"
    assert memory._doubts.long_questions == 0
    # The word beyond the last is not read: what is left of hybrid is the order of the vectors.
    matched = [item for item, _ in memory._matches(f"the {filler} jazz blues", None)]
    assert matched == [1]
    assert memory._doubts.long_questions == 1


def test_stop_words_are_a_setting(open_memory, turns):
    texts = ("the end", "jazz")
    off = open_memory("lexical", {"stop_words": "false"})
    on = open_memory("lexical")
    for memory in (on, off):
        memory.ingest(turns.session(*texts))
    assert items(on, turns, "the jazz") == ["2"]
    assert sorted(items(off, turns, "the jazz")) == ["1", "2"]
    assert items(on, turns, "the") == ["1"]


def test_dense_by_hand(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.6, 0.8), "b": (0.8, 0.6), "c": (-1, 0), "d": (0.6, 0.8)}
    memory = open_memory("dense", embedder=fake(known))
    memory.ingest(turns.session("a", "b", "c", "d"))
    assert items(memory, turns, "q") == ["2", "1", "4", "3"]
    assert scores(memory, turns, "q") == pytest.approx([0.8, 0.6, 0.6, -1], abs=1e-7)


def test_hybrid_by_hand(open_memory, turns, fake):
    known = {"jazz": (1, 0), "jazz x": (0, 1), "y": (0.8, 0.6), "z": (0.6, 0.8)}
    memory = open_memory("hybrid", embedder=fake(known))
    memory.ingest(turns.session("jazz x", "y", "z"))
    # dense: y, z, jazz x; lexical: jazz x.
    assert items(memory, turns, "jazz") == ["1", "2", "3"]
    assert scores(memory, turns, "jazz") == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62])
    shallow = open_memory("hybrid", {"rrf_depth": "1", "rrf_k": "0"}, embedder=fake(known))
    shallow.ingest(turns.session("jazz x", "y", "z"))
    assert items(shallow, turns, "jazz") == ["1", "2"]
    assert scores(shallow, turns, "jazz") == [1, 1]


PLAIN_EPISODIC = {"mmr": "false", "dedup_prefix": "false", "dedup_cosine": "none"}


def test_the_production_ranking_by_hand(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.8, 0.6), "b": (0.6, 0.8), "c": (0.6, -0.8)}
    entries = (
        ("a", {"time": turns.days_ago(40), "importance": 1.0}),  # 0.8 * exp(-1.2) * 1
        ("b", {"time": turns.days_ago(0), "importance": 0.0}),  # 0.6 * 1 * 0.7
        ("c", {"time": turns.days_ago(10), "tags": ("slow",)}),  # 0.6 * exp(-0.1) * 0.85
    )
    given = {**PLAIN_EPISODIC, "decay_tags.slow": "0.01", "decay_tags.fast": "9"}
    expected = [0.6 * exp(-0.1) * 0.85, 0.6 * 0.7, 0.8 * exp(-1.2)]
    exact = open_memory("episodic", {**given, "round_digits": "none"}, embedder=fake(known))
    exact.ingest(turns.session(*entries))
    assert items(exact, turns, "q") == ["3", "2", "1"]
    assert scores(exact, turns, "q") == pytest.approx(expected, abs=1e-7)
    coarse = open_memory("episodic", {**given, "round_digits": "1"}, embedder=fake(known))
    coarse.ingest(turns.session(*entries))
    # 0.5, 0.4, 0.2
    assert scores(coarse, turns, "q") == [round(score, 1) for score in expected]


def test_the_lowest_rate_of_several_tags_counts(open_memory, turns, fake):
    given = {**PLAIN_EPISODIC, "decay_tags.slow": "0.01", "decay_tags.fast": "9"}
    memory = open_memory("episodic", given, embedder=fake({"q": (1, 0), "a": (1, 0)}))
    memory.ingest(turns.session(("a", {"time": turns.days_ago(10), "tags": ("fast", "x", "slow")})))
    assert scores(memory, turns, "q") == [round(exp(-0.1) * 0.85, 4)]


def test_rounding_hands_near_ties_to_insertion(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.80001, 0.59999), "b": (0.80002, 0.59998)}
    for digits, expected in (("none", ["2", "1"]), ("4", ["1", "2"])):
        memory = open_memory("dense", {"round_digits": digits}, embedder=fake(known))
        memory.ingest(turns.session("a", "b"))
        assert items(memory, turns, "q") == expected


def test_an_item_dated_after_the_question_is_not_boosted(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.6, 0.8), "b": (0.8, 0.6)}
    entries = (("a", {"time": turns.days_ago(-100)}), ("b", {"time": turns.days_ago(0)}))
    memory = open_memory("dense", {"decay": "true"}, embedder=fake(known))
    memory.ingest(turns.session(*entries))
    assert items(memory, turns, "q") == ["2", "1"]
    assert scores(memory, turns, "q") == pytest.approx([0.8, 0.6], abs=1e-7)
    boosted = open_memory("dense", {"decay": "true", "decay_cap": "100"}, embedder=fake(known))
    boosted.ingest(turns.session(*entries))
    assert items(boosted, turns, "q") == ["1", "2"]


def test_undated_items_do_not_decay(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.6, 0.8), "b": (0.8, 0.6)}
    memory = open_memory("dense", {"decay": "true"}, embedder=fake(known))
    memory.ingest(turns.session(("a", {"time": None}), ("b", {"time": turns.days_ago(99)})))
    assert items(memory, turns, "q") == ["1", "2"]


def test_an_age_that_underflows_still_orders(open_memory, turns, fake):
    known = {"q": (1, 0), "a": (0.6, 0.8), "b": (0.8, 0.6)}
    memory = open_memory("dense", {"decay": "true", "decay_rate": "5"}, embedder=fake(known))
    old = turns.days_ago(3000)
    memory.ingest(turns.session(("a", {"time": old}), ("b", {"time": old})))
    assert items(memory, turns, "q") == ["2", "1"]
    assert scores(memory, turns, "q") == [0, 0]


def test_zones_are_read_as_the_moment_they_name(open_memory, turns):
    memory = open_memory("dense", {"decay": "true", "decay_rate": "24"})
    zone = timezone(timedelta(hours=2))
    aware = turns.at.replace(tzinfo=UTC).astimezone(zone)
    memory.ingest(turns.session(("jazz", {"time": aware})))
    naive = memory.search("jazz", 1, turns.at)
    assert naive == memory.search("jazz", 1, aware)
    assert naive.hits[0].score == pytest.approx(1)


def test_mmr_reorders_only_the_window(open_memory, turns, fake):
    known = {
        "q": (1, 0),
        "jazz bar": (0.9, 0.43589),
        "jazz bar!": (0.88, 0.47497),
        "blues": (0.5, 0.86603),
        "folk": (0.4, 0.91652),
    }
    texts = ("jazz bar", "jazz bar!", "blues", "folk")
    memory = open_memory("dense", {"mmr": "true"}, embedder=fake(known))
    memory.ingest(turns.session(*texts))
    # After 1: item 2 0.6*0.88 - 0.4*1 = 0.128, item 3 0.3, item 4 0.24.
    assert items(memory, turns, "q", 4) == ["1", "3", "4", "2"]
    assert items(memory, turns, "q", 2) == ["1", "2"]
    assert sorted(items(memory, turns, "q", 3)) == ["1", "2", "3"]


def test_lexical_with_decay_ranks_all_matches(open_memory, turns):
    memory = open_memory("lexical", {"decay": "true"})
    memory.ingest(
        turns.session(
            ("jazz", {"time": turns.days_ago(100)}),
            ("jazz", {"time": turns.days_ago(1)}),
            ("blues", {"time": turns.days_ago(0)}),
        )
    )
    assert items(memory, turns, "jazz", 1) == ["2"]
    first, second = scores(memory, turns, "jazz")
    assert second / first == pytest.approx(exp(-0.03 * 99))


words = st.lists(
    st.sampled_from(["jazz", "bar", "the", "blues", "é", "?", "Ann", ""]), max_size=4
).map(" ".join)


@pytest.mark.parametrize("preset", ["dense", "hybrid", "episodic"])
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(data=st.data())
def test_many_at_once_is_one_by_one(open_memory, turns, preset, data):
    memory = open_memory(preset)
    moment = st.integers(-50, 500).map(turns.days_ago)
    facts = st.fixed_dictionaries(
        {
            "time": st.none() | moment,
            "importance": st.none() | st.floats(0, 1),
        }
    )
    entries = data.draw(st.lists(st.tuples(words, facts), min_size=1, max_size=12))
    memory.ingest(turns.session(*entries))
    request = st.builds(SearchRequest, text=words, k=st.integers(1, 15), at=moment)
    requests = data.draw(st.lists(request, max_size=8))
    together = memory.search_many(requests)
    assert together == [memory.search(r.text, r.k, r.at) for r in requests]
    shuffled = data.draw(st.permutations(range(len(requests))))
    again = memory.search_many([requests[at] for at in shuffled])
    assert again == [together[at] for at in shuffled]


def test_a_batch_larger_than_a_block_is_the_same(open_memory, turns, monkeypatch):
    memory = open_memory("dense")
    memory.ingest(turns.session(*[f"text {n}" for n in range(40)]))
    requests = [SearchRequest(text=f"question {n}", k=5, at=turns.at) for n in range(23)]
    whole = memory.search_many(requests)
    monkeypatch.setattr("memruler.systems.builtin.vectors._BLOCK", 100)
    assert memory._shelf.vectors.batch() == 2
    assert memory.search_many(requests) == whole


def test_a_batch_embeds_all_questions_in_one_call(open_memory, turns, fake):
    embedder = fake()
    memory = open_memory("dense", embedder=embedder)
    memory.ingest(turns.session("a", "b"))
    embedder.calls.clear()
    memory.search_many([SearchRequest(text=t, k=1, at=turns.at) for t in ("x", "y", "z")])
    assert embedder.calls == [["x", "y", "z"]]
    assert memory.search_many([]) == []


@pytest.mark.parametrize("shift_at", [True, False])
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(data=st.data())
def test_a_shift_of_all_dates_changes_no_unrounded_ranking(open_memory, turns, shift_at, data):
    given = {**PLAIN_EPISODIC, "round_digits": "none"}
    minutes = data.draw(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=10))
    importance = data.draw(st.lists(st.floats(0, 1), min_size=10, max_size=10))
    shift = timedelta(minutes=data.draw(st.integers(0, 3_000_000)))
    rankings = []
    for moved in (timedelta(0), shift):
        memory = open_memory("episodic", given)
        entries = [
            (
                f"text {place}",
                {
                    "time": turns.at - timedelta(minutes=ago) - moved,
                    "importance": importance[place],
                },
            )
            for place, ago in enumerate(minutes)
        ]
        memory.ingest(turns.session(*entries))
        at = turns.at - moved if shift_at else turns.at
        found = memory.search("question", 99, at)
        rankings.append(found if shift_at else [hit.item for hit in found.hits])
        memory.close()
    assert rankings[0] == rankings[1]


@pytest.mark.parametrize("preset", PRESETS)
def test_hostile_text_is_stored_found_and_asked(open_memory, turns, preset):
    memory = open_memory(preset, {"dedup_cosine": "none"} if preset == "episodic" else None)
    memory.ingest(turns.session(*HOSTILE, "plain jazz"))
    memory.settle()
    stored = [item.text for item in memory.lineage()]
    assert stored == [text.replace("\ud83d", "\ufffd") for text in HOSTILE] + ["plain jazz"]
    for text in HOSTILE:
        memory.search(text, 5, turns.at)
    if preset != "dense":
        wanted = {str(n) for n, text in enumerate(HOSTILE, 1) if "jazz" in text and n != 4}
        assert wanted <= set(items(memory, turns, "jazz"))


@pytest.mark.parametrize("preset", ["lexical", "hybrid"])
def test_ten_megabytes_in_one_text(open_memory, turns, preset):
    memory = open_memory(preset)
    text = "filler words here " * 600_000 + "needle"
    memory.ingest(turns.session("short", text))
    assert items(memory, turns, "needle")[0] == "2"
    assert items(memory, turns, text)[0] == "2"


@pytest.mark.parametrize("preset", PRESETS)
def test_durable(open_memory, turns, tmp_path, preset):
    folder = tmp_path / "kept"
    memory = open_memory(preset, folder=folder)
    for number in range(4):
        entries = [
            (f"jazz {number} {n}", {"time": turns.days_ago(n), "importance": n / 9})
            for n in range(9)
        ]
        memory.ingest(turns.session(*entries, key=f"s{number}"))
    before = [memory.search(q, 20, turns.at) for q in ("jazz 3", "5 jazz", "blues 1")]
    lineage = list(memory.lineage())
    memory.settle()
    assert [memory.search(q, 20, turns.at) for q in ("jazz 3", "5 jazz", "blues 1")] == before
    memory.close()
    assert [path.name for path in folder.iterdir()] == ["memory.sqlite3"]
    again = open_memory(preset, folder=folder)
    assert [again.search(q, 20, turns.at) for q in ("jazz 3", "5 jazz", "blues 1")] == before
    assert list(again.lineage()) == lineage
    again.ingest(turns.session("more jazz", key="s9"))
    assert [item.id for item in again.lineage()][-1] == "37"


@pytest.mark.parametrize("preset", PRESETS)
def test_two_namespaces_never_see_each_other(open_memory, turns, preset):
    one, other = open_memory(preset), open_memory(preset)
    one.ingest(turns.session("jazz one"))
    other.ingest(turns.session("jazz other", "blues other"))
    assert [item.text for item in one.lineage()] == ["jazz one"]
    assert items(one, turns, "jazz blues") == ["1"]
    assert len(items(other, turns, "jazz blues")) == 2


@pytest.mark.parametrize("preset", PRESETS)
def test_a_search_changes_nothing(open_memory, turns, tmp_path, preset):
    memory = open_memory(preset, folder=tmp_path / "read")
    memory.ingest(turns.session("jazz", "blues"))
    memory.settle()
    before = memory._shelf.database._db.total_changes
    first = memory.search("jazz", 5, turns.at)
    assert all(memory.search("jazz", 5, turns.at) == first for _ in range(5))
    assert memory._shelf.database._db.total_changes == before


def test_stored_vectors_are_float32(open_memory, turns, tmp_path, fake):
    embedder = fake()
    memory = open_memory("dense", folder=tmp_path / "v", embedder=embedder)
    memory.ingest(turns.session("jazz"))
    (blob,) = memory._shelf.database._db.execute("SELECT vector FROM items").fetchone()
    assert np.array_equal(np.frombuffer(blob, "<f4"), embedder.vectors(["jazz"])[0][0])
