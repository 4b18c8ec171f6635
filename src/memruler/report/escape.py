"""Makes hostile text harmless in Markdown: it is shown as it is and changes nothing."""

import re
from typing import Any

from markupsafe import Markup

from memruler.errors import printable

__all__ = ["code", "md"]

_LONGEST = 2000

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# `$` and `://` mean something on GitHub only: formulas and bare addresses.
_ACTIVE = re.compile(r"[\\`*_\[\]{}|~$#!&<>]|:(?=//)")
# These act at the start of a line; a value may stand there.
_LEADING = re.compile(r"\A(\s*)([-+=](?=[-+=\s]|\Z)|[0-9]+(?=[.)](?:\s|\Z)))")
_WWW = re.compile(r"(?i)\b(www)\.")


def md(text: Any) -> Markup:
    """Escape text for Markdown, tables included; it stays on one line.

    Control and bidirectional characters become visible escapes first, so what is left of an
    ANSI sequence is plain text.
    """
    safe = _ACTIVE.sub(_escaped, printable(text, _LONGEST))
    safe = _WWW.sub(r"\1\\.", safe)
    return Markup(_LEADING.sub(_leading, safe))  # noqa: S704 - escaping is what this does


def code(text: Any) -> Markup:
    """Write text as a code span, for names and digests; fenced so that it cannot end early."""
    plain = printable(text, _LONGEST)
    if not plain or "|" in plain or plain.isspace():
        # A table splits at `|` even inside a code span, and an empty span is none.
        return md(plain)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return Markup(f"{fence}{pad}{plain}{pad}{fence}")  # noqa: S704 - fenced just now


def _escaped(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[0], "\\" + match[0])


def _leading(match: re.Match[str]) -> str:
    space, sign = match.groups()
    return f"{space}&#{ord(sign[0])};{sign[1:]}"
