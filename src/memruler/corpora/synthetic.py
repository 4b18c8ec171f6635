"""A corpus made from a seed: multi-session conversations with planted facts, at any size.

It is for first runs, tests and load; it is synthetic, and says so in every report.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from memruler.corpora.jsonl_format import (
    POPULATIONS,
    AboutCorpus,
    EvidenceLine,
    HeaderLine,
    InstanceLine,
    QueryLine,
    SessionLine,
    TurnLine,
    TurnPlace,
    to_instance,
)
from memruler.corpora.synthetic_plan import MOST_QUERIES, Planner, Plant, Question
from memruler.corpora.synthetic_text import Dice, chatter, phrases
from memruler.errors import UsageError
from memruler.model.corpus import CorpusInfo, Instance

__all__ = ["FEWEST_SESSIONS", "MOST_INSTANCES", "MOST_SESSIONS", "VERSION", "SyntheticCorpus"]

VERSION = 1
"""Raised whenever the same arguments would give other bytes."""

FEWEST_SESSIONS = 5
MOST_SESSIONS = 100_000
"""They span centuries by then; the calendar ends with the year 9999."""
MOST_INSTANCES = 1_000_000_000

_LICENCE = "Apache-2.0"
_EPOCH = datetime(2023, 1, 2)  # noqa: DTZ001 - corpus times are naive UTC
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class SyntheticCorpus:
    """Conversations between two people each, yielded one by one; memory does not grow with them.

    An instance depends on the seed, its position, `sessions` and `queries` only: a larger corpus
    begins with the smaller one.

    Args:
        seed: Any whole number.
        instances: Conversations, 1 to `MOST_INSTANCES`.
        sessions: Sessions of each, `FEWEST_SESSIONS` to `MOST_SESSIONS`; a session has about 10
            turns.
        queries: Questions of each, 1 to `MOST_QUERIES`; by default as many as sessions, but 6 to
            24. Six give one of each category.

    Raises:
        UsageError: A number is out of its range.
    """

    def __init__(
        self, seed: int = 7, instances: int = 4, sessions: int = 12, queries: int | None = None
    ) -> None:
        self.seed = seed
        self.instances = instances
        self.sessions = sessions
        self.queries = max(6, min(24, sessions)) if queries is None else queries
        for name, value, least, most in (
            ("instances", instances, 1, MOST_INSTANCES),
            ("sessions", sessions, FEWEST_SESSIONS, MOST_SESSIONS),
            ("queries", self.queries, 1, MOST_QUERIES),
        ):
            if value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}")
            if value > most:
                raise UsageError(f"{name} must be at most {most}, not {value}")

    @cached_property
    def about(self) -> AboutCorpus:
        """What the first line of the file says."""
        size = f"{self.instances} x {self.sessions} sessions, {self.queries} queries each"
        return AboutCorpus(
            version=f"{VERSION} (seed {self.seed}, {size})",
            licence=_LICENCE,
            notes=("Synthetic: generated from templates; says nothing about real conversations.",),
        )

    @cached_property
    def info(self) -> CorpusInfo:
        """What it is. The digest is of the bytes of the file, which takes one generation."""
        digest = hashlib.sha256()
        for line in self.lines():
            digest.update(line)
        return CorpusInfo(
            name="synthetic",
            version=self.about.version,
            licence=_LICENCE,
            sha256=digest.hexdigest(),
            tier="bundled",
            populations=POPULATIONS,
            notes=self.about.notes,
        )

    def __iter__(self) -> Iterator[Instance]:
        for position in range(self.instances):
            yield to_instance(position, self._line(position))

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the corpus as a file in the `jsonl` format."""
        encoder = msgspec.json.Encoder()
        yield encoder.encode(HeaderLine(corpus=self.about)) + b"\n"
        for position in range(self.instances):
            yield encoder.encode(self._line(position)) + b"\n"

    def _line(self, position: int) -> InstanceLine:
        dice = Dice(f"{VERSION}:{self.seed}:{position}:{self.sessions}:{self.queries}")
        plan = Planner(dice, phrases(), self.sessions, self.queries)
        times = _times(dice, self.sessions)
        waiting: list[list[int]] = [[] for _ in times]
        for n, plant in enumerate(plan.plants):
            waiting[plant.session].append(n)
        sessions = []
        places: dict[int, TurnPlace] = {}
        for s, time in enumerate(times):
            turns, at = _session(dice, plan.speakers, plan.plants, waiting[s])
            places.update((n, TurnPlace(s, turn)) for n, turn in at.items())
            sessions.append(SessionLine(turns=turns, time=time.isoformat()))
        asked = times[-1] + timedelta(days=1 + dice.below(14))
        return InstanceLine(
            id=f"synthetic-{position + 1:04}",
            sessions=tuple(sessions),
            queries=tuple(
                _query(f"q{n + 1:02}", question, places, times, asked)
                for n, question in enumerate(plan.questions)
            ),
        )


def _times(dice: Dice, sessions: int) -> list[datetime]:
    """Ascending times, 3 to 15 days apart on average, between 8:00 and 21:59."""
    mean = max(3, min(15, 180 // sessions))
    day = dice.below(365)
    times = []
    for _ in range(sessions):
        minutes = 8 * 60 + dice.below(14 * 60)
        times.append(_EPOCH + timedelta(days=day, minutes=minutes))
        # Squares are skewed as real gaps are, and exact on every platform; their mean is 1/3.
        day += 1 + int(dice.roll() ** 2 * 3 * (mean - 1))
    return times


def _session(
    dice: Dice, speakers: list[str], plants: list[Plant], waiting: list[int]
) -> tuple[tuple[TurnLine, ...], dict[int, int]]:
    """Write one session around the plants it must contain.

    Returns:
        Its turns, and the turn of each plant.
    """
    length = 8 + dice.below(5)
    starts = dice.below(2)
    # The first turn is a greeting. Free turns of each speaker, by position.
    free = [[t for t in range(1, length) if (t + starts) % 2 == who] for who in (0, 1)]
    at: dict[int, int] = {}
    for n in waiting:
        who = plants[n].speaker
        while not free[who]:
            free[(length + starts) % 2].append(length)
            length += 1
        at[n] = dice.draw(free[who])
    planted = {turn: plants[n].text for n, turn in at.items()}
    turns = []
    for t in range(length):
        who = (t + starts) % 2
        text = _turn(dice, planted.get(t), first=t == 0, last=t == length - 1)
        text = text.replace("{name}", speakers[1 - who])
        turns.append(TurnLine(speaker=speakers[who], text=text))
    return tuple(turns), at


def _turn(dice: Dice, planted: str | None, *, first: bool, last: bool) -> str:
    """One to four sentences; a planted one has small talk around it, as any other has."""
    talk = chatter()
    parts = []
    if first:
        parts.append(talk.sentence(dice, talk.openers))
    elif dice.below(2) == 0:
        parts.append(talk.sentence(dice, talk.replies))
    if planted:
        parts.append(planted)
    if not planted or dice.below(2) == 0:
        parts.append(talk.sentence(dice, talk.chatter))
    if dice.below(3) == 0:
        parts.append(talk.sentence(dice, talk.chatter))
    if last:
        parts.append(talk.sentence(dice, talk.closers))
    return " ".join(parts)


def _query(
    name: str,
    question: Question,
    places: dict[int, TurnPlace],
    times: list[datetime],
    asked: datetime,
) -> QueryLine:
    gold = tuple(places[n] for n in question.gold)
    answer = question.answer
    if answer is None and gold:
        day = times[gold[0].session]
        answer = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return QueryLine(
        id=name,
        text=question.text,
        category=question.category,
        answer=answer,
        answerable=bool(gold),
        time=asked.isoformat(),
        evidence=EvidenceLine(turns=gold),
    )
