"""What the verbs that read a SPEC.toml share: telling its faults, its cells, and progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # they reach numpy, and --help must not wait for that
    from memruler.replay.instance import Tick
    from memruler.studies.spec_base import SpecFaults

__all__ = ["cell_progress", "faulty", "list_cells"]


def faulty(wrong: "SpecFaults") -> click.exceptions.Exit:
    """Tell every fault of a spec on stderr, a line each; what to leave with."""
    # Late: --help needs no errors.
    from memruler.errors import printable  # noqa: PLC0415

    number = f"{len(wrong.faults)} fault{'s' * (len(wrong.faults) != 1)}"
    click.echo(f"memruler: {printable(wrong.where)}: {number}; {wrong.hint}", err=True)
    for fault in wrong.faults:
        click.echo(f"  {printable(fault)}", err=True)
    return click.exceptions.Exit(wrong.exit_code)


def list_cells(folders: list[str], *, as_json: bool) -> None:
    """Print what a spec would measure, a run folder a line."""
    # Late: --help needs neither.
    from memruler.report.document import encode  # noqa: PLC0415

    if as_json:
        click.echo(encode({"cells": folders}), nl=False)
        return
    for folder in folders:
        click.echo(folder)


@contextmanager
def cell_progress() -> Iterator["Tick"]:
    """Which cell is at what, rate and time left: one line on a terminal, now and then elsewhere."""
    # Late: --help needs no errors.
    from memruler.cli.progress import Pace, moves  # noqa: PLC0415
    from memruler.errors import printable  # noqa: PLC0415

    drawn = moves()
    pace, cell, cells = Pace("cells"), "", 0

    def tick(phase: str, done: int, of: int) -> None:
        nonlocal cell, cells
        now = ""
        if phase.startswith("cell "):
            cell, cells = printable(phase), of
            pace.at(done, of)
        else:
            now = f": {printable(phase)} {done}" + (f"/{of}" * bool(of))
        if drawn:
            line = f"{cell}{now}; {pace.line()}"[: get_terminal_size().columns - 1]
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
        else:
            pace.tell(f"{cell}{now}")

    try:
        yield tick
    finally:
        if drawn:
            click.echo("\r\x1b[K", nl=False, err=True)
    pace.at(cells, cells)
    pace.end()
