"""The part of a sentence that a kind of question asks for, by its first word and a few patterns.

English only. Where no pattern fits, the whole sentence is the answer.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from memruler.judges.readers.sentences import Passage, stems

__all__ = ["span"]

_WORD = re.compile(r"\w+")
_YEAR_ROUND = """
January February March April May June July August September October November December
"""
_MONTHS: Final = _YEAR_ROUND.split()
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_ABSOLUTE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?\b"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b"
    rf"|\b{_MONTH},? \d{{4}}\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b(?:19|20)\d\d\b"
)
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(_COUNTS)}) (day|week)s? ago\b", re.IGNORECASE)
_NEAR = (
    (re.compile(r"\byesterday\b|\blast night\b", re.IGNORECASE), -1),
    (re.compile(r"\btomorrow\b", re.IGNORECASE), 1),
)
_SPELT = """
one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred
once twice
"""
_NUMBER_WORDS = _SPELT.split()
_NUMBER = re.compile(rf"\b(?:\d[\d,.]*\d|\d|{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
# A number is bounded: each digit of `1,1,1,` begins one, and would be followed to the end.
_LENGTH = re.compile(
    rf"\b(?:\d[\d,.]{{0,40}}|an?|{'|'.join(_NUMBER_WORDS)}) "
    r"(?:second|minute|hour|day|week|month|year|decade)s?\b",
    re.IGNORECASE,
)
_NAMES = r"[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,5}"
_NAME = re.compile(rf"(?<![.!?] )(?<!^)\b{_NAMES}")
_PLACE = re.compile(rf"\b(?:in|at|to|from|near|around) (?:the )?({_NAMES})")


def span(question: str, sentence: str, near: Passage) -> str:
    """The part of a sentence that answers a question; the sentence where no pattern fits.

    * `when`: a date that stands there; else the day before, after or so many days from the date
      written before the text, where a word says so; else that date.
    * `how many`, `how much`, `how often`, `how old`: the first number. `how long`: the first length
      of time.
    * `who`, `whose`: a name that the question does not hold; else the speaker, if it does not hold
      them.
    * `where`: a name behind `in`, `at`, `to`, `from`, `near` or `around`.

    Args:
        question: Its text.
        sentence: The sentence that was chosen.
        near: The text that it stands in.
    """
    asked = tuple(_WORD.findall(question.lower())[:2])
    for words, rule in _RULES:
        if asked[: len(words)] == words:
            return rule(question, sentence, near) or sentence
    return sentence


def _when(_: str, sentence: str, near: Passage) -> str | None:
    found = _ABSOLUTE.search(sentence)
    if found:
        return found[0]
    if near.day is None:
        return None
    try:
        return _written(near.day + timedelta(days=_shift(sentence)))
    except OverflowError:
        return _written(near.day)


def _shift(sentence: str) -> int:
    ago = _AGO.search(sentence)
    if ago:
        count = _COUNTS.get(ago[1].lower()) or int(ago[1])
        return -count * (7 if ago[2].lower() == "week" else 1)
    return next((days for words, days in _NEAR if words.search(sentence)), 0)


def _written(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _first(pattern: re.Pattern[str]) -> Callable[[str, str, Passage], str | None]:
    def rule(question: str, sentence: str, near: Passage) -> str | None:
        del question, near
        found = pattern.search(sentence)
        return found[0] if found else None

    return rule


def _who(question: str, sentence: str, near: Passage) -> str | None:
    known = set(stems(question))
    for found in _NAME.finditer(sentence):
        mine = stems(found[0])
        if mine and not known & set(mine):
            return found[0]
    return near.speaker if near.speaker and not known & set(stems(near.speaker)) else None


def _where(question: str, sentence: str, _: Passage) -> str | None:
    known = set(stems(question))
    for found in _PLACE.finditer(sentence):
        if not known & set(stems(found[1])):
            return found[1]
    return None


_RULES: Final = (
    (("when",), _when),
    (("what", "date"), _when),
    (("how", "long"), _first(_LENGTH)),
    (("how", "many"), _first(_NUMBER)),
    (("how", "much"), _first(_NUMBER)),
    (("how", "often"), _first(_NUMBER)),
    (("how", "old"), _first(_NUMBER)),
    (("who",), _who),
    (("whose",), _who),
    (("where",), _where),
)
