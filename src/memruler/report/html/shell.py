"""The document around every page: head, policy, landmarks, and what it may execute."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

import msgspec
from markupsafe import Markup

from memruler.report.figures.render import CSS
from memruler.report.html.environment import render

__all__ = ["ASSETS", "Linked", "asset", "shell"]

ASSETS = ("page.css", "page.js", "explorer.css", "explorer.js")
"""Every style and script that a page may use, by its file name."""


# Controls, marks that turn or hide text, and halves of surrogate pairs. What joins letters and
# emoji stays.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb]"
)


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """Styles and scripts that a page loads from its own server instead of holding them.

    Attributes:
        base: Address of the folder that `ASSETS` are served from, such as `/assets`.
        styles: File names of the styles, in order.
        scripts: File names of the scripts, in order.
    """

    base: str
    styles: tuple[str, ...] = ("page.css", "explorer.css")
    scripts: tuple[str, ...] = ("page.js", "explorer.js")


@cache
def asset(name: str) -> str:
    """The text of a style or script.

    Args:
        name: One of `ASSETS`.

    Raises:
        KeyError: It is none of them.
    """
    if name not in ASSETS:
        raise KeyError(name)
    text = (files("memruler.report") / "templates" / "html" / name).read_text("utf-8")
    return f"{text}\n{CSS}" if name == "page.css" else text


def shell(
    title: str,
    body: Markup,
    *,
    nav: Markup | None = None,
    data: Markup | None = None,
    linked: Linked | None = None,
    explorer: bool = False,
) -> str:
    """A whole document.

    Args:
        title: Plain text; it may be hostile.
        body: The content of `<main>`, escaped: an `<h1>` first, then sections.
        nav: Links above it, escaped; None for none.
        data: Inert blocks (`<script type="application/json">`) that scripts read, escaped.
        linked: Where styles and scripts are served; None to hold them in the document, each
            allowed by its digest.
        explorer: Whether a page that holds its parts also holds the explorer's.

    Returns:
        The text of the document, with its content security policy.
    """
    styles = ("page.css", *(("explorer.css",) if explorer else ()))
    scripts = ("page.js", *(("explorer.js",) if explorer else ()))
    own_styles = () if linked else tuple(asset(name) for name in styles)
    own_scripts = () if linked else tuple(asset(name) for name in scripts)
    return str(
        render(
            "shell.html.j2",
            title=_seen(Markup.escape(title)),
            body=_seen(body),
            nav=nav,
            data=None if data is None else _seen(data),
            linked=linked,
            styles=[Markup(text) for text in own_styles],  # noqa: S704 - files of this package
            scripts=[Markup(text) for text in own_scripts],  # noqa: S704 - files of this package
            policy=_policy(own_styles, own_scripts, linked),
        )
    )


def _seen(text: Markup) -> Markup:
    """The same with what would not be seen spelled out: in JSON, too, it means the same."""
    return Markup(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))  # noqa: S704 - escaped


def _policy(styles: tuple[str, ...], scripts: tuple[str, ...], linked: Linked | None) -> str:
    """What the document may load: its own parts, and nothing else."""
    parts = {
        "default-src": "'none'",
        "script-src": "'self'" if linked else _digests(scripts),
        "style-src": "'self'" if linked else _digests(styles),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if linked:
        parts["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def _digests(texts: tuple[str, ...]) -> str:
    return " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in texts
    )
