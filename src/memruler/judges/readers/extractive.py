"""A reader without a model: the sentence that shares the most telling words with the question.

It is a floor and a tripwire: the same bytes in every process, free, and it sees a memory change.
It says nothing about how well a language model would read.
"""

import hashlib
import math
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Final

from memruler.judges.readers.base import REFUSAL, ReaderInput, ReaderReply
from memruler.judges.readers.sentences import Passage, Sentence, passage, stems
from memruler.judges.readers.spans import span
from memruler.metrics.answers.words import stemmer_version
from memruler.model.answers import InstrumentIdentity, Usage

__all__ = ["ExtractiveReader"]

_K1: Final = 1.2
_B: Final = 0.75
_CODE: Final = ("extractive.py", "sentences.py", "spans.py")


class ExtractiveReader:
    """Answers with a sentence of the context, or a part of it; see `Reader`.

    Sentences are ranked by BM25 (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75) over the
    sentences of the context itself:

        score(s) = sum over stems w of the question, in s:
            idf(w) * f(w, s) * (k1 + 1) / (f(w, s) + k1 * (1 - b + b * |s| / mean |s|))
        idf(w) = ln(1 + (N - n(w) + 0.5) / (n(w) + 0.5))

    with N sentences, n(w) of them with w. Equal scores fall to the better rank, then to the
    earlier sentence. A sentence that ends in a question mark is no answer, and neither is one that
    shares with the question nothing but the speaker's name. Where no sentence is left, it refuses.
    """

    draws = False

    def identity(self) -> InstrumentIdentity:
        """See `Reader.identity`; the digest is that of its code and of the stemmer's version."""
        return InstrumentIdentity(
            kind="extractive",
            prompt="extractive",
            prompt_sha256=_code_sha256(),
            settings={"stemmer": stemmer_version("porter")},
        )

    def answer(self, question: ReaderInput, *, repeat: int = 0) -> ReaderReply:
        """See `Reader.answer`; every repeat is the same."""
        del repeat
        asked = sorted(set(stems(question.question)))
        read = [passage(text) for text in question.context]
        best = _best(asked, read)
        if best is None:
            return ReaderReply(text=REFUSAL)
        where, sentence = best
        return ReaderReply(text=span(question.question, sentence.text, where))

    def usage(self) -> Usage:
        """Nothing."""
        return Usage()

    def usage_total(self) -> Usage:
        """Nothing."""
        return Usage()


def _best(asked: list[str], read: list[Passage]) -> tuple[Passage, Sentence] | None:
    """The best sentence with its text; None where no answer has a stem of the question."""
    places = [(where, sentence) for where in read for sentence in where.sentences]
    if not places:
        return None
    wanted = frozenset(asked)
    found = [Counter([stem for stem in s.stems if stem in wanted]) for _, s in places]
    with_stem = Counter([stem for counts in found for stem in counts])
    mean = math.fsum(len(s.stems) for _, s in places) / len(places)
    top, chosen = 0.0, None
    for at, ((_, sentence), counts) in enumerate(zip(places, found, strict=True)):
        if wanted.isdisjoint(sentence.own) or sentence.text.endswith("?"):
            continue
        length = _K1 * (1 - _B + _B * len(sentence.stems) / mean)
        # In the order of the sorted stems, so that no sum depends on how a set is walked.
        score = math.fsum(
            _idf(len(places), with_stem[stem]) * counts[stem] * (_K1 + 1) / (counts[stem] + length)
            for stem in asked
            if stem in counts
        )
        if score > top:
            top, chosen = score, at
    return None if chosen is None else places[chosen]


def _idf(sentences: int, having: int) -> float:
    return math.log(1 + (sentences - having + 0.5) / (having + 0.5))


@cache
def _code_sha256() -> str:
    digest = hashlib.sha256()
    folder = files("memruler.judges.readers")
    for name in _CODE:
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(folder.joinpath(name).read_bytes()).digest())
    return digest.hexdigest()
