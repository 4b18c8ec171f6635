"""The documentation site holds every page, its links lead somewhere, and it needs no network."""

import html
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from memruler.cli import pages
from memruler.cli.main import VERBS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
MARKDOWN = sorted(DOCS.rglob("*.md"))
_FENCE = re.compile(r"^ *(`{3,}).*?^ *\1`*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\]\\`]|\\.|`[^`]*`)*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_SECTIONS = [
    "Start",
    "Measure",
    "Read",
    "Compare",
    "Decide",
    "Answers and judges",
    "Targets",
    "Automate",
    "Reference",
    "Design",
]


def _paths(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for part in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _paths(part)


def _prose(path: Path) -> str:
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def _anchors(text: str) -> set[str]:
    """The ids that the site gives to headings."""
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        said = html.unescape(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", said).strip().lower())
        names.add(f"{slug}_{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return names


def _broken(path: Path, text: str) -> list[str]:
    """Links of a page that lead nowhere."""
    found = []
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        inside = target.exists() and target.is_relative_to(DOCS)
        if not inside or (anchor and anchor not in _anchors(_prose(target) if name else text)):
            found.append(link)
    return found


def test_the_navigation_holds_every_page_once():
    listed = list(_paths(CONFIG["nav"]))
    assert [name for name, times in Counter(listed).items() if times > 1] == []
    assert sorted(listed) == [path.relative_to(DOCS).as_posix() for path in MARKDOWN]
    assert [next(iter(section)) for section in CONFIG["nav"]] == _SECTIONS


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_page_has_one_title_and_its_links_resolve(path):
    text = _prose(path)
    assert text.startswith("# ")
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert _broken(path, text) == []


def test_links_in_and_out_of_the_judge_itself():
    page = DOCS / "glossary.md"
    text = "# One `two`\n\n## Half & half\n\n## Half & half\n"
    assert _anchors(text) == {"one-two", "half-half", "half-half_1"}
    wrong = "[a](nowhere.md) [b](metrics.md#nowhere) ![c](no.png) [d](../README.md) [e](#no)"
    assert _broken(page, text + wrong) == [
        "nowhere.md",
        "metrics.md#nowhere",
        "no.png",
        "../README.md",
        "#no",
    ]
    right = "[a](metrics.md#definitions) [`b`](#half-half_1) [c](https://example.org) `[d](no.md)`"
    assert _broken(page, text + right.rpartition(" `")[0]) == []


@pytest.mark.parametrize("name", [pages.INDEX, *VERBS])
def test_the_page_of_a_command_is_what_the_code_says(name):
    shown = (DOCS / "cli" / f"{name}.md").read_text(encoding="utf-8")
    assert shown == pages.page(name), "run: python -m memruler.cli.pages docs/cli"


def test_no_page_is_of_a_command_that_is_gone():
    there = {path.stem for path in (DOCS / "cli").iterdir()}
    assert there == {pages.INDEX, *VERBS}
    assert set(pages.GUIDES) <= set(VERBS)


class _Loads(HTMLParser):
    """What a browser fetches for a page by itself, and every id and link in it."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.classes |= set(found.get("class", "").split())
        if tag == "link" and found.get("rel") not in {"prev", "next", "canonical"}:
            self.loaded.append(found["href"])
        elif tag in {"script", "img", "iframe", "source", "video", "audio", "embed"}:
            self.loaded.append(found.get("src", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    program = shutil.which("zensical", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("zensical is not installed; it belongs to the docs extra")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    done = subprocess.run(
        [program, "build", "--strict"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=os.environ | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_site_builds_strictly_with_every_page(site):
    for path in MARKDOWN:
        assert (site / path.relative_to(DOCS).with_suffix(".html")).is_file()


def test_no_page_loads_anything_from_elsewhere(site):
    made = sorted(site.rglob("*.html"))
    assert len(made) > len(MARKDOWN)
    for path in made:
        loads = _Loads()
        loads.feed(path.read_text(encoding="utf-8"))
        assert loads.loaded
        assert [url for url in loads.loaded if re.match(r"(?:[a-z]+:)?//", url)] == []
        # Each of these makes the site's script fetch something from another host.
        assert loads.classes.isdisjoint({"mermaid", "md-source", "glightbox"})
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text("utf-8"))


def test_what_is_loaded_is_there(site):
    loads = _Loads()
    loads.feed((site / "cli" / "index.html").read_text(encoding="utf-8"))
    local = [url for url in loads.loaded if url]
    assert len(local) > 3
    assert [url for url in local if not (site / "cli" / url).resolve().is_file()] == []


def test_the_workflow_builds_strictly_and_may_only_read():
    text = (ROOT / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    steps = workflow["jobs"]["site"]["steps"]
    assert "zensical build --strict" in [step.get("run") for step in steps]
    assert [
        s["uses"]
        for s in steps
        if not re.fullmatch(r"actions/[\w-]+@v\d+", s.get("uses", "actions/x@v1"))
    ] == []
    assert (ROOT / workflow["env"]["PIP_CONSTRAINT"]).is_file()
