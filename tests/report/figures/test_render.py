import http.server
import re
import sys
import threading

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memruler.errors import UsageError, printable
from memruler.report.figures.render import CSS, SERIES, panels

_SHORT = 13  # an axis cuts what is wider than its limit
VARIABLE = re.compile(r"var\(--(ink|ink-soft|line|paper|good|bad|series-[1-6])\)|none|transparent")


def spec(*names, mark="bar", **more):
    return {
        "data": {"values": [{"name": name, "value": 1} for name in names]},
        "mark": mark,
        "encoding": {
            "y": {"field": "name", "type": "nominal"},
            "x": {"field": "value", "type": "quantitative"},
            "color": {"value": SERIES[0]},
        },
        **more,
    }


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("<script>alert(1)</script>")
@example("</text><image href='http://x/'/>&lt;]]>")
@example('" onload="x')
@example("0 ")
@given(
    st.text(min_size=1, max_size=20)
    .map(printable)
    .filter(lambda name: name.strip() and len(name) < _SHORT)
)
def test_text_stays_text(parsed, name):
    drawn = panels([(name, spec(name))])
    name = printable(name)
    root = parsed(drawn)
    assert {node.tag for node in root.iter()} <= {
        *("div", "svg", "title", "g", "path", "rect", "line", "text")
    }
    svg = root.find("svg")
    assert svg.get("aria-label") == name
    assert svg.find("title").text == name
    # Blanks at the ends of a label are not drawn.
    assert name.strip() in [(node.text or "").strip() for node in root.iter("text")]


def test_nothing_active_no_ids_and_colours_of_the_page(parsed):
    drawn = str(panels([("two", spec("a", "b")), ("one", spec("c", title="T"))]))
    root = parsed(drawn)
    assert root.get("class") == "figure-panels"
    assert len(root.findall("svg")) == 2
    for node in root.iter():
        banned = {"id", "style", "href", "onload", "font-family"} & node.attrib.keys()
        assert not banned
        assert node is root or "class" not in node.attrib
        for name in ("fill", "stroke"):
            assert VARIABLE.fullmatch(node.get(name, "none")), node.attrib
    assert all(svg.get("role") == "img" for svg in root.findall("svg"))


HOSTILE = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="1" height="2" viewBox="0 0 1 2" onload="alert(1)">
  <script>alert(1)</script><style>@import 'http://e.vil'</style>
  <image xlink:href="http://e.vil/a.png"/><use href="#x"/><foreignObject><p>x</p></foreignObject>
  <a href="javascript:alert(1)"><rect width="5" height="5" fill="var(--ink)"/></a>
  <g id="top" class="c" style="fill:red" transform="translate(1,0.123456)">
    <rect onclick="alert(1)" width="3" height="4" fill="url(http://e.vil/#p)"/>
    <text fill="red;x:expression(1)" font-family="evil">a &lt;b&gt;</text>
    <path d="M0,0" opacity="0" fill="red"/><path d="M1,1"/>
  </g></svg>"""


def test_what_is_not_on_the_list_leaves_nothing(monkeypatch):
    import vl_convert  # noqa: PLC0415

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: HOSTILE)
    assert str(panels([("h", {})])) == (
        '<div class="figure-panels"><svg role="img" aria-label="h" width="1" height="2" '
        'viewBox="0 0 1 2"><title>h</title><g transform="translate(1,0.12)">'
        '<rect width="3" height="4" fill=""/><text fill="">a &lt;b&gt;</text></g></svg></div>'
    )


def test_no_connection_is_made():
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/x.json"
    try:
        with pytest.raises(ValueError, match="not allowed"):
            panels([("d", spec(data={"url": address}))])
        # An image with its place and its size needs nothing loaded to be laid out; it is left out.
        image = {"type": "image", "url": address, "width": 9, "height": 9}
        assert address not in panels([("i", spec("a", mark=image))])
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\x00b", "a\ud800b", "a\u202eb", "a\nb", "\ufffe"])
def test_no_character_ends_the_renderer(parsed, text):
    drawn = panels([(text, spec(text, title=text))])
    shown = {node.text for node in parsed(drawn).iter("text")}
    assert printable(text) in shown
    assert parsed(drawn).find("svg").get("aria-label") == printable(text)


def test_a_text_of_a_megabyte_is_cut():
    assert len(panels([("w" * 10**6, spec("w" * 10**6, title="w" * 10**6))])) < 10_000


def test_same_in_same_out():
    assert panels([("a", spec("x", "y"))]) == panels([("a", spec("x", "y"))])


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(UsageError, match=r"vl-convert.*memruler\[html\]"):
        panels([("a", spec("x"))])


def test_the_rules_of_a_page_name_its_font():
    assert "var(--sans)" in CSS
    assert "max-width: 100%" in CSS
