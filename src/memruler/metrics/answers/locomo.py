"""LoCoMo's answer scores: as published, and as they should have been.

Source of `official`: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM
Agents (2024), and the scoring that its authors published. What `corrected` does otherwise, and why,
stands in docs/answers.md.
"""

import re

from memruler.metrics.answers.assignment import best_total
from memruler.metrics.answers.refusal import refused
from memruler.metrics.answers.words import (
    Stemmer,
    corrected_words,
    locomo_words,
    overlap_f1,
    stemmer,
)

__all__ = ["ADVERSARIAL", "MULTI_HOP", "OPEN_DOMAIN", "locomo_corrected", "locomo_official"]

MULTI_HOP, OPEN_DOMAIN, ADVERSARIAL = "multi-hop", "open-domain", "adversarial"
_LIST = re.compile(r"[,;\n]|\band\b")


def locomo_official(
    predicted: str, gold: str | None, category: str, stem: Stemmer = "porter"
) -> float:
    """The score of one answer, from 0 to 1, exactly as published.

    * multi-hop: both sides are split at commas; the mean over the gold parts of the best F1 that a
      predicted part has with it. More predicted parts cost nothing.
    * open-domain: F1 with the gold before its first `;`.
    * adversarial: 1 if the answer holds one of two phrases of refusal, else 0.
    * every other: F1 with the gold.

    Args:
        predicted: The answer.
        gold: The gold answer as text; not read where the question is adversarial.
        category: Its name.
        stem: Which stemmer, on both sides.

    Raises:
        ValueError: No gold, and the category needs one.
    """
    if category == ADVERSARIAL:
        return float(refused(predicted, "official"))
    if gold is None:
        raise ValueError("no gold answer")
    if category == MULTI_HOP:
        parts = [part.strip() for part in predicted.split(",")]
        wanted = [part.strip() for part in gold.split(",")]
        best = [max(_f1(part, one, stem) for part in parts) for one in wanted]
        return _mean(best)
    if category == OPEN_DOMAIN:
        gold = gold.split(";", 1)[0].strip()
    return _f1(predicted, gold, stem)


def locomo_corrected(predicted: str, gold: str | None, category: str) -> float:
    """The score of one answer, from 0 to 1, without the published scoring's defects.

    * A refusal of a question that has an answer is 0, whatever words it shares with the gold.
    * multi-hop: the parts of both sides (at commas, semicolons, line ends and `and`; empty ones do
      not count) are paired one to one, and what is paired with nothing counts against the answer:
      `2 sum(F1 of the pairs) / (predicted parts + gold parts)`, at its largest; or F1 of the whole
      answer, if that is larger, since a comma may stand inside a date.
    * open-domain: the larger of F1 with the gold before its first `;` and F1 with all of it.
    * adversarial: 1 if the answer refuses (rule `wide`) and makes no guess.
    * every other: F1 with the gold. A comma parts words; where nothing is left of the gold but the
      words that are dropped, these count.

    Raises:
        ValueError: No gold, and the category needs one.
    """
    if category == ADVERSARIAL:
        return float(refused(predicted))
    if gold is None:
        raise ValueError("no gold answer")
    if refused(predicted) and not refused(gold):
        return 0.0
    whole = _corrected_f1(predicted, gold)
    if category == MULTI_HOP:
        parts, wanted = _parts(predicted), _parts(gold)
        if parts and wanted:
            worth = [[_corrected_f1(part, one) for part in parts] for one in wanted]
            return max(whole, 2 * best_total(worth) / (len(parts) + len(wanted)))
    if category == OPEN_DOMAIN:
        return max(whole, _corrected_f1(predicted, gold.split(";", 1)[0]))
    return whole


def _f1(predicted: str, gold: str, kind: Stemmer) -> float:
    stem = stemmer(kind)
    return overlap_f1(
        [stem(word) for word in locomo_words(predicted)],
        [stem(word) for word in locomo_words(gold)],
    )


def _corrected_f1(predicted: str, gold: str) -> float:
    stem = stemmer("porter")
    left, right = corrected_words(predicted), corrected_words(gold)
    if not right:  # `A`, `The The`: then every word counts
        left, right = predicted.lower().split(), gold.lower().split()
    return overlap_f1([stem(word) for word in left], [stem(word) for word in right])


def _parts(text: str) -> list[str]:
    return [part for part in map(str.strip, _LIST.split(text)) if part]


def _mean(values: list[float]) -> float:
    """By numpy, as published: it adds eight or more in an order of its own, to the last bit."""
    import numpy as np  # noqa: PLC0415 - late, as all heavy ones

    return float(np.mean(values))
