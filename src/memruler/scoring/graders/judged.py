"""Is the answer right, by memruler's own rubric, for any corpus."""

from memruler.judges.base import RefusedRequestError
from memruler.judges.rubric import load_rubric, parse_reply
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask, no_judge
from memruler.scoring.graders.common import code_sha256, golds, unanswered

__all__ = ["AnswerGrader", "answer"]

_CODE = ("scoring.graders.judged", "scoring.graders.common", "judges.rubric")
_TOKENS = 10
_SHOWN = 200


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
        if (absent := unanswered(item)) is not None or item.response is None:
            return absent or no_judge()
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
        try:
            reply = ask(rubric.messages(case), max_tokens=_TOKENS).text
        except RefusedRequestError as error:
            return Graded(value=None, reason=f"the judge refused: {error.what}"[:_SHOWN])
        found = parse_reply(reply, rubric)
        if found.label is None:
            return Graded(value=None, reason=found.reason, reply=found.reply)
        return Graded(value=float(found.label == "correct"), reply=found.reply)


def answer() -> AnswerGrader:
    """The grader."""
    return AnswerGrader()
