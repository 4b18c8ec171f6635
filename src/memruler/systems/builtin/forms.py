"""What a session becomes before it is stored: texts, each with its kind and its sources."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from memruler.model.system import SessionInput

__all__ = ["Form", "Forms", "as_given"]


class Form(NamedTuple):
    """A text that is offered to the memory.

    Attributes:
        kind: `turn`, `session`, `fact`, ...
        sources: Keys of the units that it was made from, at least one.
        text: What is stored and searched.
        time: When, on the run's timeline; None when unknown.
        importance: 0 to 1; None when unknown.
        tags: As a production caller would have set them.
    """

    kind: str
    sources: tuple[str, ...]
    text: str
    time: datetime | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()


Forms = Callable[[SessionInput], list[Form]]
"""Makes the forms of one session, in the order in which they are offered."""


def as_given(session: SessionInput) -> list[Form]:
    """Every unit of a session verbatim."""
    return [
        Form(
            "session" if turn.key == session.key else "turn",
            (turn.key,),
            turn.text,
            turn.time,
            turn.importance,
            turn.tags,
        )
        for turn in session.turns
    ]
