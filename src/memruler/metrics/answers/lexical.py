"""Overlap of words with the gold: token F1, BLEU-1, ROUGE-L. None of them is an accuracy.

The answer is simplified first: lower-cased, without punctuation and articles, split at blanks.
"""

import importlib
from collections.abc import Sequence
from typing import Any

from memruler.metrics.answers.words import overlap_f1, plain_words

__all__ = ["bleu_1", "rouge_l", "token_f1"]


def token_f1(predicted: str, gold: str) -> float:
    """F1 over the bags of simplified words, without stemming; see `overlap_f1`."""
    return overlap_f1(plain_words(predicted), plain_words(gold))


def bleu_1(predicted: str, gold: str) -> float | None:
    """Unigram BLEU of the simplified texts, by sacrebleu, from 0 to 1, with its brevity penalty.

    No smoothing. Source: Papineni et al., BLEU (2002); Post, A Call for Clarity (2018).

    Returns:
        None where sacrebleu is not installed.
    """
    left, right = plain_words(predicted), plain_words(gold)
    bleu = _bleu()
    if bleu is None:
        return None
    if not left or not right:
        return 0.0
    score: float = bleu.sentence_score(" ".join(left), [" ".join(right)]).score
    return min(1.0, score / 100)


def rouge_l(predicted: str, gold: str) -> float | None:
    """F1 over the longest common subsequence of simplified words, by rapidfuzz, from 0 to 1.

    `2 P R / (P + R)`, P and R being its length over that of either text. Source: Lin, ROUGE (2004).

    Returns:
        None where rapidfuzz is not installed.
    """
    left, right = plain_words(predicted), plain_words(gold)
    common = _lcs(left, right)
    if common is None:
        return None
    if not common:
        return 0.0
    precision, recall = common / len(left), common / len(right)
    return 2 * precision * recall / (precision + recall)


def _bleu() -> Any:
    try:
        metrics = importlib.import_module("sacrebleu.metrics")
    except ImportError:
        return None
    return metrics.BLEU(
        max_ngram_order=1, tokenize="none", smooth_method="none", effective_order=True
    )


def _lcs(left: Sequence[str], right: Sequence[str]) -> int | None:
    try:
        distance = importlib.import_module("rapidfuzz.distance")
    except ImportError:
        return None
    return int(distance.LCSseq.similarity(left, right))
