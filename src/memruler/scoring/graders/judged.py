"""Is the answer right, by memruler's own rubric, for any corpus."""

from memruler.judges.rubric import load_rubric
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask, no_judge
from memruler.scoring.graders.common import code_sha256, golds, unanswered
from memruler.scoring.graders.labelling import judged, unlabelled

__all__ = ["AnswerGrader", "answer"]

_CODE = (
    "scoring.graders.labelling",
    "scoring.graders.judged",
    "scoring.graders.common",
    "judges.rubric",
)


class AnswerGrader:
    """See `Grader`. A question without an answer is right if it is refused (rubric `refusal`)."""

    name = "answer:memruler"
    metric = "accuracy"
    judged = True
    accuracy = True

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        rubrics = [load_rubric(name).sha256 for name in ("answer", "refusal")]
        return code_sha256(_CODE, *rubrics)

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`."""
        if item.response is None:
            return unanswered(item)
        wanted = golds(item)
        if item.answerable and not wanted:
            return Graded(value=None, reason="no gold answer")
        rubric = load_rubric("answer" if item.answerable else "refusal")
        case = {
            "question": item.question,
            "reference": " or: ".join(wanted),
            "response": item.response,
        }
        if ask is None:
            return no_judge()
        found = judged(rubric, case, ask)
        if found.label is None:
            return unlabelled(found)
        return Graded(value=float(found.label == "correct"), reply=found.reply)


def answer() -> AnswerGrader:
    """The grader."""
    return AnswerGrader()
