"""The sentences of the synthetic corpus, and the dice that choose among them."""

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

__all__ = [
    "Attribute",
    "Chatter",
    "Collection",
    "Dice",
    "Events",
    "Phrases",
    "Talk",
    "chatter",
    "phrases",
]

T = TypeVar("T")

_FILE = Path(__file__).parent / "data" / "synthetic.toml"
_SLOT = re.compile(r"\{(\w+)\}")


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something of which a person has one value at a time; see the file for the fields."""

    name: str
    values: tuple[str, ...]
    say: tuple[str, ...]
    hint: tuple[str, ...]
    other: tuple[str, ...]
    echo: tuple[str, ...]
    update: tuple[str, ...]
    ask: tuple[str, ...]
    now: tuple[str, ...]
    vague: tuple[str, ...]


class Collection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something of which a person gathers several values."""

    name: str
    values: tuple[str, ...]
    say: tuple[str, ...]
    other: tuple[str, ...]
    ask: tuple[str, ...]


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Deeds of one day, each as (infinitive, past tense)."""

    deeds: tuple[tuple[str, str], ...]
    say: tuple[str, ...]
    other: tuple[str, ...]
    when: tuple[str, ...]
    first: tuple[str, ...]


class Talk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Small talk."""

    openers: tuple[str, ...]
    closers: tuple[str, ...]
    chatter: tuple[str, ...]
    replies: tuple[str, ...]


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    speakers: tuple[str, ...]
    others: tuple[str, ...]
    relations: tuple[str, ...]
    attribute: tuple[Attribute, ...]
    collection: tuple[Collection, ...]
    event: Events
    talk: Talk
    words: dict[str, tuple[str, ...]]


@cache
def phrases() -> Phrases:
    """The sentences, read once."""
    import tomllib  # noqa: PLC0415 - only who generates needs it

    return msgspec.convert(tomllib.loads(_FILE.read_text(encoding="utf-8")), Phrases)


class Dice:
    """Choices from a seed that are the same on every platform and Python.

    Only `Random.random()` is promised to stay the same between versions of Python, so every
    choice is made from it.

    Args:
        seed: Any text.
    """

    def __init__(self, seed: str) -> None:
        self.roll = random.Random(seed).random  # noqa: S311 - repeatable, not secret

    def below(self, n: int) -> int:
        """A whole number from 0 to `n - 1`."""
        return int(self.roll() * n)

    def pick(self, choices: Sequence[T]) -> T:
        """One of `choices`, which is not empty."""
        return choices[int(self.roll() * len(choices))]

    def draw(self, choices: list[T]) -> T:
        """One of `choices`, taken out of it."""
        return choices.pop(int(self.roll() * len(choices)))

    def deal(self, choices: Sequence[T], n: int) -> list[T]:
        """`n` different ones of `choices`, in random order."""
        left = list(choices)
        return [self.draw(left) for _ in range(n)]


_Parts = tuple[str | tuple[str, ...], ...]


class Chatter:
    """Small talk with its word lists built in, so that a sentence costs a few microseconds."""

    def __init__(self, source: Phrases) -> None:
        self.openers = [_parts(one, source.words) for one in source.talk.openers]
        self.closers = [_parts(one, source.words) for one in source.talk.closers]
        self.chatter = [_parts(one, source.words) for one in source.talk.chatter]
        self.replies = [_parts(one, source.words) for one in source.talk.replies]

    def sentence(self, dice: Dice, kind: list[_Parts]) -> str:
        """One sentence of a kind (`openers`, ...); `{name}` is left in it."""
        roll = dice.roll
        return "".join(
            part if isinstance(part, str) else part[int(roll() * len(part))]
            for part in kind[int(roll() * len(kind))]
        )


@cache
def chatter() -> Chatter:
    """The small talk of the file."""
    return Chatter(phrases())


def _parts(template: str, words: dict[str, tuple[str, ...]]) -> _Parts:
    """Split at the slots that have a word list; other slots stay text."""
    found: list[str | tuple[str, ...]] = []
    for n, part in enumerate(_SLOT.split(template)):
        found.append(part if n % 2 == 0 else words.get(part, "{" + part + "}"))
    return tuple(part for part in found if part)
