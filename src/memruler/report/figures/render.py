"""Turns a Vega-Lite specification into SVG that a page can hold as it is.

Vega-Lite's own output is not trusted: it is read as XML and written anew from a short list of
elements and attributes, so nothing active can pass, whatever the data was. Colours are the page's
CSS variables and the font is the page's own, so one SVG serves light, dark and print.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as ET

from markupsafe import Markup, escape

from memruler.errors import UsageError, printable
from memruler.report.figures.record import Figure

__all__ = [
    "BAD",
    "CSS",
    "EN_SPACE",
    "GOOD",
    "INK",
    "LINE",
    "PAPER",
    "SERIES",
    "SOFT",
    "Panel",
    "draw",
    "panels",
]

INK: Final = "var(--ink)"
SOFT: Final = "var(--ink-soft)"
LINE: Final = "var(--line)"
PAPER: Final = "var(--paper)"
GOOD: Final = "var(--good)"
BAD: Final = "var(--bad)"
SERIES: Final = tuple(f"var(--series-{number})" for number in range(1, 7))
"""Colours of the page by role; a mark of a figure has one of these and no other."""

CSS: Final = """\
.figure-panels { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 1.75rem; }
.figure-panels > svg { display: block; max-width: 100%; height: auto; }
.figure-panels text { font-family: var(--sans); font-variant-numeric: tabular-nums; }
"""
"""Rules that every page with figures needs."""

Panel = tuple[str, Mapping[str, Any]]
"""What a panel shows, in words for those who do not see it, and its specification."""

EN_SPACE: Final = "\u2002"
"""A gap inside a label that is not folded, as two spaces would be."""

_SIZE = 12
_LONGEST = 400
_CAPTION = 4000
_CONFIG: Final = {
    "aria": False,
    "background": None,
    "padding": {"left": 8, "right": 10, "top": 4, "bottom": 4},
    "font": "sans-serif",
    "view": {"stroke": None},
    "text": {"color": INK, "fontSize": _SIZE},
    "title": {
        "color": INK,
        "fontSize": 13,
        "fontWeight": 600,
        "anchor": "start",
        "frame": "group",
        "offset": 10,
    },
    "axis": {
        "labelColor": SOFT,
        "labelFontSize": _SIZE,
        "titleColor": SOFT,
        "titleFontSize": _SIZE,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 5,
        "labelLimit": 200,
        "labelFlush": False,
        "grid": False,
        "gridColor": LINE,
        "domain": False,
        "ticks": False,
    },
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "labelColor": INK,
        "labelFontSize": _SIZE,
        "labelLimit": 220,
        "symbolOpacity": 1,
        "symbolSize": 60,
        "symbolStrokeWidth": 2,
        "columnPadding": 14,
        "offset": 8,
    },
}
_ELEMENTS: Final = frozenset({"svg", "g", "path", "rect", "line", "text", "tspan", "circle"})
_ATTRIBUTES: Final = frozenset(
    {
        *("width", "height", "viewBox", "transform", "opacity"),
        *("stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-opacity"),
        *("stroke-miterlimit", "fill", "fill-opacity"),
        *("text-anchor", "font-size", "font-weight", "font-style"),
        *("x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "r", "cx", "cy", "d"),
    }
)
_VALUE = re.compile(r"(?:[-+\w.,%# ()]|var\(--[a-z0-9-]+\))*")
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML can hold; the renderer does not raise at it but takes the process down."""
_NS = "{http://www.w3.org/2000/svg}"


def draw(
    *, name: str, title: str, caption: str, parts: Iterable[Panel], table: Iterable[Sequence[str]]
) -> Figure:
    """A figure with its panels, and with every text made printable; see `Figure` and `panels`.

    Args:
        name: Its id.
        title: See `Figure`.
        caption: See `Figure`.
        parts: Its panels.
        table: See `Figure`.
    """
    return Figure(
        id=name,
        title=title,
        caption=printable(caption, _CAPTION),
        svg=panels(parts),
        table=[[printable(cell, _LONGEST) for cell in row] for row in table],
    )


def panels(parts: Iterable[Panel]) -> Markup:
    """Draw the panels of a figure side by side; a narrow page stacks them.

    Args:
        parts: Specifications that hold their data. Text in it may be anything.

    Raises:
        UsageError: The extra `html` is not installed.
        ValueError: A specification is no valid one, or asks for data from elsewhere.
    """
    found = [_svg(_safe(label), spec) for label, spec in parts]
    # Every part was written from the list above.
    return Markup('<div class="figure-panels">{}</div>').format(Markup().join(found))


def _svg(label: str, spec: Mapping[str, Any]) -> Markup:
    try:
        import vl_convert  # noqa: PLC0415 - starts an engine
    except ImportError:
        raise UsageError(
            "figures need vl-convert, which is not installed",
            hint="pip install 'memruler[html]'",
        ) from None
    # An empty list of addresses: a specification can load nothing, from anywhere.
    text = vl_convert.vegalite_to_svg(_safe(spec), config=_CONFIG, allowed_base_urls=[])
    root = ET.fromstring(text)  # noqa: S314 - the renderer's own, without a document type
    inner = "".join(_written(child) for child in root)
    size = "".join(f' {name}="{_value(root.get(name, ""))}"' for name in ("width", "height"))
    box = _value(root.get("viewBox", ""))
    return Markup(  # noqa: S704 - written from the list
        f'<svg role="img" aria-label="{escape(label)}"{size} viewBox="{box}">'
        f"<title>{escape(label)}</title>{inner}</svg>"
    )


def _safe(value: Any) -> Any:
    """The same without characters that are not seen: one of them ends the renderer's process."""
    if isinstance(value, str):
        parts = value[:_LONGEST].split(EN_SPACE)
        return EN_SPACE.join(printable(part, _LONGEST) for part in parts)
    if isinstance(value, Mapping):
        return {key: _safe(inner) for key, inner in value.items()}
    return [_safe(inner) for inner in value] if isinstance(value, list | tuple) else value


def _xml(value: Any) -> Any:
    """A specification of which every text can stand in XML."""
    if isinstance(value, str):
        return _NO_XML.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_xml(name): _xml(part) for name, part in value.items()}
    return [_xml(part) for part in value] if isinstance(value, list | tuple) else value


def _written(node: ET.Element) -> str:
    """An element from the list with its attributes from the list; any other leaves nothing."""
    tag = node.tag.removeprefix(_NS)
    if tag not in _ELEMENTS or node.get("display") == "none" or node.get("opacity") == "0":
        return ""
    inner = str(escape(node.text or "")) if tag in {"text", "tspan"} else ""
    inner += "".join(_written(child) for child in node)
    kept = {
        name: _value(value)
        for name, value in node.attrib.items()
        if name in _ATTRIBUTES and (name, value) not in {("opacity", "1"), ("stroke-width", "0")}
    }
    if tag == "g":
        if kept.get("transform") == "translate(0,0)":
            del kept["transform"]
        if not inner or not kept:
            return inner
    if tag == "path" and not {"fill", "stroke"} & kept.keys():
        return ""  # a background that is not seen
    head = "".join(f' {name}="{value}"' for name, value in kept.items())
    return f"<{tag}{head}>{inner}</{tag}>" if inner else f"<{tag}{head}/>"


def _value(text: str) -> str:
    """An attribute's value; empty where it could mean more than numbers, colours and words."""
    short = _LONG.sub(lambda found: f"{float(found[0]):.2f}", text)
    return short if _VALUE.fullmatch(short) and "url" not in short else ""
