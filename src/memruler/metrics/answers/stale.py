"""Did a wrong answer return a value that was superseded later?"""

import re
import unicodedata
from collections.abc import Sequence

from memruler.metrics.answers.words import corrected_words, stemmer

__all__ = ["stale"]

_SMALL = frozenset(
    [
        "i",
        "you",
        "he",
        "she",
        "it",
        "we",
        "they",
        "my",
        "your",
        "his",
        "her",
        "its",
        "our",
        "their",
        "me",
        "him",
        "them",
        "this",
        "that",
        "these",
        "those",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "will",
        "would",
        "can",
        "could",
        "should",
        "not",
        "no",
        "yes",
        "or",
        "if",
        "so",
        "than",
        "then",
        "there",
        "here",
        "what",
        "when",
        "where",
        "who",
        "how",
        "which",
        "about",
        "now",
        "currently",
        "new",
        "latest",
        "recent",
        "recently",
        "just",
        "still",
        "already",
        "also",
    ]
)
_NUMBER = re.compile(r"\d")


def stale(response: str, gold: str, question: str, evidence: Sequence[str]) -> bool | None:
    """Whether what an answer says beyond the question stands in older evidence alone.

    The telling words of the answer are its stemmed content words that neither the question nor the
    gold answer holds. It is stale if there are any, all of them that are numbers (all of them,
    where none is) stand in the earlier evidence texts, and none of those in the last one. This
    finds too few rather than too many: a value told in other words is not found.

    Args:
        response: A wrong answer.
        gold: The value that holds now.
        question: What was asked.
        evidence: The evidence's texts in order of time; the last one holds the new value.

    Returns:
        None where there are fewer than two evidence texts, so that it cannot be told.

    Example:
        >>> old, new = "I run 5 km every week", "I am up to 10 km a week now"
        >>> stale("You run 5 km", "10 km", "How far do I run?", [old, new])
        True
    """
    if len(evidence) < 2:  # noqa: PLR2004 - an old and a new one
        return None
    told = _words(response) - _words(question) - _words(gold)
    numbers = {word for word in told if _NUMBER.search(word)}
    telling = numbers or told
    older = set().union(*map(_words, evidence[:-1]))
    return bool(telling) and telling <= older and not telling & _words(evidence[-1])


def _words(text: str) -> set[str]:
    stem = stemmer("porter")
    found = corrected_words(unicodedata.normalize("NFC", text))
    return {stem(word) for word in found if word not in _SMALL}
