"""Multiple choice: the letter that an answer chooses."""

import re
from string import ascii_uppercase

from memruler.metrics.answers.choice import chosen_letter
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask
from memruler.scoring.graders.common import code_sha256, unanswered

__all__ = ["ChoiceGrader", "mcq"]

_GOLD = re.compile(r"\s*\(?([A-Za-z])\)?[.:]?\s*")
_LEAST = 4


class ChoiceGrader:
    """See `Grader`. No letter, or several, is a wrong answer with a label that says so."""

    name = "mcq"
    metric = "accuracy"
    judged = False
    accuracy = True

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(("metrics.answers.choice",), self.name)

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`; the gold is a letter, as in `C` or `(c)`. Nobody is asked."""
        del ask
        if (absent := unanswered(item)) is not None or item.response is None:
            return absent or Graded(value=None, reason="no answer")
        gold = _GOLD.fullmatch(item.gold or "")
        if gold is None:
            return Graded(value=None, reason="the gold answer is no letter")
        wanted = gold[1].upper()
        letters = ascii_uppercase[: max(_LEAST, ascii_uppercase.index(wanted) + 1)]
        chosen = chosen_letter(item.response, letters)
        return Graded(
            value=float(chosen == wanted), label="no single letter" if chosen is None else None
        )


def mcq() -> ChoiceGrader:
    """The grader."""
    return ChoiceGrader()
