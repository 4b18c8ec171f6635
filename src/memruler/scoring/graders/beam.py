"""BEAM: a judge's marks over rubric items, and the order of events.

`official` is the published arithmetic with its defects, over memruler's own judge wording: half
marks are cut to 0, the judge is not shown the question, and an ordering is its normalised tau
alone, so that nothing right still earns marks. `corrected` keeps half marks, shows the question,
and multiplies the tau by F1.
"""

import re
from math import fsum
from typing import Any

from memruler.judges.rubric import load_rubric
from memruler.metrics.answers.ordering import ordering
from memruler.metrics.answers.words import plain_words
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask, no_judge
from memruler.scoring.graders.common import code_sha256, unanswered
from memruler.scoring.graders.labelling import judged

__all__ = ["BeamGrader", "corrected", "official"]

_CODE = (
    "judges.rubric",
    "metrics.answers.ordering",
    "metrics.answers.words",
    "scoring.graders.beam",
    "scoring.graders.common",
    "scoring.graders.labelling",
)
_ORDERING = "event_ordering"
_MARKS = {"full": 1.0, "half": 0.5, "none": 0.0}
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):])\s*")


class _UnlabelledError(Exception):
    """A case that the judge gave no label, so that the item has no value."""


class BeamGrader:
    """See `Grader`. The gold is an object with `rubric`, a list of texts; see docs/answers.md.

    Args:
        profile: `official` or `corrected`.
    """

    metric = "rubric"
    judged = True
    accuracy = False

    def __init__(self, profile: str) -> None:
        self.name = f"beam:{profile}"
        self._official = profile == "official"

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        rubrics = [load_rubric(name).sha256 for name in ("beam", "same_event")]
        return code_sha256(_CODE, *rubrics, self.name)

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`. A long ordering asks up to lines times events questions."""
        if item.response is None:
            return unanswered(item)
        rubric = _rubric(item.gold_raw)
        if not rubric:
            return Graded(value=None, reason="the gold has no rubric")
        if ask is None:
            return no_judge()
        try:
            if item.category == _ORDERING:
                return self._ordered(item.response, rubric, ask)
            return self._marked(item, rubric, ask)
        except _UnlabelledError as error:
            return Graded(value=None, reason=str(error))

    def _marked(self, item: AnswerItem, criteria: list[str], ask: Ask) -> Graded:
        marks = []
        for criterion in criteria:
            case = {
                "question": "" if self._official else item.question,
                "criterion": criterion,
                "response": item.response or "",
            }
            marks.append(_MARKS[_label("beam", case, ask)])
        whole = [float(int(mark)) for mark in marks] if self._official else marks
        return Graded(
            value=fsum(whole) / len(whole),
            detail={"items": float(len(marks)), "halves": float(marks.count(0.5))},
        )

    def _ordered(self, response: str, events: list[str], ask: Ask) -> Graded:
        events = list(dict.fromkeys(events))
        lines = response.split("\n")
        if not self._official:
            lines = _events_said(lines)
        said: list[str] = []
        free = list(events)
        for line in lines:
            match = None if self._official else _alike(line, free)
            if match is None:
                match = _asked_for(line, free, ask)
            if match is None:
                # A line that repeats an event is one too many, and must not pass for the event.
                said.append(line if self._official else f"\0{len(said)}")
            else:
                said.append(match)
                free.remove(match)
        found_order = ordering(events, said)
        detail = {
            "precision": found_order.precision,
            "recall": found_order.recall,
            "tau_norm": found_order.tau_norm,
            "final": found_order.final,
        }
        value = found_order.tau_norm if self._official else found_order.final
        if value is None and not self._official:
            # One event and nothing else: there is no order to get wrong, so F1 is all there is.
            value = found_order.f1
        if value is None:
            return Graded(value=None, reason="tau is not defined for one event", detail=detail)
        return Graded(value=value, detail=detail)


def official() -> BeamGrader:
    """The published arithmetic."""
    return BeamGrader("official")


def corrected() -> BeamGrader:
    """Without its defects."""
    return BeamGrader("corrected")


def _rubric(raw: Any) -> list[str]:
    found = raw.get("rubric") if isinstance(raw, dict) else None
    return [str(text) for text in found] if isinstance(found, list) else []


def _events_said(lines: list[str]) -> list[str]:
    """Lines without their list marks, without blank ones and without a heading before them."""
    found = [text for line in lines if (text := _LIST_MARK.sub("", line).strip())]
    return found[1:] if found and found[0].rstrip("*_ ").endswith(":") else found


def _alike(line: str, events: list[str]) -> str | None:
    words = plain_words(line)
    return next((event for event in events if plain_words(event) == words), None)


def _asked_for(line: str, events: list[str], ask: Ask) -> str | None:
    """The first free event that the judge takes for the same."""
    for event in events:
        if _label("same_event", {"first": event, "second": line}, ask) == "yes":
            return event
    return None


def _label(name: str, case: dict[str, str], ask: Ask) -> str:
    found = judged(load_rubric(name), case, ask)
    if found.label is None:
        raise _UnlabelledError(found.reason)
    return found.label
