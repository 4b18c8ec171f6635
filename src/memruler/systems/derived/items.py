"""What is made of what was read: facts of a unit, dated statements, a summary of a session.

All choices are made by whole numbers; among equals what was said first comes first.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from memruler.systems.derived.reading import Clause, Reading, Sentence
from memruler.systems.derived.sentences import windows

__all__ = ["MOST_SENTENCES", "MOST_STATEMENTS", "facts", "statements", "summary"]

MOST_STATEMENTS = 8
"""Dated statements of one unit."""

MOST_SENTENCES = 8
"""Sentences of a summary."""


def facts(reading: Reading, most: int) -> list[str]:
    """The clauses of a unit that say most, the most telling first.

    Each is a text with its speaker, and with the date behind it where it states a relative one.
    No two have the same words. A clause without a point counts only where the unit has no other.
    Fewer facts are always the first ones of more.

    Args:
        reading: The unit.
        most: How many at most.
    """
    found = _distinct(reading)
    telling = [clause for clause in found if clause.weighed.salience] or found[:1]
    telling.sort(key=lambda clause: -clause.weighed.salience)
    return list(dict.fromkeys(map(_fact, telling)))[:most]


def statements(reading: Reading) -> list[str]:
    """The clauses of a unit that state a date, with all of their dates in front, in order."""
    dated = (clause for clause in _distinct(reading) if clause.dates)
    return [
        f"{', '.join(date.label for date in clause.dates)}: {clause.line.speaker}{clause.text}"
        for clause in islice(dated, MOST_STATEMENTS)
    ]


def summary(readings: Sequence[Reading]) -> tuple[str, list[int]] | None:
    """The sentences of a session that together say most, in the order in which they were said.

    A content word is worth the number of sentences it occurs in. The sentence whose words are
    worth most is taken, then the one whose words not yet said are, and so on; a sentence that
    adds nothing is not taken.

    Args:
        readings: The units of the session, in order.

    Returns:
        The text, and the places of the units whose sentences it is made of, ascending; None
        where no sentence says anything.
    """
    pool = [
        (place, sentence, _content(sentence))
        for place, reading in enumerate(readings)
        for sentence in reading.sentences
    ]
    worth = Counter(word for _, _, words in pool for word in words)
    taken: list[int] = []
    while len(taken) < MOST_SENTENCES:
        gains = [sum([worth[word] for word in words]) for _, _, words in pool]
        best = max(range(len(pool)), key=lambda at: (gains[at], -at), default=None)
        if best is None or not gains[best]:
            break
        taken.append(best)
        worth.subtract({word: worth[word] for word in pool[best][2]})
    if not taken:
        return None
    said = [pool[at] for at in sorted(taken)]
    dated = said[0][1].line.dated
    text = " ".join(f"{s.line.speaker}{windows(s.text)[0]}" for _, s, _ in said)
    return dated + text, sorted({place for place, _, _ in said})


def _fact(clause: Clause) -> str:
    when = ", ".join(date.label for date in clause.dates if date.relative)
    text = f"{clause.line.dated}{clause.line.speaker}{clause.text}"
    return f"{text} ({when})" if when else text


def _distinct(reading: Reading) -> list[Clause]:
    """The clauses in order, the first of those with the same words."""
    found: dict[tuple[str, tuple[str, ...]], Clause] = {}
    for sentence in reading.sentences:
        for clause in sentence.clauses:
            found.setdefault((clause.line.speaker, clause.weighed.words), clause)
    return list(found.values())


def _content(sentence: Sentence) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for part in sentence.clauses for word in part.weighed.content))
