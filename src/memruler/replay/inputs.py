"""What a system under test is shown: text and opaque keys, never a label.

Ids, gold markers and annotations of a data set stop here. A key is the ordinal of a session in
the order of ingest and of a turn in its session, so that it tells nothing about the evidence.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple, get_args

import msgspec

from memruler.model.corpus import Derived, Instance, Session, Turn, TurnRef
from memruler.model.system import SessionInput, TurnInput
from memruler.replay.forms import TURNS_ONLY, Forms, given
from memruler.replay.timeline import InstanceClock

__all__ = [
    "GRANULARITIES",
    "Granularity",
    "InstanceInputs",
    "Origin",
    "TextForm",
    "instance_inputs",
    "sessions_in_order",
]

Granularity = Literal["turn", "session"]
GRANULARITIES: tuple[str, ...] = get_args(Granularity)


class TextForm(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn becomes the text that is stored; part of a run's identity.

    Attributes:
        speaker: Prefix `Speaker: `.
        date: Prefix the date on the run's timeline, `[2023-05-08] `.
        captions: Append the data set's caption of a shared image, ` [image: ...]`.
    """

    speaker: bool = True
    date: bool = False
    captions: bool = False

    def turn(self, turn: Turn) -> str:
        """The text of one turn, without a date; a blank turn stays blank, whoever spoke it."""
        if not turn.text.strip() and not (self.captions and turn.caption):
            return turn.text
        text = f"{turn.speaker}: {turn.text}" if self.speaker else turn.text
        return f"{text} [image: {turn.caption}]" if self.captions and turn.caption else text

    def prefix(self, time: datetime | None) -> str:
        """The date prefix; empty when it is off or the time is not known."""
        return f"[{time:%Y-%m-%d}] " if self.date and time is not None else ""


class Origin(NamedTuple):
    """What the key of a derived memory stands for.

    Attributes:
        kind: Its kind.
        sources: Positions that it came from, as in `InstanceInputs`; empty when not known.
    """

    kind: str
    sources: tuple[TurnRef, ...]


class InstanceInputs(msgspec.Struct, frozen=True):
    """An instance in the form a system sees, and the way back from its keys.

    Attributes:
        sessions: In order of time, empty ones left out.
        positions: Key to the source's position: a turn, or `(session, -1)` for a whole session.
        derived: The same for keys of derived memories.
    """

    sessions: tuple[SessionInput, ...]
    positions: dict[str, TurnRef]
    derived: dict[str, Origin] = {}


def sessions_in_order(instance: Instance) -> list[Session]:
    """The sessions that have turns, oldest first, as production would have heard them.

    File order decides among equal times, and an undated session stays behind the one before it.
    """
    last = datetime.min  # noqa: DTZ901 - naive on purpose, sorts before every date
    keyed: list[tuple[datetime, int, Session]] = []
    for session in instance.sessions:
        last = session.time or last
        if session.turns:
            keyed.append((last, session.position, session))
    return [session for _, _, session in sorted(keyed, key=lambda entry: entry[:2])]


def _own_units(
    session: Session, key: str, time: datetime | None, form: TextForm, granularity: Granularity
) -> Iterator[tuple[TurnInput, TurnRef]]:
    """What was said: its turns, or the session as one unit."""
    prefix = form.prefix(time)
    if granularity == "session":
        text = prefix + "\n".join(form.turn(turn) for turn in session.turns)
        tags = tuple(sorted({tag for turn in session.turns for tag in turn.tags}))
        unit = TurnInput(key=key, text=text, speaker="", time=time, tags=tags)
        yield unit, TurnRef(session.position, -1)
        return
    for turn in session.turns:
        text = form.turn(turn)
        unit = TurnInput(
            key=f"{key}.t{turn.position:04d}",
            text=prefix + text if text.strip() else text,
            speaker=turn.speaker,
            time=time,
            tags=turn.tags,
            importance=turn.importance,
        )
        yield unit, TurnRef(session.position, turn.position)


def _derived_unit(derived: Derived, key: str, time: datetime | None, form: TextForm) -> TurnInput:
    """A derived memory says itself whom it is about: no speaker is put before it."""
    prefix = form.prefix(time) if derived.text.strip() else ""
    return TurnInput(key=key, text=prefix + derived.text, speaker=derived.speaker, time=time)


def _origin(derived: Derived, session: int) -> Origin:
    if derived.turns is None:
        return Origin(derived.kind, ())
    # No turn stands for the whole session, whose place is -1.
    return Origin(derived.kind, tuple(TurnRef(session, turn) for turn in derived.turns or (-1,)))


def instance_inputs(
    instance: Instance,
    clock: InstanceClock,
    form: TextForm,
    granularity: Granularity,
    forms: Forms = TURNS_ONLY,
) -> InstanceInputs:
    """Strip an instance of everything a system must not see.

    Args:
        instance: The haystack.
        clock: Its place on the run's timeline.
        form: How a turn becomes a text.
        granularity: What is one unit.
        forms: What is given. Derived memories stand behind the turns of their session; a session
            of which nothing is given is left out.
    """
    inputs: list[SessionInput] = []
    positions: dict[str, TurnRef] = {}
    origins: dict[str, Origin] = {}
    for ordinal, session in enumerate(sessions_in_order(instance)):
        key = f"s{ordinal:04d}"
        time = clock.item_time(session)
        units: list[TurnInput] = []
        if "turns" in forms:
            for unit, ref in _own_units(session, key, time, form, granularity):
                units.append(unit)
                positions[unit.key] = ref
        for place, derived in given(session, forms):
            units.append(_derived_unit(derived, f"{key}.d{place:04d}", time, form))
            origins[units[-1].key] = _origin(derived, session.position)
        if units:
            inputs.append(SessionInput(key=key, turns=tuple(units), time=time))
            positions.setdefault(key, TurnRef(session.position, -1))
    return InstanceInputs(tuple(inputs), positions, origins)
