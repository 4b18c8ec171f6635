import itertools
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.systems.builtin.stopwords import STOP_WORDS
from memruler.systems.builtin.words import (
    MOST_WORDS,
    Tokenizer,
    match_expression,
    query_words,
    storable,
    word_set,
)


@pytest.fixture(scope="module")
def tokenizer():
    tokenizer = Tokenizer()
    yield tokenizer
    tokenizer.close()


def test_ascii_tokens_are_those_of_the_index(tokenizer):
    # Every ASCII character, in the middle of a word: the regular expression against SQLite.
    for code in range(128):
        text = f"ab{chr(code)}Cd"
        assert list(tokenizer.tokens(text)) == tokenizer._ask(text), code


@given(text=st.text(max_size=40))
def test_any_text_with_tokens_finds_itself(text):
    tokenizer, text = Tokenizer(), storable(text)
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61')")
        db.execute("INSERT INTO words VALUES (?)", (text,))
        expression = match_expression(query_words(tokenizer.tokens(text), stop_words=False))
        if expression is not None:
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            assert db.execute(query, (expression,)).fetchone() == (1,)
    finally:
        db.close()
        tokenizer.close()


def test_beyond_ascii_the_index_decides(tokenizer):
    assert list(tokenizer.tokens("Café, naïve? ЁЖ עברית")) == ["cafe", "naive", "ёж", "עברית"]
    assert list(tokenizer.tokens("a\N{COMBINING ACUTE ACCENT}b")) == ["ab"]
    # The scratch table is empty again after each call.
    assert list(tokenizer.tokens("Zoë")) == ["zoe"]


def test_a_long_text_is_split_as_a_whole_would_be(tokenizer):
    for text in (
        "word Ünder " * 9000,
        "ü" * 200_000 + " tail",
        "a-b " * 40_000,
        "x\ny\té " * 20_000,
    ):
        assert list(tokenizer.tokens(text)) == tokenizer._ask(text)


def test_stop_words_go_unless_nothing_is_left():
    assert query_words(["what", "is", "jazz"], stop_words=True) == ["jazz"]
    assert query_words(["what", "is", "jazz"], stop_words=False) == ["what", "is", "jazz"]
    assert query_words(["who", "are", "you"], stop_words=True) == ["who", "are", "you"]
    assert query_words([], stop_words=True) == []


def test_a_repeated_word_counts_once():
    assert query_words(["jazz", "bar", "jazz"], stop_words=True) == ["jazz", "bar"]


def test_the_expression_of_a_question():
    assert match_expression(["jazz", "bar"]) == '"jazz" OR "bar"'
    assert match_expression([]) is None


def test_no_more_words_are_read_than_are_searched():
    endless = (f"w{number}" for number in itertools.count())
    words = query_words(endless, stop_words=True)
    assert len(words) == MOST_WORDS + 1
    expression = match_expression(words)
    assert expression.endswith(f'"w{MOST_WORDS - 1}"')
    assert expression.count(" OR ") == MOST_WORDS - 1


def test_words_that_name_a_topic_are_no_stop_words():
    assert not STOP_WORDS & {"may", "won", "march", "work", "home"}


def test_a_lone_surrogate_becomes_a_replacement_character():
    assert storable("a\ud83d b\udc00") == "a\ufffd b\ufffd"
    assert storable("plain 🙂") == "plain 🙂"


def test_word_set_lowers_and_keeps_each_word_once():
    assert word_set("Jazz, jazz & Blues!") == {"jazz", "blues"}
    assert word_set("🙂 ...") == frozenset()
