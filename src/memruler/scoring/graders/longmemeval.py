"""LongMemEval's judge: its authors' templates and rule, or memruler's own rubric."""

from collections.abc import Sequence

import msgspec

from memruler.corpora.longmemeval_judge import ABSTENTION, TYPES, Templates, official_templates
from memruler.errors import UsageError
from memruler.judges.base import RefusedRequestError
from memruler.judges.rubric import Message, load_rubric
from memruler.metrics.answers.labels import official_yes, strict_yes
from memruler.metrics.answers.stale import stale
from memruler.metrics.answers.words import stemmer_version
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask, no_judge
from memruler.scoring.graders.common import code_sha256, unanswered
from memruler.scoring.graders.labelling import LABEL_TOKENS, judged, refusal_reason, unlabelled

__all__ = ["LongMemEvalGrader", "OwnGrader", "official", "own"]

_CODE = (
    "corpora.longmemeval_judge",
    "judges.rubric",
    *(f"metrics.answers.{name}" for name in ("labels", "stale", "words")),
    "scoring.graders.common",
    "scoring.graders.labelling",
    "scoring.graders.longmemeval",
)
_SHOWN = 200
_UPDATE = "knowledge-update"
_KINDS = {
    "temporal-reasoning": "date",
    _UPDATE: "update",
    "single-session-preference": "preference",
}


class LongMemEvalGrader:
    """See `Grader`: the published judge.

    One message with the template of the question's type; the one for abstention where the id holds
    `_abs`, whatever the type. 1 if `yes` stands anywhere in the lower-cased reply. `detail` has
    `strict`, by which the first word decides. The texts are not fenced, as published.

    Args:
        templates: The five.
    """

    name = "longmemeval:official"
    metric = "accuracy"
    judged = True
    accuracy = True

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(_CODE, self.name, self._templates.sha256, stemmer_version("porter"))

    def messages(self, item: AnswerItem) -> Sequence[Message]:
        """What the judge is told.

        Raises:
            UsageError: The question's type is none of LongMemEval's.
        """
        name = ABSTENTION if "_abs" in item.id else _type(item)
        gold = item.gold_raw if item.gold is None else item.gold  # an explanation: no answer
        # The values are put in as they are: braces in them are no slots.
        text = self._templates.texts[name].format(item.question, gold, item.response)
        return [Message("user", text)]

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`."""
        if item.response is None:
            return unanswered(item)
        if item.gold is None and item.gold_raw is None:
            return Graded(value=None, reason="no gold answer")
        said = self.messages(item)
        if ask is None:
            return no_judge()
        try:
            reply = ask(said, max_tokens=LABEL_TOKENS).text.strip()
        except RefusedRequestError as error:
            return Graded(value=None, reason=refusal_reason(error))
        if not reply:
            return Graded(value=None, reason="the judge's reply is empty")
        strict = strict_yes(reply)
        return _labelled(
            item,
            Graded(
                value=float(official_yes(reply)),
                detail={"strict": None if strict is None else float(strict)},
                reply=reply[:_SHOWN],
            ),
        )


class OwnGrader:
    """See `Grader`: memruler's own rubric, its texts fenced; its first word decides."""

    name = "longmemeval:memruler"
    metric = "accuracy"
    judged = True
    accuracy = True

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        rubrics = [load_rubric(name).sha256 for name in ("longmemeval", "refusal")]
        return code_sha256(_CODE, self.name, *rubrics, stemmer_version("porter"))

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`."""
        if item.response is None:
            return unanswered(item)
        reference = item.gold
        if reference is None and isinstance(item.gold_raw, str):
            reference = item.gold_raw  # why it cannot be answered
        case = {
            "question": item.question,
            "reference": reference or "",
            "response": item.response,
        }
        if item.answerable and "_abs" not in item.id:
            if not reference:
                return Graded(value=None, reason="no gold answer")
            rubric, case["kind"] = load_rubric("longmemeval"), _KINDS.get(_type(item), "fact")
        else:
            rubric = load_rubric("refusal")
        if ask is None:
            return no_judge()
        found = judged(rubric, case, ask)
        if found.label is None:
            return unlabelled(found)
        value = float(found.label == rubric.labels[0])
        return _labelled(item, Graded(value=value, reply=found.reply))


def official() -> LongMemEvalGrader:
    """With the fetched templates.

    Raises:
        UsageError: They were not fetched.
    """
    return LongMemEvalGrader(official_templates())


def own() -> OwnGrader:
    """With memruler's own rubric."""
    return OwnGrader()


def _type(item: AnswerItem) -> str:
    if item.category not in TYPES:
        raise UsageError(
            f"{item.category!r} is none of LongMemEval's types of question",
            where=item.id,
            hint="grade this corpus with answer:memruler",
        )
    return item.category


def _labelled(item: AnswerItem, graded: Graded) -> Graded:
    """A wrong answer to a knowledge update that gave the value from before is labelled so."""
    if graded.value != 0 or item.category != _UPDATE or not item.response:
        return graded
    texts = [text for text in item.evidence_texts if text is not None]
    known = len(texts) == len(item.evidence_texts)
    found = stale(item.response, item.gold or "", item.question, texts) if known else None
    label = {True: "stale", False: None, None: "stale unknown"}[found]
    return msgspec.structs.replace(graded, label=label)
