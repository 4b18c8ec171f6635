"""A replay as steps: it pauses wherever another run may take its turn.

An ordinary run goes from pause to pause without stopping. Two runs that are held against each
other are driven in turns, so that whatever the machine does meanwhile hits both alike. No pause
lies between a start and an end that a clock is read at.
"""

from collections.abc import Generator
from typing import NamedTuple, TypeVar

__all__ = ["AFTER", "Pause", "Steps", "to_end"]

AFTER = 2**63
"""In place of an instance's position: all of them are finished."""


class Pause(NamedTuple):
    """Where a replay stands. A run that began with another pause is behind if its pause is less.

    Attributes:
        instance: Position of the instance, or `AFTER`.
        step: 0 before anything is written, then the number of the query that is searched next,
            from 1; one more once all were.
        last: Whether nothing but finishing the instance is left.
    """

    instance: int
    step: int
    last: bool = False


_Result = TypeVar("_Result")

Steps = Generator[Pause, None, _Result]
"""A replay that pauses, and its result."""


def to_end(steps: Steps[_Result]) -> _Result:
    """Go on without stopping, and hand back the result.

    Args:
        steps: A replay.
    """
    try:
        while True:
            next(steps)
    except StopIteration as end:
        found: _Result = end.value
        return found
    except KeyboardInterrupt as stop:
        # It may have come between two steps: what the replay holds must be put away all the same.
        steps.throw(stop)
        raise
