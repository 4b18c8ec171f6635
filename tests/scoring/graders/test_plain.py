"""Graders that ask nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers import lexical as overlaps
from memruler.model.answers import AnswerItem
from memruler.scoring.graders.base import Grader
from memruler.scoring.graders.common import golds
from memruler.scoring.graders.registry import open_grader

PLAIN = [
    "locomo:official",
    "locomo:official-nltk",
    "locomo:corrected",
    "lexical",
    "squad",
    "exact",
    "substring",
    "substring:official",
    "set",
    "ordered-set",
    "mcq",
]
ACCURACIES = {"exact", "substring", "substring:official", "set", "ordered-set", "mcq"}


@pytest.fixture(params=PLAIN)
def grader(request):
    if request.param.endswith("nltk"):
        pytest.importorskip("nltk", reason="needs memruler[nltk]")
    return open_grader(request.param)


def never(*_, **__):
    raise AssertionError("a judge was asked")


def test_a_grader_says_what_it_is(grader):
    assert isinstance(grader, Grader)
    assert not grader.judged
    assert grader.accuracy == (grader.name in ACCURACIES)
    assert grader.metric == ("accuracy" if grader.accuracy else "f1")


def test_no_answer_has_no_value(grader, make_item):
    found = grader.grade(make_item(None, error="the server gave none"), never)
    assert (found.value, found.reason) == (None, "no answer: the server gave none")
    assert grader.grade(make_item(None), None).reason == "no answer: the reader gave none"


def test_an_empty_answer_is_wrong_and_not_absent(grader, make_item):
    gold = "C" if grader.name == "mcq" else "red kite"
    found = grader.grade(make_item("", gold), None)
    assert (found.value, found.reason) == (0, None)


def test_no_gold_has_no_value(grader, make_item):
    found = grader.grade(make_item("Green", None), never)
    assert found.value is None
    assert "gold" in found.reason


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_graded(response, gold):
    for name in set(PLAIN) - {"locomo:official-nltk"}:
        item = AnswerItem(
            instance=0,
            query=0,
            id="q",
            category="multi-hop",
            question="?",
            gold=gold,
            gold_raw=gold,
            response=response,
        )
        found = open_grader(name).grade(item, None)
        assert (found.value is None) == (found.reason is not None)
        assert found.value is None or 0 <= found.value <= 1


def test_locomo(make_item):
    official, corrected = open_grader("locomo:official"), open_grader("locomo:corrected")
    adversarial = make_item("That was never discussed", None, category="adversarial")
    assert official.grade(adversarial, None).value == 0
    assert corrected.grade(adversarial, None).value == 1
    assert corrected.grade(adversarial, None).label == "refused"
    assert official.grade(adversarial, None).label is None
    refusal = make_item("The red kite was not mentioned")
    assert official.grade(refusal, None).value == pytest.approx(4 / 7)
    assert official.grade(refusal, None).label == "refused"
    assert corrected.grade(refusal, None).value == 0
    assert corrected.grade(make_item("kites, red"), None).value == 1


def test_lexical_says_what_its_libraries_say(make_item):
    pytest.importorskip("rapidfuzz")
    pytest.importorskip("sacrebleu")
    found = open_grader("lexical").grade(make_item("kite red"), None)
    assert (found.value, found.label) == (1, None)
    assert found.detail == {"bleu1": pytest.approx(1), "rouge_l": 0.5}
    best = open_grader("lexical").grade(make_item("tea", gold_raw=["red kite", ["tea"]]), None)
    assert (best.value, best.detail["rouge_l"]) == (1, 1)
    refused = open_grader("lexical").grade(make_item("The kite was not mentioned"), None)
    assert refused.label == "refused"
    unanswerable = make_item("Not mentioned", "Green", answerable=False)
    found = open_grader("lexical").grade(unanswerable, None)
    assert (found.value, found.reason.split(":")[0]) == (None, "unanswerable")


def test_lexical_without_its_libraries(make_item, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(overlaps.importlib, "import_module", absent)
    found = open_grader("lexical").grade(make_item("red kite"), None)
    assert found.value == 1
    assert found.detail == {"bleu1": None, "rouge_l": None}


PHRASES = [
    ("exact", "The red kite!", "red kite", 1),
    ("exact", "It was a red kite", "red kite", 0),
    ("squad", "a red bus", "red kite", 0.5),
    ("substring", "It was a red kite", "red kite", 1),
    ("substring", "a party", "art", 0),
    ("substring:official", "a party", "art", 1),
    ("set", "First tea, then a red kite", "red kite, tea", 1),
    ("set", "First tea, then a red kite", "red kite; coffee", 0),
    ("ordered-set", "First tea, then a red kite", "red kite, tea", 0),
    ("ordered-set", "First tea, then a red kite", "tea; red kite", 1),
    ("mcq", "The answer is (c).", "(c)", 1),
    ("mcq", "F", "F", 1),
]


@pytest.mark.parametrize(("name", "response", "gold", "value"), PHRASES)
def test_phrases_and_letters(name, response, gold, value, make_item):
    assert open_grader(name).grade(make_item(response, gold), None).value == value


def test_an_unanswerable_question_has_no_phrase_to_find(make_item):
    found = open_grader("substring").grade(make_item("green", "green", answerable=False), None)
    assert (found.value, found.reason) == (None, "no gold answer")


def test_letters_are_labelled(make_item):
    mcq = open_grader("mcq")
    wrong = [mcq.grade(make_item(said, "C"), None) for said in ("B", "I like tea", "(A) or (C)")]
    assert [found.value for found in wrong] == [0, 0, 0]
    assert [found.label for found in wrong] == [None, "no letter", "several letters"]
    found = mcq.grade(make_item("C", "a long walk"), None)
    assert (found.value, found.reason) == (None, "the gold answer is no letter")


def test_golds(make_item):
    assert golds(make_item("x", "one")) == ["one"]
    assert golds(make_item("x", None)) == []
    assert golds(make_item("x", "one", gold_raw=3)) == ["one"]
    assert golds(make_item("x", "one", gold_raw=["a", ["b", [2]], None, {}])) == ["a", "b", "2"]
    raw = {"answer": "a", "aliases": ["b", "c"], "rubric": ["r"]}
    assert golds(make_item("x", "one", gold_raw=raw)) == ["a", "b", "c"]
    assert golds(make_item("x", "one", gold_raw={"rubric": ["r"]})) == []
    assert golds(make_item("x", "one", gold_raw={"answer": "a", "aliases": "b"})) == ["a", "b"]
