"""Remembers that a person stopped the program, whatever other code makes of it.

`KeyboardInterrupt` may be raised anywhere, also while a package is being imported. Some packages
then go on half imported and fail with an error of their own.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

__all__ = ["Interrupts", "noted_interrupts"]

Interrupts: TypeAlias = list[int]
"""Signals that came; empty where none did."""


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Inside, an interrupt is noted and raised as ever.

    Nothing is changed where interrupts are ignored or handled by somebody else, or in a thread,
    to which none come.
    """
    came: Interrupts = []

    def note(number: int, frame: Any) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield came
        return
    try:
        signal.signal(signal.SIGINT, note)
    except ValueError:
        yield came
        return
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
