"""A progress line on stderr: what, how many of how many, rate and time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import click

from memruler.replay.instance import Tick

__all__ = ["progress"]

_EVERY_SECONDS = 10


@contextmanager
def progress(total: int | None, unit: str = "instances") -> Iterator[Tick]:
    """Show a line while a run goes; where stderr is no terminal, a plain line now and then.

    Args:
        total: Instances to be done, None when not known.
        unit: What they are called; they are told as the phase `instance` whatever they are.
    """
    # Late: a verb's --help needs no rich.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    said = started = monotonic()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        overall = bar.add_task(unit, total=total)
        step = bar.add_task("starting", total=None)

        def tick(phase: str, done: int, of: int) -> None:
            nonlocal said
            if phase == "instance":
                bar.update(overall, completed=done)
                if not console.is_terminal and monotonic() - said >= _EVERY_SECONDS:
                    said = monotonic()
                    of_all = "" if total is None else f" of {total}"
                    click.echo(f"{done}{of_all} {unit} in {said - started:.0f} s", err=True)
            else:
                bar.update(step, description=phase, completed=done, total=of)

        yield tick
