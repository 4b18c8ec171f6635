"""The explorer as a part of a page that holds its own data."""

from typing import Any, Final

import msgspec
from markupsafe import Markup

from memruler.report.explore.explorer import LARGEST_PAGE, Explorer
from memruler.report.explore.packed import CUTS, Packed, script_safe
from memruler.report.explore.record import Filter, Overview
from memruler.report.html.environment import render

__all__ = ["LIMIT", "embedded", "served"]

LIMIT: Final = 4_000_000
"""Bytes of data in a page, unless asked otherwise."""

_FILTERS: Final = (
    ("category", "Category"),
    ("stage", "Evidence lost at"),
    ("changed", "Changed"),
    ("missed", "Missed"),
    ("excluded", "Without a value"),
)
"""Fields of `Filter` that are chosen from a list, with their labels."""

_MARGIN: Final = 20_000
"""Bytes for what is not counted row by row."""


def embedded(explorer: Explorer, limit: int = LIMIT) -> Markup:
    """The explorer with its data in the page: it needs no server, and no network.

    Where not everything fits, texts are cut shorter first, then queries are left out: those that
    changed stay longest, then those that were missed. The page says so.

    Args:
        explorer: Of one run or two.
        limit: Most bytes of data, at least what the overview needs.

    Returns:
        A part of a page, which `explorer.css` and `explorer.js` bring to life.
    """
    overview = explorer.overview()
    packed = _filled(explorer, overview, limit - _MARGIN)
    place = next((at for at in range(len(CUTS)) if packed.size(at) <= limit - _MARGIN), -1)
    order = sorted(range(len(packed.rows)), key=lambda at: msgspec.json.decode(packed.rows[at])[0])
    parts = [
        ("overview", script_safe(msgspec.json.encode(overview))),
        ("cut", str(CUTS[place]).encode()),
        *packed.parts(place),
        ("rows", b"[" + b",".join(packed.rows[at] for at in order) + b"]"),
    ]
    data = b"{" + b",".join(b'"%s":%s' % (name.encode(), of) for name, of in parts) + b"}"
    # JSON without `<` cannot leave its block, which no browser executes.
    return _part(source="embedded", url="", query="", data=Markup(data.decode()))  # noqa: S704


def served(url: str, query: str = "") -> Markup:
    """The explorer without data: it asks a server for them, see `memruler.report.explore.calls`.

    Args:
        url: Address of the folder of the three calls, on the server of the page.
        query: What each call's query begins with, such as `run=a&run=b`.
    """
    return _part(source="http", url=url, query=query, data=None)


def _part(**values: Any) -> Markup:
    return render("explorer.html.j2", filters=_FILTERS, **values)


def _filled(explorer: Explorer, overview: Overview, limit: int) -> Packed:
    """As many rows as fit, the most telling first."""
    packed = Packed()
    done: set[int] = set()
    first = Filter(changed="any")
    for wanted in ([first] if overview.changed is not None else []) + [
        Filter(missed=True),
        Filter(),
    ]:
        for offset in range(0, overview.rows, LARGEST_PAGE):
            found = explorer.find(wanted, offset, LARGEST_PAGE).rows
            for row in found:
                if row.row in done:
                    continue
                packed.add(row, explorer.detail(row.row))
                done.add(row.row)
                if packed.size() > limit:
                    return packed
            if len(found) < LARGEST_PAGE:
                break
    return packed
