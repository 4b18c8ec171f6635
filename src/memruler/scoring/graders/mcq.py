"""Multiple choice: the letter that an answer chooses."""

import re
from string import ascii_uppercase

from memruler.metrics.answers.choice import chosen_letters
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask
from memruler.scoring.graders.common import code_sha256, unanswered

__all__ = ["ChoiceGrader", "mcq"]

_GOLD = re.compile(r"\s*\(?([A-Za-z])\)?[.:]?\s*")
_LEAST = 4
_CODE = (
    "metrics.answers.choice",
    "metrics.answers.words",
    "scoring.graders.common",
    "scoring.graders.mcq",
)


class ChoiceGrader:
    """See `Grader`. `no letter` and `several letters` are labels of a wrong answer."""

    name = "mcq"
    metric = "accuracy"
    judged = False
    accuracy = True

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(_CODE, self.name)

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`; the gold is a letter, as in `C` or `(c)`. Nobody is asked."""
        del ask
        if item.response is None:
            return unanswered(item)
        gold = _GOLD.fullmatch(item.gold or "")
        if gold is None:
            return Graded(value=None, reason="the gold answer is no letter")
        wanted = gold[1].upper()
        letters = ascii_uppercase[: max(_LEAST, ascii_uppercase.index(wanted) + 1)]
        chosen = chosen_letters(item.response, letters)
        label = {0: "no letter", 1: None}.get(len(chosen), "several letters")
        return Graded(value=float(chosen == (wanted,)), label=label)


def mcq() -> ChoiceGrader:
    """The grader."""
    return ChoiceGrader()
