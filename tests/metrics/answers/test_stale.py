import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers.stale import stale

OLD, NEW = "I run 5 km every week now", "I am up to 10 km a week"
ASKED = "How far do I run every week?"

CASES = [
    ("You run 5 km every week.", True),
    ("5", True),
    # A number decides, whatever words stand beside it.
    ("Splendid: you run 5 km", True),
    # The new value, or one that nobody told.
    ("You run 10 km", False),
    ("7 km", False),
    ("5 or 7 km", False),
    ("First 5 km, now 10 km", True),
    # Nothing told beyond the question and the gold.
    ("You run every week", False),
    ("", False),
    ("I do not know", False),
]


@pytest.mark.parametrize(("response", "found"), CASES)
def test_a_number_that_was_superseded(response, found):
    assert stale(response, "10 km", ASKED, [OLD, NEW]) is found


def test_a_word_that_was_superseded():
    told = ["I live in Oslo", "I moved to Bergen last month"]
    asked = "Where do I live?"
    assert stale("In Oslo", "Bergen", asked, told)
    assert stale("You live in OSLO!", "Bergen", asked, told)
    assert not stale("In Paris", "Bergen", asked, told)
    assert not stale("Oslo, in a red house", "Bergen", asked, told)


def test_a_value_that_the_last_turn_repeats_cannot_be_told():
    told = ["I live in Oslo", "I moved from Oslo to Bergen"]
    assert stale("Oslo", "Bergen", "Where do I live?", told) is False


def test_a_value_told_in_other_words_is_not_found():
    told = ["I get up at five", "I get up at seven now"]
    assert stale("at 5 am", "seven", "When do I get up?", told) is False


@pytest.mark.parametrize("evidence", [[], ["I live in Oslo"]])
def test_without_an_old_and_a_new_text_it_is_unknown(evidence):
    assert stale("Oslo", "Bergen", "Where?", evidence) is None


@given(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=2, max_size=4))
def test_any_text_is_read(response, evidence):
    assert stale(response, "Bergen", "Where?", evidence) in {True, False}


@given(st.sampled_from(["Bergen", "in Bergen.", "BERGEN!"]))
def test_the_gold_itself_is_never_stale(response):
    assert stale(response, "Bergen", "Where?", ["Bergen is far", "Oslo"]) is False
