"""Answers that are one of a few options, a phrase to be found, or a set of them.

Each is one short function; a corpus names the one that it is scored by.
"""

import re
from collections.abc import Sequence

from memruler.metrics.answers.words import overlap_f1, plain_words

__all__ = [
    "chosen_letter",
    "chosen_letters",
    "exact_match",
    "has_characters",
    "holds_all",
    "holds_any",
    "holds_in_order",
    "squad_f1",
]

_BOXED = re.compile(r"\\boxed\{\s*\(?([A-Za-z])\)?\s*\}")
# A small letter without brackets must end its line: `the answer is a dog` chooses nothing.
_MARKED = re.compile(
    r"\b(?i:answer|option|choice)\b(?i:\s+is)?\s*[:=]?[\s*_`]*"
    r"(?:\(([A-Za-z])\)|([A-Z])(?![\w'\u2019])|([a-z])(?=[).:]|\W*(?:\n|$)))"
)
_BRACKETS = re.compile(r"\(([A-Za-z])\)")
_LEADING = re.compile(r"\s*[*_`]*\(?([A-Za-z])(?:[).:]|[*_`]*[^\S\n]*(?:\n|$))")
_WHOLE_WORDS = {"yes", "no", "noanswer"}


def chosen_letters(text: str, letters: str = "ABCD") -> tuple[str, ...]:
    r"""The options that an answer chooses, as capital letters in their order; empty for none.

    The first of these rules that finds letters decides: `\boxed{C}`; `answer: C`, `option (C)`;
    `(C)`; a letter at the start that stands alone on its line or before `)`, `.` or `:`.

    Args:
        text: The answer.
        letters: The options.
    """
    for rule in (_BOXED, _MARKED, _BRACKETS):
        found = {match[match.lastindex or 0].upper() for match in rule.finditer(text)}
        if found & set(letters):
            return tuple(sorted(found & set(letters)))
    start = _LEADING.match(text)
    letter = start[1].upper() if start else ""
    return (letter,) if letter and letter in letters else ()


def chosen_letter(text: str, letters: str = "ABCD") -> str | None:
    """The one option that an answer chooses, as a capital letter; None for none or several.

    Args:
        text: The answer.
        letters: The options.

    Example:
        >>> chosen_letter("The answer is (c)."), chosen_letter("(a) or (b)"), chosen_letter("A dog")
        ('C', None, None)
    """
    found = chosen_letters(text, letters)
    return found[0] if len(found) == 1 else None


def holds_any(text: str, golds: Sequence[str]) -> bool:
    """Whether a gold stands in the answer, both normalised, as whole words."""
    return any(_find(plain_words(text), plain_words(gold), 0) is not None for gold in golds)


def has_characters(text: str, golds: Sequence[str]) -> bool:
    """Whether the characters of a gold stand in the answer, both normalised.

    By this rule `art` is in `party`, and a gold of which normalising leaves nothing is in all.
    Source: Hu et al., MemoryAgentBench (2025), its scoring.
    """
    said = " ".join(plain_words(text))
    return any(" ".join(plain_words(gold)) in said for gold in golds)


def holds_all(text: str, golds: Sequence[str]) -> bool:
    """Whether every gold phrase stands in the answer as a run of whole words, in any order."""
    return bool(golds) and all(holds_any(text, [gold]) for gold in golds)


def holds_in_order(text: str, golds: Sequence[str]) -> bool:
    """Whether the gold phrases stand in the answer one after the other, without overlap."""
    words, at = plain_words(text), 0
    for gold in golds:
        phrase = plain_words(gold)
        found = _find(words, phrase, at)
        if found is None:
            return False
        at = found + len(phrase)
    return bool(golds)


def exact_match(text: str, golds: Sequence[str]) -> bool:
    """Whether the normalised answer is one of the golds (SQuAD, MuSiQue, HotpotQA)."""
    return plain_words(text) in [plain_words(gold) for gold in golds]


def squad_f1(text: str, golds: Sequence[str]) -> float:
    """The largest word F1 with a gold.

    0 where one side is yes, no or noanswer and the other is not. No stemming. Source: HotpotQA's
    scoring, as MemoryAgentBench uses it.
    """
    return max((_squad(plain_words(text), plain_words(gold)) for gold in golds), default=0.0)


def _squad(said: list[str], gold: list[str]) -> float:
    if said != gold and ({" ".join(said), " ".join(gold)} & _WHOLE_WORDS):
        return 0.0
    return overlap_f1(said, gold)


def _find(words: list[str], phrase: list[str], at: int) -> int | None:
    """Where the phrase stands from `at` on; an empty phrase stands nowhere.

    Words hold no blanks, so that texts can be searched, which takes no longer for long phrases.
    """
    if not phrase:
        return None
    text = f" {' '.join(words[at:])} "
    found = text.find(f" {' '.join(phrase)} ")
    return None if found < 0 else at + text.count(" ", 0, found)
