"""The names of memory systems on a terminal."""

from collections.abc import Sequence

import click

from memruler.errors import printable
from memruler.model.known import KnownSystem

__all__ = ["print_systems"]

_WIDTH = 78


def print_systems(found: Sequence[KnownSystem]) -> None:
    """One line a name, under the kind that it is of."""
    kinds = dict.fromkeys(one.kind for one in found)
    for kind in kinds:
        click.echo(f"{kind}:")
        for one in found:
            if one.kind == kind:
                said = one.broken or one.about
                line = f"  {printable(one.name)}" + (f"  {printable(said)}" if said else "")
                click.echo(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…")
    click.echo("of your own: path/to/file.py:Class, or path/to/memory.toml")
