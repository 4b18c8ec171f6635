import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.systems.builtin.stopwords import STOP_WORDS
from memruler.systems.builtin.words import Tokenizer, match_expression, storable, word_set


@pytest.fixture(scope="module")
def tokenizer():
    tokenizer = Tokenizer()
    yield tokenizer
    tokenizer.close()


def test_ascii_tokens_are_those_of_the_index(tokenizer):
    # Every ASCII character, in the middle of a word: the regular expression against SQLite.
    for code in range(128):
        text = f"ab{chr(code)}Cd"
        assert tokenizer.tokens(text) == tokenizer._ask(text), code


@given(text=st.text(max_size=40))
def test_any_text_with_tokens_finds_itself(text):
    tokenizer, text = Tokenizer(), storable(text)
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61')")
        db.execute("INSERT INTO words VALUES (?)", (text,))
        expression = match_expression(tokenizer.tokens(text), stop_words=False)
        if expression is not None:
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            assert db.execute(query, (expression,)).fetchone() == (1,)
    finally:
        db.close()
        tokenizer.close()


def test_beyond_ascii_the_index_decides(tokenizer):
    assert tokenizer.tokens("Café, naïve? ЁЖ עברית") == ["cafe", "naive", "ёж", "עברית"]
    assert tokenizer.tokens("a\N{COMBINING ACUTE ACCENT}b") == ["ab"]
    # The scratch table is empty again after each call.
    assert tokenizer.tokens("Zoë") == ["zoe"]


def test_stop_words_go_unless_nothing_is_left():
    assert match_expression(["what", "is", "jazz"], stop_words=True) == '"jazz"'
    assert match_expression(["what", "is", "jazz"], stop_words=False) == '"what" OR "is" OR "jazz"'
    assert match_expression(["who", "are", "you"], stop_words=True) == '"who" OR "are" OR "you"'
    assert match_expression([], stop_words=True) is None


def test_a_repeated_word_counts_once():
    assert match_expression(["jazz", "bar", "jazz"], stop_words=True) == '"jazz" OR "bar"'


def test_words_that_name_a_topic_are_no_stop_words():
    assert not STOP_WORDS & {"may", "won", "march", "work", "home"}


def test_a_lone_surrogate_becomes_a_replacement_character():
    assert storable("a\ud83d b\udc00") == "a\ufffd b\ufffd"
    assert storable("plain 🙂") == "plain 🙂"


def test_word_set_lowers_and_keeps_each_word_once():
    assert word_set("Jazz, jazz & Blues!") == {"jazz", "blues"}
    assert word_set("🙂 ...") == frozenset()
