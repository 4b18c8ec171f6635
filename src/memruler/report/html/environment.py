"""The templates of HTML pages: everything that they print is escaped unless it is markup."""

import json
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memruler.report import numbers

__all__ = ["render"]


def render(name: str, **values: Any) -> Markup:
    """A template of `templates/html`, filled in.

    Args:
        name: File name of the template.
        values: What it shows; text is escaped, `Markup` stands as it is.

    Raises:
        jinja2.UndefinedError: The template asks for a value that was not given.
    """
    return Markup(_environment().get_template(name).render(**values))  # noqa: S704 - autoescaped


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("memruler.report", "templates/html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"mean": numbers.mean, "delta": numbers.delta, "json": _json}
    made.globals |= {"numbers": numbers}
    return made


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
