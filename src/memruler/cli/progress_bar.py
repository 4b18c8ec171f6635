"""The lines that move on a terminal; imported only where there is one."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from memruler.errors import printable
from memruler.replay.instance import Tick

__all__ = ["bar", "spinner"]

_LONGEST = 24


class _Rate(ProgressColumn):
    """So many a second, once that is known."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if not speed else f"{speed:.3g}/s", style="progress.data.speed")


@contextmanager
def bar(total: int | None, unit: str) -> Iterator[Tick]:
    """Two lines: how many instances of all, and the step that the present one is at.

    Args:
        total: Instances to be done, None when not known; a tick may tell it.
        unit: What they are called.
    """
    columns = (
        TextColumn("{task.description:<12}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        overall = drawn.add_task(unit, total=total)
        step = drawn.add_task("starting", total=None)

        def tick(phase: str, done: int, of: int) -> None:
            if phase == "instance":
                drawn.update(overall, completed=done, total=of or total)
            else:
                name = printable(phase, _LONGEST)
                drawn.update(step, description=name, completed=done, total=of or None)

        yield tick


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """One line: what goes on, and for how long.

    Args:
        what: What is done.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        drawn.add_task(printable(what), total=None)
        yield
