"""What pages are made of: sections with an anchor, tables with a caption, labelled facts."""

from collections.abc import Iterable, Sequence

import msgspec
from markupsafe import Markup

from memruler.report.html.environment import render

__all__ = ["Section", "Table", "callout", "compose", "facts_table", "table"]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a page.

    Attributes:
        id: Anchor, plain, once in a page.
        title: Of its heading and of its line in the contents; plain text.
        body: Escaped.
    """

    id: str
    title: str
    body: Markup


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table of text; the first cell of a row is its head.

    Attributes:
        caption: What it shows and over what; never empty.
        heads: A head a column.
        sides: A letter a column: `l` text, `r` a number, `w` text that may break anywhere.
        rows: Cells, not escaped unless they are markup; as many as there are heads.
        lead: Rows that stand out, by position.
    """

    caption: str
    heads: Sequence[str]
    sides: str
    rows: Sequence[Sequence[str]]
    lead: tuple[int, ...] = ()


def table(found: Table) -> Markup:
    """A table in a box that scrolls by itself, so that the page never does."""
    return render("table.html.j2", t=found, facts=None)


def facts_table(caption: str, facts: Iterable[tuple[str, str]]) -> Markup:
    """Labels and what they say, as a table of two columns."""
    return render("table.html.j2", t=None, caption=caption, facts=list(facts))


def callout(tone: str, label: str, lines: Iterable[str]) -> Markup:
    """What must not be overlooked.

    Args:
        tone: `bad`, `warn` or `plain`.
        label: A word or two; the tone is never told by colour alone.
        lines: One or more sentences; without one there is no callout.
    """
    told = list(lines)
    return render("callout.html.j2", tone=tone, label=label, lines=told) if told else Markup()


def compose(hero: Markup, sections: Sequence[Section]) -> Markup:
    """The content of a page: what it says first, its contents, and its sections."""
    return render("report.html.j2", hero=hero, sections=sections)
