"""A unit as it was read: its sentences with their clauses, weighed and dated."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from memruler.model.system import SessionInput, TurnInput
from memruler.systems.derived.dates import Stated, stated
from memruler.systems.derived.salience import Weighed, names_in, weigh
from memruler.systems.derived.sentences import clauses, sentences
from memruler.systems.derived.speech import Line, lines

__all__ = ["Clause", "Reading", "Sentence", "read"]


class Clause(msgspec.Struct, frozen=True):
    """A clause, the line it stands in, the dates that it states, and what it is made of."""

    line: Line
    text: str
    dates: tuple[Stated, ...]
    weighed: Weighed


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, the line it stands in, and its clauses, at least one."""

    line: Line
    text: str
    clauses: tuple[Clause, ...]


class Reading(msgspec.Struct, frozen=True):
    """A unit and its sentences, in order; those without a word are left out."""

    turn: TurnInput
    sentences: tuple[Sentence, ...]


def read(session: SessionInput) -> list[Reading]:
    """Read the units of a session, in order."""
    heard = [(turn, list(lines(turn))) for turn in session.turns]
    talking = {line.speaker for _, said in heard for line in said}
    names = frozenset(word for speaker in talking for word in names_in(speaker))
    return [Reading(turn, tuple(_sentences(turn, said, names))) for turn, said in heard]


def _sentences(turn: TurnInput, said: list[Line], names: frozenset[str]) -> Iterator[Sentence]:
    for line in said:
        for sentence in sentences(line.words):
            parts = [_clause(line, text, turn.time, names) for text in clauses(sentence)]
            worded = tuple([part for part in parts if part.weighed.words])
            if worded:
                yield Sentence(line, sentence, worded)


def _clause(line: Line, text: str, said: datetime | None, names: frozenset[str]) -> Clause:
    dates = tuple(stated(text, said))
    return Clause(line, text, dates, weigh(text, dated=bool(dates), speakers=names))
