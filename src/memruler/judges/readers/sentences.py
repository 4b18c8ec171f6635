"""A returned text as sentences, with the day and the speaker that stand before it."""

import re
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from memruler.metrics.answers.words import stemmer

__all__ = ["STOP_WORDS", "Passage", "Sentence", "passage", "stems"]

_LISTED = """
a an the this that these those there here it its i me my we us our you your he him his she her
they them their and or but if of in on at to for from by with about as into than then so
is are was were be been being am do does did done have has had having will would can could
should may might who whom whose what when where why how which not no s t m d ll re ve
"""
STOP_WORDS: Final = frozenset(_LISTED.split())
"""Words that tell nothing about a topic."""

_WORD = re.compile(r"[^\W_]+")
_PREFIX = re.compile(r"(?:\[(\d{4}-\d{2}-\d{2})\] )?(?:([^\s:\[][^:\n]{0,39}): )?")
"""How a run writes a turn down: `[2023-05-08] Ann: text`; both parts may be missing."""
# The blanks around a line end are stripped later: looked for here, a text of blanks takes for ever.
_END = re.compile(r"(?<=[.!?…])[\"'\u201d\u2019)\]]*\s+|\n")
_LONGEST_KEPT = 20_000
"""Characters of a text whose sentences are kept for the next question."""


class Sentence(NamedTuple):
    """One sentence.

    Attributes:
        text: As it stands there, without what stands before the whole text.
        own: Stems of its own words, in order.
        stems: The same behind those of the speaker's name.
    """

    text: str
    own: tuple[str, ...]
    stems: tuple[str, ...]


class Passage(NamedTuple):
    """A returned text, taken apart.

    Attributes:
        day: The date that is written before it; None where there is none.
        speaker: What is written before its colon; empty where there is none.
        sentences: In order; empty for a blank text.
    """

    day: date | None
    speaker: str
    sentences: tuple[Sentence, ...]


def stems(text: str) -> tuple[str, ...]:
    """Stems of the words that are no stop words, in order; lower-cased, original Porter."""
    stem = stemmer("porter")
    return tuple([stem(w) for w in _WORD.findall(text.lower()) if w not in STOP_WORDS])


def passage(text: str) -> Passage:
    """Take a text apart; long ones each time anew, so that memory stays bounded."""
    return _kept(text) if len(text) <= _LONGEST_KEPT else _taken_apart(text)


def _taken_apart(text: str) -> Passage:
    prefix = _PREFIX.match(text)
    written, speaker, start = None, "", 0
    if prefix:
        written, speaker, start = prefix[1], prefix[2] or "", prefix.end()
    said = stems(speaker)
    parts = [part.strip() for part in _END.split(text[start:])]
    sentences = [
        Sentence(part, own, (*said, *own)) for part in parts if part for own in [stems(part)]
    ]
    return Passage(_day(written), speaker, tuple(sentences))


_kept = lru_cache(maxsize=4096)(_taken_apart)


def _day(written: str | None) -> date | None:
    try:
        return None if written is None else date.fromisoformat(written)
    except ValueError:  # [2023-99-99]
        return None
