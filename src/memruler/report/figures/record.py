"""What a figure is, and what stands in its place where there is none."""

import msgspec
from markupsafe import Markup

__all__ = ["Figure", "Missing"]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, ready to stand in a page.

    Attributes:
        id: Plain and the same in every page, such as `recall-curve`.
        title: What it is of, a few words.
        caption: What it shows: population, denominators, and what a reader must not take from it.
        svg: `<div class="figure-panels">` around one `<svg>` a panel. Nothing in it is active, it
            holds no ids and no styles, and its colours are the variables of the page.
        table: The same numbers as text, the row of heads first; not escaped.
    """

    id: str
    title: str
    caption: str
    svg: Markup
    table: list[list[str]]


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a reader would look for a figure that cannot be drawn.

    Attributes:
        id, title: As in `Figure`.
        reason: Why there is none, one sentence.
    """

    id: str
    title: str
    reason: str
