"""Types of parameters that more than one verb has."""

import errno
import os
from math import isfinite, nan
from pathlib import Path
from typing import Any

import click

from memruler.errors import UsageError

__all__ = ["COUNT", "FILE", "PATH", "POINTS", "NamedPath"]

COUNT = click.IntRange(1, 1_000_000_000)
"""How many of something: what every room and every database can count to."""


class NamedPath(click.Path):
    """A path that can name something; whether it does is for the rooms to say.

    An empty one is refused: a script's unset variable must not mean the folder it runs in. One
    that is too long is refused before anything of it is made.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what can name nothing; the rest is a path."""
        if value == "":
            self.fail("must not be empty", param, ctx)
        try:
            os.lstat(value)
        except (OSError, ValueError) as error:  # ValueError: a NUL; the rooms tell what is wrong
            if getattr(error, "errno", None) == errno.ENAMETOOLONG:
                raise UsageError(
                    "the path is too long", where=value, hint="choose a shorter one"
                ) from None
        return super().convert(value, param, ctx)


PATH = NamedPath(path_type=Path)
"""A file or folder."""

FILE = NamedPath(path_type=Path, dir_okay=False)
"""A file."""


class _Points(click.ParamType[float]):
    """`2pp`, or a plain number in the metric's own unit."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it; a percent sign is refused, since it could be meant relative."""
        text = str(value).strip().lower()
        number, points, rest = text.partition("pp")
        try:
            found = float(number)
        except ValueError:
            found = nan
        if not isfinite(found) or rest:
            self.fail(f"{value!r} is no size; write 2pp, or 0.02", param, ctx)
        return found / 100 if points else found


POINTS = _Points()
"""A size of an effect: percentage points, or a plain number."""
