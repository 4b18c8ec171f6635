"""A judge whose replies are written down, and items to grade."""

from typing import NamedTuple

import pytest

from memruler.judges.base import RefusedRequestError
from memruler.model.answers import AnswerItem


class Said(NamedTuple):
    text: str
    finish: str | None = "stop"


class FakeJudge:
    """Says what `reply` makes of the messages; remembers what it was asked."""

    def __init__(self, reply):
        self.reply = reply if callable(reply) else lambda _: reply
        self.asked = []
        self.limits = set()

    def __call__(self, messages, *, max_tokens=None):
        self.asked.append(list(messages))
        self.limits.add(max_tokens)
        reply = self.reply(messages[-1].text)
        if isinstance(reply, Exception):
            raise reply
        return Said(reply)

    @property
    def texts(self):
        return [messages[-1].text for messages in self.asked]


@pytest.fixture
def judge():
    return FakeJudge


@pytest.fixture
def refusing():
    return FakeJudge(RefusedRequestError("the prompt is too long"))


@pytest.fixture
def make_item():
    def build(response, gold="red kite", **fields):
        fields = {"gold_raw": gold, "category": "single-hop", "question": "What flew?"} | fields
        return AnswerItem(instance=0, query=0, id="q0", gold=gold, response=response, **fields)

    return build
