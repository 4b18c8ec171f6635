"""Word for word: what stands in a text, and what only looks so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.scoring.failure_words import gold_parts, normal, stands


@pytest.mark.parametrize(
    ("gold", "text", "there"),
    [
        ("Blue car", "a BLUE,\n car.", True),
        ("art", "the party", False),
        ("arty", "the party", False),
        ("par", "the party", False),
        ("7 May", "on May 7", False),
        ("3", "room 3b", False),
        ("3", "room 3, left", True),
        ("2022", "in 2022.", True),
        ("café", "the cafe\u0301 there", True),
        ("Yes; she moved", "well, she moved away", True),
        ("Yes; she moved", "yesterday", False),
        ("straße", "STRASSE 5", True),
        ("John's", "it is John\u2019s", True),
        ("snake_case", "snake case", True),
    ],
)
def test_by_hand(gold, text, there):
    assert stands(gold_parts(gold), normal(text)) is there


@pytest.mark.parametrize("gold", [None, "", " ; ", "?!"])
def test_an_answer_without_words_stands_nowhere(gold):
    assert gold_parts(gold) == ()
    assert not stands(gold_parts(gold), normal("anything ?! ; at all"))


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (["tea", "green; mint"], (" tea ", " green ", " mint ")),
        ([3, ["x"], None, {"answer": "y"}], (" 3 ", " x ")),
        ({"answer": "red", "aliases": ["scarlet", "red"]}, (" red ", " scarlet ")),
        ({"answer": ["a", "b"], "aliases": "c"}, (" a ", " b ", " c ")),
        ({"rubric": ["names it"]}, ()),
        ([], ()),
        (3, (" as text ",)),
        ("other", (" as text ",)),
        (None, (" as text ",)),
    ],
)
def test_lists_and_objects_count_in_place_of_their_text(raw, parts):
    assert gold_parts("as text", raw) == parts


WORD = st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=4)


@given(st.lists(WORD, min_size=1, max_size=6), st.lists(WORD, max_size=4), st.data())
def test_a_run_of_words_stands_and_normal_is_its_own_normal(words, more, data):
    start = data.draw(st.integers(0, len(words) - 1))
    stop = data.draw(st.integers(start + 1, len(words)))
    text = normal(" ".join(words + more))
    assert stands(gold_parts(", ".join(words[start:stop])), text)
    assert normal(text) == text
