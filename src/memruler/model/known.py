"""A memory system as a list of names shows it."""

from typing import Literal

import msgspec

__all__ = ["KnownSystem"]


class KnownSystem(msgspec.Struct, frozen=True, kw_only=True):
    """One name that `--system` takes.

    Attributes:
        name: It.
        kind: Where it comes from.
        about: One line of a recipe's own comment; empty for others.
        broken: Why it cannot be used; None where nothing is known against it.
    """

    name: str
    kind: Literal["built in", "plug-in", "recipe"]
    about: str = ""
    broken: str | None = None
