"""Progress on stderr: what, how many of how many, rate and time left.

A terminal gets lines that move. Where stderr is no terminal, or `CI` is set, nothing moves: a
plain line is printed now and then, and one at the end of what took long enough to have had any.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # a verb's --help needs no numpy
    from memruler.replay.instance import Tick

__all__ = ["Pace", "duration", "moves", "progress", "working"]

_EVERY_SECONDS = 10
_MINUTE = 60
_HOUR = 3600
_NO = {"", "0", "false", "no"}


def moves() -> bool:
    """Whether stderr may be drawn on: a terminal that is not dumb, and no CI."""
    return (
        sys.stderr.isatty()
        and os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}
        and os.environ.get("CI", "").lower() in _NO
    )


def duration(seconds: float) -> str:
    """Seconds for people: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02} min"


class Pace:
    """Plain lines on stderr, at most one every ten seconds.

    Args:
        unit: What is counted.
        total: How many there will be; None when not known.
        shown: How a number of them is written.
        clock: Seconds, for tests.
    """

    def __init__(
        self,
        unit: str,
        total: int | None = None,
        *,
        shown: Callable[[float], str] = "{:.3g}".format,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._unit, self._total, self._shown, self._clock = unit, total, shown, clock
        self._started = self._said = clock()
        self._before: int | None = None
        self._done = 0
        self._lines = 0

    def at(self, done: int, total: int | None = None) -> None:
        """Note how many are done.

        What was done before the first call was done by an earlier process, or at no cost: it does
        not count for the rate.

        Args:
            done: So far.
            total: How many there will be, once that is known.
        """
        if self._before is None:
            self._before = max(done - 1, 0)
        self._done, self._total = done, total or self._total

    def tell(self, note: str = "") -> None:
        """Print a line if it is time for one.

        Args:
            note: Put behind it: what is going on.
        """
        if self._clock() - self._said >= _EVERY_SECONDS:
            self._said = self._clock()
            self._lines += 1
            click.echo(self.line() + (f"; {note}" if note else ""), err=True)

    def line(self) -> str:
        """How far it is: `12 of 40 instances in 20 s, 0.6 a second, 47 s left`."""
        whole = "" if self._total is None else f" of {self._count(self._total)}"
        unit = f" {self._unit}" if self._unit else ""
        return f"{self._count(self._done)}{whole}{unit} in {duration(self._passed())}{self.rate()}"

    def rate(self) -> str:
        """Rate and time left, each after a comma; empty while there is none."""
        here, passed = self._done - (self._before or 0), self._passed()
        if here <= 0 or passed <= 0:
            return ""
        told = f", {self._shown(here / passed)} a second"
        if self._total is None or self._done >= self._total:
            return told
        return f"{told}, {duration((self._total - self._done) * passed / here)} left"

    def end(self) -> None:
        """Say the last state, if there was any line before it."""
        if self._lines:
            click.echo(self.line(), err=True)

    def _passed(self) -> float:
        return self._clock() - self._started

    def _count(self, number: int) -> str:
        return self._shown(number) if not self._unit else str(number)


@contextmanager
def progress(total: int | None, unit: str = "instances") -> "Iterator[Tick]":
    """Show how far a run is; the phase `instance` counts, others are shown as steps of it.

    Args:
        total: Instances to be done, None when not known; a tick may tell it.
        unit: What they are called; they are told as the phase `instance` whatever they are.
    """
    if moves():
        from memruler.cli.progress_bar import bar  # noqa: PLC0415 - a verb's --help needs no rich

        with bar(total, unit) as tick:
            yield tick
        return
    pace = Pace(unit, total)

    def plain(phase: str, done: int, of: int) -> None:
        if phase == "instance":
            pace.at(done, of)
            pace.tell()
        else:
            pace.tell(f"{phase} {done}" + (f" of {of}" if of else ""))

    yield plain
    pace.end()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal that something goes on whose length nobody can tell, and for how long.

    Elsewhere nothing is said: it ends with its result.

    Args:
        what: What is done: `scoring`.
    """
    if not moves():
        yield
        return
    from memruler.cli.progress_bar import spinner  # noqa: PLC0415 - as above

    with spinner(what):
        yield
