"""Puts a case to a judge under one of memruler's rubrics, and reads the label that it gives."""

from collections.abc import Mapping
from typing import Final

from memruler.judges.base import Judged, RefusedRequestError
from memruler.judges.rubric import Rubric, parse_reply
from memruler.model.answers import Graded
from memruler.scoring.graders.base import Ask

__all__ = ["LABEL_TOKENS", "judged", "refusal_reason", "unlabelled"]

LABEL_TOKENS: Final = 10
"""The most tokens of a reply that is a label."""

_SHOWN = 200


def refusal_reason(error: RefusedRequestError) -> str:
    """Why an item is unscored whose request the judge refused."""
    return f"the judge refused: {error.what}"[:_SHOWN]


def judged(rubric: Rubric, case: Mapping[str, str], ask: Ask) -> Judged:
    """Ask about one case; without a label where the judge refused it or gave none."""
    try:
        reply = ask(rubric.messages(case), max_tokens=LABEL_TOKENS).text
    except RefusedRequestError as error:
        return Judged(label=None, reason=refusal_reason(error))
    return parse_reply(reply, rubric)


def unlabelled(found: Judged) -> Graded:
    """The item without a value, since its case has no label."""
    return Graded(value=None, reason=found.reason, reply=found.reply)
