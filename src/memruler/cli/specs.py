"""What the verbs that read a SPEC.toml share: how its faults are told, and progress over cells."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # they reach numpy, and --help must not wait for that
    from memruler.replay.instance import Tick
    from memruler.studies.spec_base import SpecFaults

__all__ = ["cell_progress", "faulty"]


def faulty(wrong: "SpecFaults") -> click.exceptions.Exit:
    """Tell every fault of a spec on stderr, a line each; what to leave with."""
    # Late: --help needs no errors.
    from memruler.errors import printable  # noqa: PLC0415

    number = f"{len(wrong.faults)} fault{'s' * (len(wrong.faults) != 1)}"
    click.echo(f"memruler: {printable(wrong.where)}: {number}; {wrong.hint}", err=True)
    for fault in wrong.faults:
        click.echo(f"  {printable(fault)}", err=True)
    return click.exceptions.Exit(wrong.exit_code)


@contextmanager
def cell_progress() -> Iterator["Tick"]:
    """A line on stderr that says which cell is at what; silent where stderr is no terminal."""
    shown = sys.stderr.isatty()
    cell = ""

    def tick(phase: str, done: int, of: int) -> None:
        nonlocal cell
        if phase.startswith("cell "):
            cell = f"{phase} ({done + 1} of {of})"
        if shown:
            now = "" if phase.startswith("cell ") else f": {phase} {done}" + (f"/{of}" * bool(of))
            click.echo(f"\r\x1b[K{cell}{now}", nl=False, err=True)

    try:
        yield tick
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)
