"""LoCoMo: word overlap as published (`official`), and without its defects (`corrected`)."""

from memruler.metrics.answers.locomo import ADVERSARIAL, locomo_corrected, locomo_official
from memruler.metrics.answers.refusal import refused
from memruler.metrics.answers.words import Stemmer, stemmer, stemmer_version
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask
from memruler.scoring.graders.common import code_sha256, unanswered

__all__ = ["LocomoGrader", "corrected", "official", "official_nltk"]

_CODE = (
    *(f"metrics.answers.{name}" for name in ("locomo", "words", "refusal", "assignment")),
    "scoring.graders.common",
    "scoring.graders.locomo",
)


class LocomoGrader:
    """See `Grader`.

    Args:
        name: With its profile.
        stem: Which stemmer.
    """

    metric = "f1"
    judged = False
    accuracy = False

    def __init__(self, name: str, stem: Stemmer = "porter") -> None:
        self.name = name
        self._stem = stem
        self._corrected = name.endswith(":corrected")
        stemmer(stem)  # one that is not installed shows now, not at the first item

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(_CODE, self.name, stemmer_version(self._stem))

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`; nobody is asked."""
        del ask
        if item.response is None:
            return unanswered(item)
        if item.gold is None and item.category != ADVERSARIAL:
            return Graded(value=None, reason="no gold answer")
        if self._corrected:
            value = locomo_corrected(item.response, item.gold, item.category)
            label = "refused" if refused(item.response) else None
        else:
            value = locomo_official(item.response, item.gold, item.category, self._stem)
            label = "refused" if refused(item.response, "official") else None
        return Graded(value=value, label=label)


def official() -> LocomoGrader:
    """As published, with the original Porter stemmer."""
    return LocomoGrader("locomo:official")


def official_nltk() -> LocomoGrader:
    """As published, with nltk's stemmer: the same bits as published figures."""
    return LocomoGrader("locomo:official-nltk", "nltk")


def corrected() -> LocomoGrader:
    """Without the defects that docs/answers.md names."""
    return LocomoGrader("locomo:corrected")
