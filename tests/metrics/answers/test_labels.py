import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers.labels import official_yes, strict_yes

REPLIES = [
    ("yes", True, True),
    ("Yes.", True, True),
    ("**Yes**", True, True),
    ('"yes"', True, True),
    ("1. yes", True, None),
    ("no", False, False),
    ("No, it is not", False, False),
    ("No, yesterday it was raining", True, False),
    ("No; the user's eyes are blue", True, False),
    ("I think yes", True, None),
    ("yesterday", True, None),
    ("The answer is wrong", False, None),
    ("nothing", False, None),
    ("", False, None),
    ("   \n", False, None),
    ("...", False, None),
    ("42", False, None),
]


@pytest.mark.parametrize(("reply", "official", "strict"), REPLIES)
def test_two_ways_to_read_a_reply(reply, official, strict):
    assert official_yes(reply) is official
    assert strict_yes(reply) is strict


@given(st.text(max_size=50))
def test_what_strict_takes_for_a_yes_the_official_rule_does_too(reply):
    if strict_yes(reply):
        assert official_yes(reply)
