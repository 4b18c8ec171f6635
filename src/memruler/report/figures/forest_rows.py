"""What a forest plot is made of: rows with a zero line, and how a difference is written."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memruler.report.figures.render import BAD, EN_SPACE, GOOD, INK, LINE, SOFT
from memruler.report.figures.words import labels, number
from memruler.report.numbers import delta as signed_delta

__all__ = ["MOST", "OPEN", "Row", "span_of", "spec", "sure", "told", "way"]

MOST: Final = 20
"""Categories or slices that are drawn; a table has all."""

OPEN: Final = "open"
"""The way of a difference that is none, or of which nothing is sure."""

_LEAST_SPAN: Final = 0.01
_LONGEST: Final = 24

Row = dict[str, Any]
"""`row` (its name), `delta`, `text`, `way`, and `low` and `high` where there is an interval."""


def told(delta: float, wins: int, losses: int, counted: int) -> str:
    """A difference with the items that went up, those that went down, and all of them."""
    moved = f"\u2191{number(wins)} \u2193{number(losses)}"
    return f"{signed_delta(delta)}{EN_SPACE}{moved}{EN_SPACE}n={number(counted)}"


def way(delta: float) -> str:
    """What an exact difference says."""
    return "better" if delta > 0 else "worse" if delta < 0 else OPEN


def sure(low: float, high: float) -> str:
    """What an interval says: nothing where it holds zero."""
    return "better" if low > 0 else "worse" if high < 0 else OPEN


def span_of(values: Sequence[float]) -> float:
    """Half the width of a scale that holds all of these, zero in its middle."""
    return max(_LEAST_SPAN, 1.1 * max(map(abs, values), default=0.0))


def spec(
    title: str,
    rows: Sequence[Row],
    span: float,
    *,
    threshold: float = 0.0,
    band: float | None = None,
) -> dict[str, Any]:
    """The panel of some rows.

    Args:
        title: Of the panel.
        rows: From top to bottom.
        span: See `span_of`.
        threshold: Where a dashed line stands; none at 0.
        band: Half the width of the shade around zero.
    """
    # A category may be called as one of our own rows is.
    shown = labels([row["row"] for row in rows], _LONGEST)
    values = [{**row, "row": label} for row, label in zip(rows, shown, strict=True)]
    y = {
        "field": "row",
        "type": "nominal",
        "scale": {"domain": shown, "padding": 0.3},
        "axis": {"title": None, "labelColor": INK, "labelLimit": 170},
    }
    x = {
        "field": "delta",
        "type": "quantitative",
        "scale": {"domain": [-span, span], "nice": False},
        "axis": {"title": "candidate minus base", "tickCount": 4, "grid": True, "format": "~g"},
    }
    ways = ["better", "worse", OPEN]
    colour = {
        "field": "way",
        "type": "nominal",
        "scale": {"domain": ways, "range": [GOOD, BAD, SOFT]},
        "legend": None,
    }
    shape = {
        **colour,
        "scale": {"domain": ways, "range": ["triangle-right", "triangle-left", "circle"]},
    }
    plain = {key: value for key, value in x.items() if key != "field"}
    layers: list[dict[str, Any]] = []
    if band:
        layers.append(
            {
                "data": {"values": [{"low": -band, "high": band}]},
                "mark": {"type": "rect", "color": LINE, "opacity": 0.6},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            }
        )
    layers.append(
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": INK},
            "encoding": {"x": {**plain, "datum": 0}},
        }
    )
    if threshold:
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
                "encoding": {"x": {**plain, "datum": threshold}},
            }
        )
    layers += _marks({"y": y, "x": x, "color": colour}, shape, {**plain, "datum": span})
    return {
        "title": title,
        "padding": {"left": 12, "right": 34, "top": 4, "bottom": 4},  # a page's font may be wider
        "width": 130,
        "height": {"step": 28},
        "data": {"values": values},
        "layer": layers,
    }


def _marks(place: Row, shape: Row, right: Row) -> Iterator[dict[str, Any]]:
    x = place["x"]
    yield {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    yield {
        "mark": {"type": "point", "filled": True, "opacity": 1, "size": 80},
        "encoding": {**place, "shape": shape},
    }
    yield {
        "mark": {"type": "text", "align": "left", "dx": 10},
        "encoding": {"y": place["y"], "x": right, "text": {"field": "text"}},
    }
