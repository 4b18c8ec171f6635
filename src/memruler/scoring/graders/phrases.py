"""Answers that must hold or be a gold phrase: SQuAD's F1, exact match, substring, phrase sets."""

from collections.abc import Callable, Sequence

from memruler.metrics.answers.choice import (
    exact_match,
    has_characters,
    holds_all,
    holds_any,
    holds_in_order,
    squad_f1,
)
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask
from memruler.scoring.graders.common import code_sha256, golds, unanswered

__all__ = ["PhraseGrader", "every", "exact", "ordered", "squad", "substring", "substring_official"]

_CODE = (
    "metrics.answers.choice",
    "metrics.answers.words",
    "scoring.graders.common",
    "scoring.graders.phrases",
)


class PhraseGrader:
    """See `Grader`.

    Args:
        name: Of the grader.
        rule: Answer and golds to a value.
        metric: What the value is called.
        parts: Whether a single gold is a list of phrases, parted by commas and semicolons.
    """

    judged = False

    def __init__(
        self,
        name: str,
        rule: Callable[[str, Sequence[str]], float],
        *,
        metric: str = "accuracy",
        parts: bool = False,
    ) -> None:
        self.name = name
        self.metric = metric
        self.accuracy = metric == "accuracy"
        self._rule = rule
        self._parts = parts

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(_CODE, self.name)

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`; nobody is asked."""
        del ask
        if item.response is None:
            return unanswered(item)
        wanted = golds(item)
        if self._parts and len(wanted) == 1:
            wanted = [part for part in wanted[0].replace(";", ",").split(",") if part.strip()]
        if not wanted or not item.answerable:
            return Graded(value=None, reason="no gold answer")
        return Graded(value=float(self._rule(item.response, wanted)))


def squad() -> PhraseGrader:
    """Word F1, the best over the golds."""
    return PhraseGrader("squad", squad_f1, metric="f1")


def exact() -> PhraseGrader:
    """1 if the normalised answer is a gold."""
    return PhraseGrader("exact", exact_match)


def substring() -> PhraseGrader:
    """1 if a gold stands in the answer as whole words."""
    return PhraseGrader("substring", holds_any)


def substring_official() -> PhraseGrader:
    """1 if the characters of a gold stand in the answer, inside a word too, as published."""
    return PhraseGrader("substring:official", has_characters)


def every() -> PhraseGrader:
    """1 if every phrase of the gold stands in the answer."""
    return PhraseGrader("set", holds_all, parts=True)


def ordered() -> PhraseGrader:
    """1 if every phrase of the gold stands in the answer, in order."""
    return PhraseGrader("ordered-set", holds_in_order, parts=True)
