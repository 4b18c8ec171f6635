"""The words of an answer: normalised and stemmed the way each data set's authors do."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from memruler.errors import InstrumentError

__all__ = [
    "Stemmer",
    "corrected_words",
    "locomo_words",
    "overlap_f1",
    "plain_words",
    "stemmer",
    "stemmer_version",
    "unstemmed",
]

Stemmer = Literal["porter", "nltk", "none"]
"""`porter`: the original Porter through snowballstemmer (and PyStemmer where it is installed);
`nltk`: the extended mode of nltk, for bit-equality with published figures; `none`."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LOCOMO_STOP = re.compile(r"\b(a|an|the|and)\b")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_DIGIT_COMMA = re.compile(r"(?<=\d),(?=\d)")


def locomo_words(text: str) -> list[str]:
    """As LoCoMo's own scoring does, in its order.

    Delete commas (nothing takes their place, so `Oslo,Norway` is one word), lower-case, delete
    ASCII punctuation, put a space for the words a, an, the and and, split at blanks.
    """
    text = text.replace(",", "").lower().translate(_PUNCTUATION)
    return _LOCOMO_STOP.sub(" ", text).split()


def corrected_words(text: str) -> list[str]:
    """As `locomo_words`, but a comma parts two words unless it stands between digits.

    Other punctuation inside a word is deleted as there; accents are composed first, so that two
    spellings of one letter are one.
    """
    text = _DIGIT_COMMA.sub("", unicodedata.normalize("NFC", text)).replace(",", " ")
    return _LOCOMO_STOP.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def plain_words(text: str) -> list[str]:
    """Lower-case, delete ASCII punctuation, drop a, an and the: SQuAD's normalisation.

    Source: Rajpurkar et al., SQuAD (2016), its evaluation script; MemoryAgentBench does the same.
    """
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def unstemmed(word: str) -> str:
    """The word itself."""
    return word


@cache
def stemmer(kind: Stemmer) -> Callable[[str], str]:
    """A function from a word to its stem.

    Args:
        kind: See `Stemmer`.

    Raises:
        InstrumentError: `nltk` is asked for and not installed.
    """
    # Late: only where answers are scored.
    if kind == "none":
        return unstemmed
    if kind == "nltk":
        try:
            from nltk.stem import PorterStemmer  # noqa: PLC0415
        except ImportError as error:
            raise InstrumentError(
                f"nltk is not usable: {error}", hint="pip install 'memruler[nltk]'"
            ) from error
        found: Any = PorterStemmer().stem
    else:
        import snowballstemmer  # noqa: PLC0415

        # It keeps the word it works on in itself, so one of them is for one thread only.
        return lru_cache(maxsize=65_536)(lambda word: _porter(snowballstemmer, word))
    return lru_cache(maxsize=65_536)(found)


def _porter(package: Any, word: str) -> str:
    return str(package.stemmer("porter").stemWord(word))


def stemmer_version(kind: Stemmer) -> str:
    """Name and version of what stems, for identities."""
    if kind == "none":
        return "none"
    from importlib.metadata import version  # noqa: PLC0415 - as above

    package = "nltk" if kind == "nltk" else "snowballstemmer"
    return f"{kind} {package} {version(package)}"


def overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over two bags of words.

    `F1 = 2 m / (|predicted| + |gold|)`, m being the size of the bags' intersection; 0 where it is
    empty, which it is too where either bag is. Computed from P and R, as the published scorers do,
    so that the last bit is theirs.

    Example:
        >>> overlap_f1(["blue", "lantern", "cafe"], ["blue", "lantern", "café"])
        0.6666666666666666
    """
    same = sum((Counter(predicted) & Counter(gold)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(gold)
    return 2 * precision * recall / (precision + recall)
