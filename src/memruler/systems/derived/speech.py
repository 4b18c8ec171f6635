"""From the text of a unit to who says what: the heads that the run's text form put in front."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memruler.model.system import TurnInput

__all__ = ["LONGEST_UNIT", "Line", "lines"]

LONGEST_UNIT = 131_072
"""Characters of a unit that are read; what stands behind them makes no derived item."""

_LONGEST_NAME = 100
_NAME = re.compile(r"([^\W\d_][\w .'\u2019-]{0,39}): (?=\S)")
"""A speaker at the start of a line, where a unit holds the turns of several."""


class Line(NamedTuple):
    """One line of what somebody said.

    Attributes:
        dated: The date that the text form put in front, `[2023-05-08] `; empty where it did not.
        speaker: `Caroline: `; empty where nobody is named.
        words: What was said, with single spaces.
    """

    dated: str
    speaker: str
    words: str


def lines(turn: TurnInput) -> Iterator[Line]:
    """The lines of a unit that say anything.

    A unit of one turn is said by its speaker, whether or not the text form names them. In a unit
    that names no speaker (a whole session) each line may begin with one; a line without is said
    by the speaker before it.
    """
    text, dated = turn.text[:LONGEST_UNIT], ""
    if turn.time is not None:
        prefix = f"[{turn.time:%Y-%m-%d}] "
        if text.startswith(prefix):
            text, dated = text[len(prefix) :], prefix
    name = " ".join(turn.speaker.split())[:_LONGEST_NAME]
    speaker = f"{name}: " if name else ""
    for line in text.removeprefix(f"{turn.speaker}: ").split("\n"):
        words = line
        named = None if name else _NAME.match(line)
        if named is not None:
            speaker, words = named[0], line[named.end() :]
        words = " ".join(words.split())
        if words:
            yield Line(dated, speaker, words)
