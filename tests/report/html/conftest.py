"""Pages read as a browser would, and the runs that they are made of."""

import json
import re
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from memruler.report.asked import report_of
from memruler.report.html.report import html_report

pytest.importorskip("vl_convert", reason="needs memruler[html]")

_EMPTY = {"meta", "br", "path", "line", "rect", "input"}


class Page(HTMLParser):
    """What a page consists of.

    Attributes:
        text: The file.
        tags: Each element's name with its attributes, in order.
        inside: Text of each `<style>`, `<script>` and `<title>` of the head, by name.
        said: Everything that is shown as text, blanks made one.
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text, self.tags, self.inside, self._open, said = text, [], [], [], []
        self._said = said
        self.feed(text)
        self.close()
        self.said = " ".join("".join(said).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        here, attributes = self._open[-1] if self._open else ("", {})
        if here in {"style", "script"}:
            self.inside.append((here, attributes, data))
        else:
            self._said.append(f"{data} ")

    def named(self, tag):
        """The attributes of every element of a name."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def sections(self):
        """Anchors of its sections."""
        return [each["id"] for each in self.named("section") if "id" in each]

    @property
    def data(self):
        """What its explorer holds; None without one."""
        blocks = [
            text
            for tag, attributes, text in self.inside
            if tag == "script" and attributes.get("id") == "explorer-data"
        ]
        return json.loads(blocks[0]) if blocks else None

    @property
    def bare(self):
        """The file without the data of its explorer."""
        return re.sub(r'(<script type="application/json"[^>]*>).*?</script>', r"\1", self.text)


@pytest.fixture(scope="session")
def page_of():
    """The page of run folders, read."""

    def make(*folders, changed=(), shared=False, corpus=None):
        found = report_of(folders, changed=changed, shared=shared)
        return Page(html_report(found, folders, changed=changed, shared=shared, corpus=corpus))

    return make


@pytest.fixture(scope="session")
def measured(tmp_path_factory, own_cache):
    """Measures the bundled corpus: `measured(stem, system, *options)`."""
    del own_cache
    from memruler.cli.main import cli  # noqa: PLC0415 - most tests need no runner

    root = tmp_path_factory.mktemp("own")

    def make(stem, system, *more):
        arguments = ["retrieval", "synthetic", "--out", str(root), "--stem", stem]
        cli.main([*arguments, "--system", system, *more], standalone_mode=False)
        return root / stem

    return make


@pytest.fixture(scope="session")
def own(measured):
    """Three runs: `a`, `b` with another setting, and `d`, a store of facts."""
    return {
        "a": measured("a", "builtin:lexical"),
        "b": measured("b", "builtin:lexical", "--set", "stop_words=false"),
        "d": measured("d", "builtin:derived"),
    }


@pytest.fixture(scope="session")
def hostile(tmp_path_factory, own_cache):
    """Two runs in which every text tries to be more than text, and what they try."""
    del own_cache
    path = Path(__file__).parents[2] / "browser" / "hostile_runs.py"
    spec = spec_from_file_location("hostile_runs", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.hostile_runs(tmp_path_factory.mktemp("hostile")), module
