"""Reads a figure back: what is drawn where."""

import re
from xml.etree import ElementTree as ET

import pytest

_PLACE = re.compile(r"translate\((-?[\d.]+)(?:,\s*(-?[\d.]+))?\)")


@pytest.fixture
def parsed():
    """A figure's SVG as XML."""
    return lambda svg: ET.fromstring(str(svg))  # noqa: S314 - drawn by the test


@pytest.fixture
def texts(parsed):
    """Every text of a figure, in order."""
    return lambda figure: [
        line
        for node in parsed(figure.svg).iter("text")
        for line in ([part.text for part in node] or [node.text])
    ]


@pytest.fixture
def marks(parsed):
    """Places of the symbols of one panel within its plot: (fill, x, y), legends aside.

    A symbol is a path of one colour that is moved to its place; a symbol of a legend is moved
    within a group of its own.
    """

    def find(figure, panel=0):
        svg = parsed(figure.svg).findall("svg")[panel]
        root = svg.find("g")
        found = []
        for node in root.findall("path"):
            place = _PLACE.fullmatch(node.get("transform", ""))
            if place:
                x, y = float(place[1]), float(place[2] or 0)
                found.append((node.get("fill"), node.get("stroke"), x, y))
        return found

    return find
