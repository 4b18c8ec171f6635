from hypothesis import given
from hypothesis import strategies as st

from memruler.model.system import SessionInput, TurnInput
from memruler.systems.derived.items import (
    MOST_SENTENCES,
    MOST_STATEMENTS,
    facts,
    statements,
    summary,
)
from memruler.systems.derived.reading import read
from memruler.systems.derived.salience import names_in
from memruler.systems.derived.settings import MOST_FACTS

LISTED = """
I we it and but because went painted the a lake Anna Paris two 3 dogs yesterday last week wow thanks
so great . . ? ! , ; - 7 May 2023 über 公园 🙂
"""
PIECES = st.sampled_from([*LISTED.split(), "\n"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map(" ".join))


def readings(*texts, speakers=("Ann", "Bob"), at=None):
    made = [
        TurnInput(key=f"s0.t{n}", text=text, speaker=speakers[n % 2], time=at)
        for n, text in enumerate(texts)
    ]
    return read(SessionInput(key="s0", turns=tuple(made), time=at))


def one(text, at=None):
    (reading,) = readings(text, at=at)
    return reading


def test_the_most_telling_clause_comes_first():
    text = "Ann: Hey Bob! I went to Paris with Anna and it was a feast. Have you been there?"
    reading, _ = readings(text, "Bob: No.")
    assert facts(reading, 8) == ["Ann: I went to Paris with Anna", "Ann: it was a feast."]
    # Who is no part of the talk is no address.
    assert facts(one(text), 8)[1] == "Ann: Hey Bob!"
    reading = one("So I rested. We saw two old lakes near Oslo. The dog slept.")
    assert facts(reading, 8) == [
        "Ann: We saw two old lakes near Oslo.",
        "Ann: The dog slept.",
        "Ann: So I rested.",
    ]


def test_equals_keep_their_order_and_words_come_once():
    assert facts(one("A dog slept. A cat slept. a DOG slept!"), 8) == [
        "Ann: A dog slept.",
        "Ann: A cat slept.",
    ]


def test_one_short_sentence_is_a_fact_as_it_stands():
    assert facts(one("Ann: I adopted a dog."), 5) == ["Ann: I adopted a dog."]
    # With nothing else to tell, even this.
    assert facts(one("Ann: Thanks! You too."), 5) == ["Ann: Thanks!"]


def test_what_says_nothing_makes_nothing():
    for text in ("", " \n", "Ann: ", "🙂", "...", "Ann: ?!"):
        assert facts(one(text), 8) == statements(one(text)) == []
        assert summary([one(text)]) is None
    assert facts(one("I adopted a dog."), 0) == []
    assert summary([]) is None


def test_a_fact_carries_its_heads_and_the_date_of_a_relative_time(turns):
    assert facts(one("[2024-01-01] Ann: I saw it yesterday", turns.at), 1) == [
        "[2024-01-01] Ann: I saw it yesterday (31 December 2023)"
    ]
    assert facts(one("I saw it yesterday"), 1) == ["Ann: I saw it yesterday"]
    assert facts(one("I saw it on 3 May 2022", turns.at), 1) == ["Ann: I saw it on 3 May 2022"]


def test_dated_statements_have_their_dates_in_front(turns):
    text = "Ann: Hi! Last week we met Anna. On 3 May we ran, and we rest tomorrow."
    assert statements(one(f"[2024-01-01] {text}", turns.at)) == [
        "the week of 25 December 2023: Ann: Last week we met Anna.",
        "3 May: Ann: On 3 May we ran",
        "2 January 2024: Ann: we rest tomorrow.",
    ]
    assert statements(one(text)) == ["3 May: Ann: On 3 May we ran"]


def test_a_unit_makes_no_more_than_its_bounds():
    text = " ".join(f"On {n} May we saw {n} dogs." for n in range(1, 20))
    assert len(facts(one(text), MOST_FACTS)) == MOST_FACTS
    assert statements(one(text)) == [
        f"{n} May: Ann: On {n} May we saw {n} dogs." for n in range(1, MOST_STATEMENTS + 1)
    ]


def test_a_summary_says_new_things_in_order():
    heard = readings(
        "Hi Bob! I adopted a dog.",
        "Congrats! A dog, wow!",
        "The dog likes the lake near Oslo.",
        "I moved to Rome.",
    )
    assert summary(heard) == (
        "Ann: I adopted a dog. Ann: The dog likes the lake near Oslo. Bob: I moved to Rome.",
        [0, 2, 3],
    )


def test_a_summary_has_so_many_sentences_at_most():
    heard = readings(*[f"Word{n} other{n}." for n in range(20)])
    text, places = summary(heard)
    assert places == list(range(MOST_SENTENCES))
    assert text.count(".") == MOST_SENTENCES


def test_a_long_sentence_is_cut_in_a_summary():
    text, _ = summary(readings("word " * 1000))
    assert len(text) < 310


@given(TEXTS, st.datetimes())
def test_fewer_facts_are_the_first_of_more(text, at):
    reading = one(text, at)
    most = facts(reading, MOST_FACTS)
    for count in range(MOST_FACTS + 1):
        assert facts(reading, count) == most[:count]
    assert len(set(most)) == len(most) <= MOST_FACTS
    assert bool(most) == bool(names_in(text.removeprefix("Ann: ")))


@given(st.lists(TEXTS, max_size=6), st.none() | st.datetimes())
def test_a_summary_names_exactly_the_units_it_quotes(texts, at):
    heard = readings(*texts, at=at)
    found = summary(heard)
    if found is None:
        return
    text, places = found
    assert places == sorted(set(places))
    for place in places:
        assert any(s.text[:100] in text for s in heard[place].sentences)
    alone = summary([heard[place] for place in places])
    assert alone is not None  # what was quoted can be quoted
