"""A progress line on stderr: what, how many of how many, rate and time left."""

from collections.abc import Iterator
from contextlib import contextmanager

from memruler.replay.instance import Tick

__all__ = ["progress"]


@contextmanager
def progress(total: int | None) -> Iterator[Tick]:
    """Show a line while a run goes; silent where stderr is no terminal.

    Args:
        total: Instances to be done, None when not known.
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
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        overall = bar.add_task("instances", total=total)
        step = bar.add_task("starting", total=None)

        def tick(phase: str, done: int, of: int) -> None:
            if phase == "instance":
                bar.update(overall, completed=done)
            else:
                bar.update(step, description=phase, completed=done, total=of)

        yield tick
