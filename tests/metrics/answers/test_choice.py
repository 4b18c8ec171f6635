import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers.choice import (
    chosen_letter,
    chosen_letters,
    exact_match,
    has_characters,
    holds_all,
    holds_any,
    holds_in_order,
    squad_f1,
)

LETTERS = [
    ("C", "C"),
    ("c", "C"),
    ("(c)", "C"),
    ("c)", "C"),
    ("C. A long walk", "C"),
    ("C: a long walk", "C"),
    ("**B**", "B"),
    ("B\nBecause she said so", "B"),
    ("  d  ", "D"),
    (r"so \boxed{C} it is, not (A)", "C"),
    (r"\boxed{(b)}", "B"),
    ("The answer is (c).", "C"),
    ("The answer is C because A is old", "C"),
    ("the answer is c.", "C"),
    ("Answer: **D**", "D"),
    ("answer = B", "B"),
    ("Option (A) fits best", "A"),
    ("I would take (B), a walk", "B"),
    # No letter.
    ("A dog", None),
    ("The answer is a dog", None),
    ("I like tea", None),
    ("the answer is a", "A"),
    ("", None),
    ("E", None),
    ("(e)", None),
    ("Because", None),
    ("Answer: A's dog", None),
    ("dog(s) and cat(s)", None),
    # Several letters.
    ("(a) or (b)", None),
    ("The answer is A. No, the answer is B.", None),
    (r"\boxed{A} or \boxed{B}", None),
]


@pytest.mark.parametrize(("text", "letter"), LETTERS)
def test_the_letter_that_is_chosen(text, letter):
    assert chosen_letter(text) == letter


def test_several_letters_are_told_from_none():
    assert chosen_letters("(b) or (a)") == ("A", "B")
    assert chosen_letters("The same (A), twice: (A)") == ("A",)
    assert chosen_letters("A dog") == ()
    assert chosen_letters("(e) or (f)", "ABCDEF") == ("E", "F")


@given(st.text(max_size=60))
def test_any_text_chooses_an_option_or_none(text):
    assert set(chosen_letters(text)) <= set("ABCD")


@given(st.sampled_from("ABCD"), st.sampled_from(["({})", "Answer: {}", r"\boxed{{{}}}", "{}."]))
def test_each_option_can_be_chosen_in_each_form(letter, form):
    assert chosen_letter(form.format(letter)) == letter


def test_phrases_are_runs_of_whole_words():
    assert holds_any("It was a party in Oslo!", ["the Party"])
    assert not holds_any("It was a party", ["art"])
    assert has_characters("It was a party", ["art"])
    assert holds_any("no", ["yes", "no"])
    assert not holds_any("a new red car", ["new car"])
    assert not has_characters("a new red car", ["new car"])
    assert has_characters("a new, the car", ["new car"])
    assert not holds_any("anything", [])
    assert not has_characters("anything", [])


def test_a_gold_that_is_normalised_away():
    assert not holds_any("anything", ["the", "?"])
    assert has_characters("anything", ["the"])  # as published


@given(st.text("abc ,", max_size=20), st.text("abc ,", max_size=6))
def test_whole_words_are_found_by_characters_too(text, gold):
    if holds_any(text, [gold]):
        assert has_characters(text, [gold])


def test_sets_of_phrases():
    text = "First tea, then the red kite and a walk"
    assert holds_all(text, ["red kite", "tea"])
    assert not holds_in_order(text, ["red kite", "tea"])
    assert holds_in_order(text, ["tea", "red kite", "walk"])
    assert not holds_all(text, ["red kite", "coffee"])
    assert not holds_all(text, [])
    assert not holds_in_order(text, [])
    # A word serves one phrase.
    assert not holds_in_order("red kite", ["red kite", "kite"])
    assert holds_all("red kite", ["red kite", "kite"])


def test_exact_match_and_squads_f1():
    assert exact_match("The red Kite.", ["tea", "red kite"])
    assert not exact_match("red kites", ["red kite"])
    assert squad_f1("The red kite", ["tea", "red kite"]) == 1
    assert squad_f1("a red bus", ["red kite"]) == 0.5
    assert squad_f1("yes", ["yes"]) == 1
    assert squad_f1("yes it is", ["yes"]) == 0
    assert squad_f1("no", ["no way"]) == 0
    assert squad_f1("no answer", ["noanswer"]) == 0
    assert squad_f1("x", []) == 0
