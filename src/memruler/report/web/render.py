"""Fills in the templates of the view, each inside the document that all pages share."""

from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memruler.errors import printable
from memruler.report.html.shell import Linked, shell

__all__ = ["OWN_ASSETS", "page", "part"]

OWN_ASSETS: Final = ("view.css", "view.js")
"""Styles and scripts of the view alone, by file name."""

_LINKED = Linked(
    base="/assets",
    styles=("page.css", "explorer.css", "view.css"),
    scripts=("page.js", "explorer.js", "view.js"),
)
_NAV = Markup('<a href="/">Runs</a> <a href="/trends">Trends</a>')


def part(name: str, **values: Any) -> Markup:
    """A template of `templates/web`, filled in.

    Args:
        name: File name of the template.
        values: What it shows; text is escaped, `Markup` stands as it is.
    """
    return Markup(_environment().get_template(name).render(**values))  # noqa: S704 - autoescaped


def page(title: str, name: str, **values: Any) -> str:
    """A whole document around a template of `templates/web`.

    Args:
        title: Plain text.
        name: File name of the template.
        values: What it shows.
    """
    body = part(name, **values)
    return shell(f"{printable(title)} · memruler", body, nav=_NAV, linked=_LINKED)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("memruler.report", "templates/web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"printable": printable, "address": urlencode}
    return made
