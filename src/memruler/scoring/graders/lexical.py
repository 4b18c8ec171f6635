"""Overlap of words with the gold, for any corpus: not an accuracy."""

from importlib.metadata import PackageNotFoundError, version

from memruler.metrics.answers.lexical import bleu_1, rouge_l, token_f1
from memruler.metrics.answers.refusal import refused
from memruler.model.answers import AnswerItem, Graded
from memruler.scoring.graders.base import Ask
from memruler.scoring.graders.common import code_sha256, golds, unanswered

__all__ = ["LexicalGrader", "lexical"]

_CODE = (
    *(f"metrics.answers.{name}" for name in ("lexical", "words", "refusal")),
    "scoring.graders.common",
    "scoring.graders.lexical",
)
_LIBRARIES = ("sacrebleu", "rapidfuzz")


class LexicalGrader:
    """See `Grader`. BLEU-1 and ROUGE-L stand in `detail`; None without the extra `lexical`."""

    name = "lexical"
    metric = "f1"
    judged = False
    accuracy = False

    def sha256(self) -> str:
        """See `Grader.sha256`."""
        return code_sha256(_CODE, *map(_installed, _LIBRARIES))

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """See `Grader.grade`; nobody is asked. With several golds each score is its best."""
        del ask
        if item.response is None:
            return unanswered(item)
        if not item.answerable:
            return Graded(value=None, reason="unanswerable: there is no gold to overlap with")
        wanted = golds(item)
        if not wanted:
            return Graded(value=None, reason="no gold answer")
        said = item.response
        bleus = [score for gold in wanted if (score := bleu_1(said, gold)) is not None]
        rouges = [score for gold in wanted if (score := rouge_l(said, gold)) is not None]
        return Graded(
            value=max(token_f1(said, gold) for gold in wanted),
            label="refused" if refused(said) else None,
            detail={"bleu1": max(bleus, default=None), "rouge_l": max(rouges, default=None)},
        )


def lexical() -> LexicalGrader:
    """The grader."""
    return LexicalGrader()


def _installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
