"""The reader without a model: hand-made cases, ties, refusals, and the same bytes everywhere."""

import subprocess
import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.judges.readers.base import REFUSAL, ReaderInput
from memruler.judges.readers.extractive import ExtractiveReader
from memruler.judges.readers.sentences import passage, stems
from memruler.judges.readers.spans import span


def answer(question, *context):
    return ExtractiveReader().answer(ReaderInput(question=question, context=context)).text


def test_the_sentence_with_the_telling_words_wins():
    context = ("Ann: I love tea. My bicycle is green.", "Bob: Tea is green too.")
    assert answer("What colour is the bicycle of Ann?", *context) == "My bicycle is green."


def test_words_are_compared_by_stem_and_case_does_not_matter():
    assert answer("did she PAINT?", "Nothing here.", "She was painting boats.") == (
        "She was painting boats."
    )


def test_the_speaker_counts_for_every_sentence_and_is_not_part_of_the_answer():
    context = ("Bob: Oh. I sold a house.", "Ann: Well. I sold a boat.", "Ann: I like selling.")
    assert answer("What has Ann sold?", *context) == "I sold a boat."
    read = passage("[2023-05-08] Ann: Hi there. Bye!")
    assert (read.day, read.speaker) == (date(2023, 5, 8), "Ann")
    assert [s.text for s in read.sentences] == ["Hi there.", "Bye!"]
    assert read.sentences[1].stems == ("ann", "bye")


@pytest.mark.parametrize(
    ("text", "day", "speaker", "first"),
    [
        ("[2023-99-99] Ann: x y", None, "Ann", "x y"),
        ("no prefix at 12:30 here", None, "", "no prefix at 12:30 here"),
        ("[note] Ann: x", None, "", "[note] Ann: x"),
        ("[2023-05-08] plain", date(2023, 5, 8), "", "plain"),
    ],
)
def test_what_stands_before_a_text(text, day, speaker, first):
    read = passage(text)
    assert (read.day, read.speaker, read.sentences[0].text) == (day, speaker, first)


def test_equal_scores_fall_to_rank_and_then_to_place():
    assert answer("tea", "One tea here. Two tea here.", "Six tea here.") == "One tea here."
    assert answer("tea", "Six tea here.", "One tea here. Two tea here.") == "Six tea here."


def test_a_rare_word_tells_more_than_a_frequent_one():
    context = ("Ann: tea.", "Ann: tea.", "Ann: tea.", "Ann: some fish here.")
    assert answer("Ann tea fish", *context) == "some fish here."


@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("What about boats?", ()),
        ("What about boats?", ("",)),
        ("What about boats?", ("Ann: tea.", "Bob: coffee")),
        ("Who are you?", ("Who are you and what is it about, then.",)),  # function words alone
        ("boats", ("Do you like boats?",)),  # a question answers nothing
        ("What has Ann bought?", ("Ann: Well. I sold a boat.",)),  # a name alone tells nothing
        ("", ("Boats.",)),
    ],
)
def test_without_a_shared_word_it_refuses(question, context):
    assert answer(question, *context) == REFUSAL == "No information available"


SAID = "[2023-05-08] Ann: We went {} to Lisbon with Tim Lee and paid 25 coins for 3 hours."


@pytest.mark.parametrize(
    ("question", "word", "expected"),
    [
        ("When did we go?", "on 3 May 2021", "3 May 2021"),
        ("When did we go?", "in June 2020", "June 2020"),
        ("When did we go?", "in 1999", "1999"),
        ("When did we go?", "yesterday", "7 May 2023"),
        ("When did we go?", "three days ago", "5 May 2023"),
        ("When did we go?", "2 weeks ago", "24 April 2023"),
        ("When did we go?", "quickly", "8 May 2023"),
        ("What date did we go?", "yesterday", "7 May 2023"),
        ("How many coins?", "", "25"),
        ("How long did it take?", "", "3 hours"),
        ("Who went to Lisbon?", "", "Tim Lee"),
        ("Who went with Tim Lee to Lisbon?", "", "Ann"),
        ("Where did we go?", "", "Lisbon"),
    ],
)
def test_a_kind_of_question_gets_its_part(question, word, expected):
    near = passage(SAID.format(word))
    assert span(question, near.sentences[0].text, near) == expected


def test_where_no_pattern_fits_the_sentence_is_the_answer():
    near = passage("nothing of that kind here")
    for question in ("When was it?", "Who was it?", "Where?", "How many?", "Why?"):
        assert span(question, near.sentences[0].text, near) == "nothing of that kind here"
    early = passage("[0001-01-01] Ann: 999 weeks ago we went")
    assert span("When?", early.sentences[0].text, early) == "1 January 1"


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_gets_an_answer_that_stands_there_or_a_refusal(question, context):
    found = answer(question, *context)
    assert found == answer(question, *context)
    if not set(stems(question)) & {stem for text in context for stem in stems(text)}:
        assert found == REFUSAL
    if not question.lower().startswith(("when", "what date")):
        assert found == REFUSAL or any(found in text for text in context)


def test_long_and_hostile_texts_take_linear_time_and_pass():
    hostile = ["A" * 200_000, ". " * 100_000, "Ann: " * 50_000, "\ud800\0\u202e", "a.\n" * 50_000]
    assert answer("Ann A?", *hostile) == answer("Ann A?", *hostile)


CHILD = """
from memruler.judges.readers.base import ReaderInput
from memruler.judges.readers.extractive import ExtractiveReader
words = [f"w{n}" for n in range(40)]
texts = tuple(" ".join(words[n::3]) + f". {' '.join(words[::n + 2])}." for n in range(7))
reader = ExtractiveReader()
for n in range(40):
    question = " ".join(words[n:] + words[: n // 2])
    print(reader.answer(ReaderInput(question=question, context=texts)).text)
print(reader.identity())
"""


def test_every_process_says_the_same():
    said = {
        subprocess.run(
            [sys.executable, "-c", CHILD],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(said) == 1
    assert len(set(next(iter(said)).splitlines())) > 3


def test_its_identity_is_its_code():
    found = ExtractiveReader().identity()
    assert (found.kind, found.model, found.host) == ("extractive", None, None)
    assert len(found.prompt_sha256) == 64
    assert found.settings["stemmer"].startswith("porter snowballstemmer")
    assert ExtractiveReader().usage().requests == ExtractiveReader().usage_total().requests == 0
