"""Drives two runs in turns: both write an instance, then each question is put to one and the other.

A slow minute of the machine then falls upon both alike. Who goes first changes from question to
question, so that neither side gains by what the other one left warm.
"""

from collections.abc import Callable

import msgspec

from memruler.errors import Interrupted, MemrulerError, SystemUnderTestError
from memruler.model.run import Manifest
from memruler.replay.steps import Pause, Steps

__all__ = ["RULE", "a_is_first", "in_turns"]

RULE = "A goes first where the positions of instance and question add up to an even number"
"""Who is asked first, in words."""


class _Driven(msgspec.Struct):
    """A run that is driven.

    Attributes:
        steps: It.
        at: Where it stands; None once it is over.
        error: What its memory failed with, if it did.
    """

    steps: Steps[Manifest]
    at: Pause | None = None
    error: SystemUnderTestError | None = None


def a_is_first(instance: int, question: int) -> bool:
    """Whether A goes first; `question` is -1 for the writing of an instance."""
    return (instance + question) % 2 == 0


def in_turns(
    a: Steps[Manifest], b: Steps[Manifest], together: Callable[[int], None]
) -> tuple[SystemUnderTestError | None, SystemUnderTestError | None]:
    """Drive two runs over one corpus to their ends.

    A run that is behind goes on by itself until it has caught up: one was interrupted earlier.
    Where the memory of one fails, the other goes on by itself.

    Args:
        a: A run that was not begun.
        b: The other.
        together: Told the position of each instance that both went through in turns, once it
            counts in both.

    Returns:
        What the memory of each side failed with.

    Raises:
        Interrupted: A person stopped one; the other is stopped too, and both can be resumed.
        MemrulerError: The ruler's own part broke in one; likewise.
    """
    first, second = sides = (_Driven(a), _Driven(b))
    try:
        for side in sides:
            _go_on(side)
        while standing := [side.at for side in sides if side.at is not None]:
            at = min(standing)
            due = [side for side in sides if side.at == at]
            if len(due) == len(sides) and not a_is_first(at.instance, at.step - 1):
                due.reverse()
            for side in due:
                _go_on(side)
            if at.last and len(due) == len(sides) and not (first.error or second.error):
                together(at.instance)
    except BaseException:
        for side in sides:
            _stop(side)
        raise
    return first.error, second.error


def _go_on(side: _Driven) -> None:
    try:
        side.at = next(side.steps)
    except StopIteration:
        side.at = None
    except SystemUnderTestError as failure:
        side.at, side.error = None, failure


def _stop(side: _Driven) -> None:
    """Have a run put away what it holds; what is finished of it stays."""
    try:
        side.steps.throw(KeyboardInterrupt())
    except (KeyboardInterrupt, Interrupted, MemrulerError):
        return
