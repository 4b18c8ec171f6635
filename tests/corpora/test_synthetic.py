"""The synthetic corpus: the same bytes for ever, sound, and neither trivial nor impossible."""

import hashlib
import json
import math
import re
from collections import Counter
from itertools import islice

import pytest

from memruler.corpora.jsonl import JsonlCorpus
from memruler.corpora.jsonl_check import check
from memruler.corpora.populations import count_all
from memruler.corpora.registry import BUNDLED, open_corpus
from memruler.corpora.synthetic import SyntheticCorpus
from memruler.corpora.synthetic_plan import CATEGORIES, MOST_QUERIES
from memruler.corpora.synthetic_text import Dice, phrases
from memruler.errors import UsageError


@pytest.fixture(scope="module")
def small():
    return SyntheticCorpus()


def test_the_bundled_file_is_what_the_generator_writes(small):
    assert BUNDLED.read_bytes() == b"".join(small.lines()), (
        "raise VERSION, then run: memruler corpora generate --out "
        "src/memruler/corpora/data/synthetic.jsonl"
    )
    assert BUNDLED.stat().st_size < 400_000


def test_the_bundled_corpus_says_that_it_is_synthetic():
    info = open_corpus("synthetic").info
    assert (info.name, info.tier, info.licence) == ("synthetic", "bundled", "Apache-2.0")
    assert len(info.notes) == 1
    assert info.notes[0].startswith("Synthetic")


def test_the_generator_and_its_file_are_one_corpus(small):
    stored = JsonlCorpus(BUNDLED, name="synthetic")
    assert list(stored) == list(small)
    assert stored.info.sha256 == small.info.sha256
    assert stored.info.version == small.info.version
    assert stored.info.notes == small.info.notes


@pytest.mark.parametrize(("instances", "sessions"), [(1, 5), (2, 9), (1, 48), (1, 200)])
def test_any_size_is_sound(tmp_path, instances, sessions):
    corpus = SyntheticCorpus(3, instances, sessions)
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"".join(corpus.lines()))
    assert check(path) == []
    counts = count_all(corpus)
    assert (counts.instances, counts.sessions) == (instances, instances * sessions)
    assert 8 <= counts.turns / counts.sessions <= 16
    assert hashlib.sha256(path.read_bytes()).hexdigest() == corpus.info.sha256


def test_a_larger_corpus_begins_with_the_smaller_one():
    few = list(SyntheticCorpus(1, 2, 6))
    assert list(islice(SyntheticCorpus(1, 500, 6), 2)) == few


def test_seeds_differ():
    assert next(iter(SyntheticCorpus(1))) != next(iter(SyntheticCorpus(2)))


def test_categories_come_in_equal_parts(small):
    found = Counter(q.category for i in small for q in i.queries)
    assert set(found) == set(CATEGORIES)
    assert len(set(found.values())) == 1
    (one,) = SyntheticCorpus(1, 1, 5)
    assert [q.category for q in one.queries] == list(CATEGORIES)


@pytest.fixture(scope="module")
def queries():
    return [(i, q) for i in SyntheticCorpus(5, 12, 20, MOST_QUERIES) for q in i.queries]


def said(instance, query):
    return [instance.sessions[s].turns[t] for s, t in query.evidence[0].turns]


def test_gold_turns_contain_the_answer(queries):
    for instance, query in queries:
        gold = said(instance, query)
        if query.category == "temporal":
            continue  # the answer is a date, or a deed in another tense
        if query.category == "unanswerable":
            assert (gold, query.answer, query.answerable) == ([], None, False)
            continue
        values = query.answer.split(", ") if query.category == "multi-session" else [query.answer]
        titles = phrases().collection[1].values  # one title has a comma in it
        if any(title in query.answer and ", " in title for title in titles):
            continue
        for value in values:
            assert any(value in turn.text for turn in gold), (query.text, value)


def test_gold_is_said_by_the_person_asked_about(queries):
    for instance, query in queries:
        for turn in said(instance, query):
            assert turn.speaker in query.text


def test_an_update_is_newer_than_what_it_replaces(queries):
    updates = [(i, q) for i, q in queries if q.category == "knowledge-update"]
    assert updates
    for instance, query in updates:
        (gold,) = query.evidence[0].turns
        (attribute,) = [
            a
            for a in phrases().attribute
            if query.text in {t.format(w=n) for t in a.now for n in names(instance)}
        ]
        before = [
            session.position
            for session in instance.sessions
            for turn in session.turns
            if turn.speaker in query.text
            and any(t.format(v=v) in turn.text for t in attribute.say for v in attribute.values)
        ]
        assert before
        assert max(before) < gold.session


def test_multi_session_evidence_lies_in_several_sessions(queries):
    sizes = {len(q.evidence[0].sessions) for _, q in queries if q.category == "multi-session"}
    assert sizes == {2, 3}


def test_an_unanswerable_question_was_never_answered_by_that_person(queries):
    for instance, query in queries:
        if query.category != "unanswerable":
            continue
        (attribute,) = [
            a
            for a in phrases().attribute
            if query.text in {t.format(w=n) for t in a.ask for n in names(instance)}
        ]
        told = [
            t.format(v=v)
            for t in (*attribute.say, *attribute.hint, *attribute.update)
            for v in attribute.values
        ]
        for session in instance.sessions:
            for turn in session.turns:
                if turn.speaker in query.text:
                    assert not any(one in turn.text for one in told)


def names(instance):
    return {turn.speaker for turn in instance.sessions[0].turns}


def test_no_fact_is_asked_of_twice(queries):
    for instance in {id(i): i for i, _ in queries}.values():
        answered = [q.evidence[0].turns for q in instance.queries if q.answerable]
        flat = [ref for turns in answered for ref in turns]
        assert len(flat) == len(set(flat))


def test_times_ascend_and_questions_come_last(small):
    for instance in small:
        times = [s.time for s in instance.sessions]
        assert times == sorted(set(times))
        assert 30 < (times[-1] - times[0]).days < 400
        assert all(8 <= time.hour < 22 for time in times)
        assert all(q.time > times[-1] for q in instance.queries)


def test_the_answer_to_when_is_the_day_of_the_session(queries):
    asked = [(i, q) for i, q in queries if q.text.startswith(("When", "On which date"))]
    assert asked
    for instance, query in asked:
        time = instance.sessions[query.evidence[0].sessions[0]].time
        assert query.answer.split()[0] == str(time.day)
        assert query.answer.endswith(str(time.year))


def test_nothing_but_speaker_and_text_is_in_a_turn(small):
    for instance in small:
        for session in instance.sessions:
            for turn in session.turns:
                assert (turn.id, turn.tags, turn.importance, turn.caption) == (None, (), None, None)
                assert "{" not in turn.text


_STOP_WORDS = """
a an and are at by do does did for from has have how i in is it me my of on or s that the there
they this to up was we what when where which who whose will with you your
"""
STOP = frozenset(_STOP_WORDS.split())


def words(text):
    return [word for word in re.findall(r"\w+", text.lower()) if word not in STOP]


def first_sessions(instance, query, k):
    """The first `k` sessions by BM25 over turns: a plain lexical search, independent of ours."""
    turns = [
        (s.position, words(f"{t.speaker}: {t.text}")) for s in instance.sessions for t in s.turns
    ]
    frequency = Counter(word for _, text in turns for word in set(text))
    mean = sum(len(text) for _, text in turns) / len(turns)

    def score(text):
        found = Counter(text)
        return sum(
            math.log(1 + (len(turns) - frequency[w] + 0.5) / (frequency[w] + 0.5))
            * found[w]
            * 2.2
            / (found[w] + 1.2 * (0.25 + 0.75 * len(text) / mean))
            for w in set(words(query.text))
            if w in found
        )

    ranked = sorted(turns, key=lambda turn: -score(turn[1]))
    return set(list(dict.fromkeys(session for session, _ in ranked))[:k])


def test_lexical_search_is_neither_perfect_nor_helpless():
    found: dict[str, list[bool]] = {}
    for instance in SyntheticCorpus(7, 8, 12):
        for query in instance.queries:
            if query.answerable:
                gold = set(query.evidence[0].sessions)
                for name in (query.category, "all"):
                    found.setdefault(name, []).append(gold <= first_sessions(instance, query, 1))
    share = {name: sum(hits) / len(hits) for name, hits in found.items()}
    assert 0.3 < share["all"] < 0.8
    assert share["single-session"] > 0.5
    assert share["paraphrase"] < 0.4  # what a lexical search cannot do
    assert share["multi-session"] == 0  # two sessions do not fit into one


@pytest.mark.parametrize(
    "arguments",
    [(1, 0, 12), (1, 1, 4), (1, 1, 12, 0), (1, 1, 12, MOST_QUERIES + 1), (1, -1, 12)],
)
def test_sizes_out_of_range(arguments):
    with pytest.raises(UsageError, match="must be at"):
        SyntheticCorpus(*arguments)


def test_dice_use_nothing_that_python_may_change():
    """`Random.random()` is the one method whose sequence Python promises to keep."""
    dice = Dice("seed")
    assert [dice.below(1000) for _ in range(6)] == [138, 236, 865, 286, 43, 965]
    assert dice.deal(range(5), 5) == [3, 2, 1, 4, 0]


def test_lines_are_json(small):
    assert all(json.loads(line) for line in small.lines())
