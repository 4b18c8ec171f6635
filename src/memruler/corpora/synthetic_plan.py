"""What a synthetic conversation must contain: facts, updates, distractors, and the questions.

Nothing of this is a sentence in its place yet: a plan says which session a planted sentence goes
to and who says it; `synthetic.py` writes the conversation around it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from memruler.corpora.synthetic_text import Attribute, Collection, Dice, Phrases

__all__ = ["CATEGORIES", "MOST_QUERIES", "Planner", "Plant", "Question"]

CATEGORIES = (
    "single-session",
    "paraphrase",
    "knowledge-update",
    "multi-session",
    "temporal",
    "unanswerable",
)
"""In the order in which questions are dealt: question n is of category n modulo 6."""

MOST_QUERIES = 48
"""Questions that one conversation has facts for."""

_BOTH = 2  # speakers


class Plant(NamedTuple):
    """A sentence that must be said: in which session (by position), by whom (0 or 1)."""

    session: int
    speaker: int
    text: str


class Question(msgspec.Struct, frozen=True):
    """A question, with its gold as places in the planner's `plants`.

    Attributes:
        answer: None when it is the date of the gold plant's session, or when there is none.
    """

    category: str
    text: str
    answer: str | None
    gold: tuple[int, ...]


class Planner:
    """Plans one conversation.

    Args:
        dice: The choices of this conversation.
        source: The sentences.
        sessions: How many sessions there will be; at least 3.
        queries: How many questions, 0 to `MOST_QUERIES`.

    Attributes:
        speakers: The two names.
        plants: Everything that must be said.
        questions: In order.
    """

    def __init__(self, dice: Dice, source: Phrases, sessions: int, queries: int) -> None:
        self.dice = dice
        self.source = source
        self.sessions = sessions
        self.speakers = dice.deal(source.speakers, _BOTH)
        self.others = [
            f"{dice.pick(source.relations)} {name}" for name in dice.deal(source.others, 6)
        ]
        self.plants: list[Plant] = []
        self._attributes = [(a, s) for a in source.attribute for s in range(_BOTH)]
        self._collections = [(c, s) for c in source.collection for s in range(_BOTH)]
        self._deeds = list(source.event.deeds)
        # Attribute questions still to come: what may not be spent on distractors.
        self._due = sum(n % 6 in {0, 1, 2, 5} for n in range(queries))
        make = (
            self._single,
            self._paraphrase,
            self._update,
            self._collected,
            self._temporal,
            self._unanswerable,
        )
        self.questions = [make[n % 6]() for n in range(queries)]

    def _plant(self, session: int, speaker: int, templates: Sequence[str], **slots: str) -> int:
        """Note a sentence; returns its place in `plants`."""
        text = self.dice.pick(templates).format_map(slots)
        self.plants.append(Plant(session, speaker, text))
        return len(self.plants) - 1

    def _anywhere(self) -> int:
        return self.dice.below(self.sessions)

    def _apart(self, n: int) -> list[int]:
        """`n` different sessions in order of time."""
        return sorted(self.dice.deal(range(self.sessions), n))

    def _attribute(self) -> tuple[Attribute, int]:
        self._due -= 1
        return self.dice.draw(self._attributes)

    def _question(
        self, speaker: int, category: str, templates: Sequence[str], answer: str, *gold: int
    ) -> Question:
        text = self.dice.pick(templates).format_map({"w": self.speakers[speaker]})
        return Question(category, text, answer, gold)

    def _single(self) -> Question:
        attribute, speaker = self._attribute()
        value = self.dice.pick(attribute.values)
        gold = self._plant(self._anywhere(), speaker, attribute.say, v=value)
        self._distract(attribute, speaker, value)
        return self._question(speaker, "single-session", attribute.ask, value, gold)

    def _paraphrase(self) -> Question:
        """Fact and question share no content word: one of the two is put in other words."""
        attribute, speaker = self._attribute()
        value = self.dice.pick(attribute.values)
        hinted = self.dice.below(2) == 0
        said, asked = (
            (attribute.hint, attribute.ask) if hinted else (attribute.say, attribute.vague)
        )
        gold = self._plant(self._anywhere(), speaker, said, v=value)
        self._distract(attribute, speaker, value)
        return self._question(speaker, "paraphrase", asked, value, gold)

    def _update(self) -> Question:
        """The newest value is gold; the one before is the hardest distractor."""
        attribute, speaker = self._attribute()
        before, value = self.dice.deal(attribute.values, 2)
        first, second = self._apart(2)
        self._plant(first, speaker, attribute.say, v=before)
        gold = self._plant(second, speaker, attribute.update, v=value)
        self._distract(attribute, speaker, value)
        return self._question(speaker, "knowledge-update", attribute.now, value, gold)

    def _unanswerable(self) -> Question:
        """Asked of a person who never said it, while others did."""
        attribute, speaker = self._attribute()
        value = self.dice.pick(attribute.values)
        self._other(attribute, value)
        self._distract(attribute, speaker, value)
        text = self.dice.pick(attribute.ask).format_map({"w": self.speakers[speaker]})
        return Question("unanswerable", text, None, ())

    def _distract(self, attribute: Attribute, speaker: int, value: str) -> None:
        """The same value in another context, and other values of the same attribute."""
        if self.dice.below(2) == 0:
            self._plant(self._anywhere(), self.dice.below(_BOTH), attribute.echo, v=value)
        if self.dice.below(3) > 0:
            self._other(attribute, value)
        partner = (attribute, 1 - speaker)
        spare = partner in self._attributes and len(self._attributes) > self._due
        if spare and self.dice.below(3) == 0:
            self._attributes.remove(partner)  # said now, so it must not be asked of later
            wrong = self.dice.pick([v for v in attribute.values if v != value])
            self._plant(self._anywhere(), 1 - speaker, attribute.say, v=wrong)

    def _other(self, kind: Attribute | Collection, *values: str) -> None:
        """A third person with a value that is none of `values`."""
        other = self.dice.pick(self.others)
        wrong = self.dice.pick([v for v in kind.values if v not in values])
        self._plant(
            self._anywhere(),
            self.dice.below(_BOTH),
            kind.other,
            v=wrong,
            o=other,
            O=other[0].upper() + other[1:],
        )

    def _collected(self) -> Question:
        """Two or three facts in as many sessions, all of them gold."""
        collection, speaker = self.dice.draw(self._collections)
        values = self.dice.deal(collection.values, 2 + self.dice.below(2))
        gold = [
            self._plant(session, speaker, collection.say, v=value)
            for session, value in zip(self._apart(len(values)), values, strict=True)
        ]
        self._other(collection, *values)
        answer = ", ".join(values)
        return self._question(speaker, "multi-session", collection.ask, answer, *gold)

    def _temporal(self) -> Question:
        """A date that only the session's time tells, or which of two deeds came first."""
        events, speaker = self.source.event, self.dice.below(_BOTH)
        base, past = self.dice.draw(self._deeds)
        name = self.speakers[speaker]
        if self.dice.below(3) > 0:
            gold = self._plant(self._anywhere(), speaker, events.say, past=past)
            other = self.dice.pick(self.others)
            big = other[0].upper() + other[1:]
            if self.dice.below(2) == 0:
                said_by = self.dice.below(_BOTH)
                self._plant(self._anywhere(), said_by, events.other, past=past, o=other, O=big)
            text = self.dice.pick(events.when).format_map({"w": name, "base": base})
            return Question("temporal", text, None, (gold,))
        later, later_past = self.dice.draw(self._deeds)
        first, second = self._apart(2)
        golds = (
            self._plant(first, speaker, events.say, past=past),
            self._plant(second, speaker, events.say, past=later_past),
        )
        one, two = self.dice.deal((base, later), 2)  # so that the order gives nothing away
        text = self.dice.pick(events.first).format_map({"w": name, "base": one, "base2": two})
        return Question("temporal", text, base, golds)
