"""How much a clause says: its names, numbers, dates and content words, counted."""

import re

import msgspec

from memruler.systems.builtin.stopwords import STOP_WORDS

__all__ = ["Weighed", "names_in", "weigh"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_APOSTROPHE = re.compile(r"['\u2019]")

_LISTED_TALK = """
absolutely agree agreed amazing aw awesome aww awww bye congrats congratulations cool definitely
exactly fantastic glad good goodbye great ha haha happy hear hello hey hi hm hmm kinda know let like
lol look lot lovely maybe mean nice oh ok okay please pretty really right see so sorry sounds sure
take thank thanks thing things think totally true uh um well wonderful wow yea yeah yep yes
"""
_LISTED_NUMBERS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
million billion dozen half twice
"""
_SMALL_TALK = frozenset(_LISTED_TALK.split())
_NUMBERS = frozenset(_LISTED_NUMBERS.split())
_NAME, _NUMBER, _DATE, _CONTENT = 2, 2, 3, 1
_ASKS = ("?", "\uff1f")


class Weighed(msgspec.Struct, frozen=True):
    """What a clause is made of.

    Attributes:
        words: Its words in order, lower-cased.
        content: The distinct ones that say what it is about, in order, without `'s`.
        salience: How much it says, in points.
    """

    words: tuple[str, ...]
    content: tuple[str, ...]
    salience: int


def names_in(text: str) -> frozenset[str]:
    """The words of a name, as `weigh` is told them."""
    return frozenset(map(str.lower, _WORD.findall(text)))


def weigh(clause: str, *, dated: bool, speakers: frozenset[str]) -> Weighed:
    """Weigh a clause.

    A point for each distinct content word (no function word, no small talk, no name of somebody
    who is talking: that is an address), another for each that is a name (a capital inside the
    clause) or a number, three for a stated date. A question asks more than it says: it counts
    half, rounded up.

    Args:
        clause: Any text.
        dated: Whether it states a date.
        speakers: The words of the names of those who are talking.
    """
    found = _WORD.findall(clause)
    words = tuple([word.lower() for word in found])
    points: dict[str, int] = {}
    for place, (word, low) in enumerate(zip(found, words, strict=True)):
        plain = _APOSTROPHE.split(low, maxsplit=1)[0]
        if plain in STOP_WORDS or plain in _SMALL_TALK or plain in speakers:
            continue
        if low in _NUMBERS or any(map(str.isdigit, low)):
            worth = _NUMBER
        elif place and word[0].isupper():
            worth = _NAME
        else:
            worth = _CONTENT
        points[plain] = max(points.get(plain, 0), worth)
    salience = sum(points.values()) + _DATE * dated
    if clause.endswith(_ASKS):
        salience = (salience + 1) // 2
    return Weighed(words, tuple(points), salience)
