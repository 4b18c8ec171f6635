"""From a session to the forms that are stored: the session is all that is looked at."""

from memruler.model.system import SessionInput
from memruler.systems.builtin.forms import Form, as_given
from memruler.systems.derived.items import facts, statements, summary
from memruler.systems.derived.reading import Reading, read
from memruler.systems.derived.settings import Stored
from memruler.systems.derived.speech import LONGEST_UNIT

__all__ = ["Parser"]


class Parser:
    """Makes the forms of one session after another; none is shown to the next.

    Args:
        stored: Which forms are made.

    Attributes:
        cut: Units so far of which only the first `LONGEST_UNIT` characters were read.
    """

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.cut = 0

    def __call__(self, session: SessionInput) -> list[Form]:
        """The forms of a session.

        Each unit verbatim and its facts behind it, unit by unit; then the dated statements, then
        the summary. Each has the keys of exactly the units whose words it holds as its sources.
        """
        made: list[Form] = []
        readings = read(session)
        for reading, raw in zip(readings, as_given(session), strict=True):
            self.cut += len(raw.text) > LONGEST_UNIT
            if self._stored.raw:
                made.append(raw)
            made += _of_unit("fact", reading, facts(reading, self._stored.facts))
        if self._stored.timeline:
            for reading in readings:
                made += _of_unit("timeline", reading, statements(reading))
        if self._stored.summaries:
            made += _summary(session, readings)
        return made


def _of_unit(kind: str, reading: Reading, texts: list[str]) -> list[Form]:
    turn = reading.turn
    return [Form(kind, (turn.key,), text, turn.time, turn.importance, turn.tags) for text in texts]


def _summary(session: SessionInput, readings: list[Reading]) -> list[Form]:
    found = summary(readings)
    if found is None:
        return []
    text, places = found
    turns = [readings[place].turn for place in places]
    tags = tuple(sorted({tag for turn in turns for tag in turn.tags}))
    # No importance: that of a turn is not that of what several turns come to.
    return [Form("summary", tuple(t.key for t in turns), text, session.time, None, tags)]
