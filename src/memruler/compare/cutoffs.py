"""Reads the cut-offs that a person asks to compare at."""

from typing import Literal

from memruler.metrics.names import parse_cutoffs

__all__ = ["read_cutoffs"]


def read_cutoffs(text: str | None) -> tuple[int, ...] | Literal["common"] | None:
    """`1,3,5` as numbers, `common` as itself, nothing as None.

    Raises:
        UsageError: A part is neither.
    """
    if text is None:
        return None
    return "common" if text == "common" else parse_cutoffs(text)
