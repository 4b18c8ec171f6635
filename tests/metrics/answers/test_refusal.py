import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers.refusal import OFFICIAL_PHRASES, refused

REFUSALS = [
    "Not mentioned in the conversation",
    "No information available.",
    "That was never discussed",
    "The conversation does not mention this.",
    "The conversation doesn't mention a dog.",
    "The conversation doesn\u2019t say where she lives.",
    "It is not stated in the dialogue",
    "This isn't specified anywhere.",
    "There is no mention of a sister in the chats.",
    "There is no information about that",
    "There is no record of such a trip",
    "No evidence of a job change.",
    "I don't know.",
    "I do not know",
    "I really don't know",
    "We do not know that.",
    "I'm not sure.",
    "I am not certain about it",
    "Not sure",
    "Don't know",
    "I don't recall you telling me that",
    "I don't have enough information to answer.",
    "I do not have any record of that",
    "There isn't enough context to tell.",
    "Not enough information",
    "Insufficient information.",
    "It cannot be determined from the messages",
    "That can't be answered.",
    "I cannot tell from the conversation.",
    "I couldn't find that",
    "Cannot determine",
    "I am unable to answer this question",
    "It is impossible to say",
    "Unknown",
    "unanswerable",
    "It is unclear.",
    "The date was not specified.",
    "Nothing is said about her brother",
    "Her age is never mentioned.",
    "idk",
    "N/A",
    "The text provides no details about this; the context does not provide it",
    "You never mentioned a cat.",
    "You did not mention where you bought it",
    "Your messages do not contain that",
    "The name of the dog is not given.",
    "That is not included in our conversations.",
    "There is no record of it",
    "There is no way to know.",
    "No answer can be given",
    "Mara did not specify the colour",
    "I believe this was not mentioned.",
    "Although we spoke of cats, a dog was never mentioned",
]

ANSWERS = [
    "Green",
    "",
    "He did not mention it to her, he called",
    "She does not have a dog",
    "No",
    "No, she sold it",
    "He never learned to swim",
    "She does not know how to swim",
    "They did not find the keys",
    "She cannot find her keys",
    "You can't tell him anything",
    "He was not sure of himself",
    "The cake does not contain nuts",
    "It was not included in the price",
    "Not on Monday, on Tuesday",
    "She said no to the offer",
    "She could not answer the door",
    "Mara did not say, so they went by train",
    "He was unable to walk for a week",
    "Nothing but tea",
    "They had no data plan in Oslo, so they bought maps",
    "Notice of the mention came in May",
    "A knot in the rope",
    "He does not talk to his father",
    "She is not available on Fridays, but on Sundays",
    "Not mentioned, but perhaps green",
    "It was not stated; probably Oslo",
    "Perhaps green, though that is not mentioned",
    "I don't know, but I think it was in May",
    "Possibly Tuesday. It is not specified.",
    "Not mentioned. My guess is green",
]

WRONG = {
    # What a rule over words gets wrong, kept here so that a change of it shows.
    "She told them that she was never mentioned": True,
    "He moved to an unknown village": True,
    "The shop was not known to them": True,
    "The letter did not state a price, so he asked": True,
    "Not mentioned, but they spoke of dogs": False,
    "It is probably not mentioned": False,
    "Your guess is as good as mine": False,
    "You told me about a cat, and of no dog": False,
}


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_one(text):
    assert refused(text)
    assert refused(f"  {text.upper()}\n")


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text):
    assert not refused(text)


@pytest.mark.parametrize(("text", "found"), WRONG.items())
def test_known_errors(text, found):
    assert refused(text) is found


@pytest.mark.parametrize("phrase", OFFICIAL_PHRASES)
@given(before=st.text("xyz \n,.", max_size=10), after=st.text("xyz \n,.", max_size=10))
def test_the_official_phrases_count_anywhere_and_under_both_rules(phrase, before, after):
    text = f"{before} {phrase.capitalize()} {after}"
    assert refused(text, "official")
    assert refused(text)


def test_the_official_rule_knows_two_phrases_and_no_guess():
    assert refused("Not mentioned, but perhaps green", "official")
    assert not refused("I do not know", "official")
    assert not refused("not  mentioned", "official")
    assert refused("not  mentioned")


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    assert refused(text) in {True, False}


def test_a_long_text_is_read_in_reasonable_time():
    assert not refused("she was not " * 20_000)
    assert not refused("conversation " * 20_000)
    assert not refused("i can not " * 20_000)


def test_few_gold_answers_of_locomo_look_like_refusals(locomo_path):
    conversations = json.loads(locomo_path.read_bytes())
    golds = [
        str(question["answer"])
        for conversation in conversations
        for question in conversation["qa"]
        if question["category"] != 5
    ]
    assert len(golds) == 1540
    found = [gold for gold in golds if refused(gold)]
    assert found == []
