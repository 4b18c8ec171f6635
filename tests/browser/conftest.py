"""A real Chromium that notes everything a page does, and servers and reports for it to open."""

import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

_spec = spec_from_file_location("hostile_runs", Path(__file__).with_name("hostile_runs.py"))
_hostile = module_from_spec(_spec)
_spec.loader.exec_module(_hostile)

FLAG = _hostile.FLAG
SIZES = {"wide": (1280, 900), "phone": (390, 844), "small": (360, 740)}
LOOKS = (
    ("wide", "light"),
    ("wide", "dark"),
    ("phone", "light"),
    ("phone", "dark"),
    ("small", "light"),
)
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NOTES = """
window.__refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
_SERIOUS = {"serious", "critical"}


def pytest_collection_modifyitems(items):
    """Everything here starts a browser: minutes."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.slow)


class Seen:
    """A page with what it did that no page of ours may do.

    Attributes:
        page: Playwright's page.
        faults: Console errors and warnings, uncaught errors, dialogs, failed requests.
        elsewhere: Requests to anywhere but the origin that the page came from.
    """

    def __init__(self, page, shots):
        self.page = page
        self._shots = shots
        self.faults = []
        self.elsewhere = []
        self._origin = None
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("dialog", self._dialog)
        page.on("requestfailed", lambda r: self.faults.append(f"failed: {r.url[:200]} {r.failure}"))
        page.on("request", self._requested)
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url[:200]}"))
        page.on("framenavigated", self._framed)

    def _said(self, message):
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type}: {message.text[:300]}")

    def _dialog(self, dialog):
        self.faults.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()

    def _framed(self, frame):
        if frame.parent_frame is not None:
            self.faults.append(f"frame: {frame.url[:200]}")

    def _requested(self, request):
        if request.url.startswith(("data:", "blob:")):
            return
        if self._origin is None or not request.url.startswith(self._origin):
            self.elsewhere.append(request.url[:200])

    def open(self, address):
        """Go to an address and wait until it is quiet."""
        parts = address.split("/")
        self._origin = (
            "/".join(parts[:3]) if address.startswith("http") else address.partition("#")[0]
        )
        answer = self.page.goto(address, wait_until="load")
        self.quiet()
        return answer

    def quiet(self):
        """Wait until the page asks for nothing and has painted."""
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        )

    def read_every_query(self):
        """Open each query of the explorer, page by page, with all that can be opened in it."""
        page, read = self.page, 0
        options = page.locator(".explorer-rows [role=option]")
        options.first.wait_for()
        following = page.get_by_role("button", name="Next page")
        while True:
            for option in options.all():
                row = option.get_attribute("data-row")
                option.click()
                page.wait_for_function(
                    "row => document.querySelector('[aria-selected=true]')?.dataset.row === row"
                    " && document.querySelector('.explorer-query h3')",
                    arg=row,
                )
                more = page.locator(".explorer-query button.more")
                while more.count():  # each click takes its button away
                    more.first.click()
                for closed in page.locator(".explorer-query details:not([open]) > summary").all():
                    closed.click()
                self.fits()
                read += 1
            if following.is_disabled():
                break
            first = options.first.get_attribute("id")
            following.click()
            page.wait_for_function(
                "id => document.querySelector('.explorer-rows [role=option]').id !== id", arg=first
            )
        assert read > 0
        return read

    def blameless(self):
        """Nothing ran that was text, nothing was refused, nothing was fetched from elsewhere."""
        assert self.page.evaluate(f"typeof window.{FLAG}") == "undefined"
        assert self.page.evaluate("window.__refused") == []
        assert self.faults == []
        assert self.elsewhere == []

    def fits(self):
        """The page is no wider than what is seen of it."""
        wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        needed, there = self.page.evaluate(wide)
        assert needed <= there, f"{needed} px in {there}: {self._widest()}"

    def _widest(self):
        """What sticks out, for the message."""
        return self.page.evaluate(
            """() => {
              const wide = document.documentElement.clientWidth;
              const inBox = (node) => {
                for (let up = node.parentElement; up; up = up.parentElement) {
                  if (getComputedStyle(up).overflowX !== "visible") return true;
                }
                return false;
              };
              return [...document.body.querySelectorAll("*")]
                .filter((node) => node.getBoundingClientRect().right > wide && !inBox(node))
                .slice(0, 5)
                .map((node) => `${node.tagName}.${node.className}`);
            }"""
        )

    def axe_serious(self):
        """Accessibility faults that axe calls serious or critical, one line each."""
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - may be absent

        found = Axe().run(self.page).response["violations"]
        return [
            f"{fault['id']} ({fault['impact']}): {fault['help']}: "
            + " | ".join(node["html"][:160] for node in fault["nodes"][:3])
            for fault in found
            if fault["impact"] in _SERIOUS
        ]

    def shot(self, name, **options):
        """Take a screenshot into the test's own folder and see that something is on it."""
        return self.shot_of(self.page, name, **options)

    def shot_of(self, part, name, **options):
        """The same of a part of the page."""
        path = self._shots / name
        part.screenshot(path=path, animations="disabled", **options)
        assert lines(path) > 20, f"{path} is blank"
        return path


def lines(path):
    """How many different lines of pixels a PNG has: 1 or 2 where it is blank."""
    data = Path(path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed, width, height, kind = 8, b"", 0, 0, 0
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if name == b"IHDR":
            width, height, _, kind = struct.unpack(">IIBB", body[:10])
        packed += body if name == b"IDAT" else b""
        at += 12 + size
    raw = zlib.decompress(packed)
    # Each line has a filter in front; blank ones are alike under whichever it is.
    long = 1 + width * {2: 3, 6: 4}[kind]
    return len({raw[y * long + 1 : (y + 1) * long] for y in range(height)})


@pytest.fixture(scope="session")
def browser():
    """Chromium through Playwright; what it runs is the machine's own."""
    pytest.importorskip("playwright", reason="needs playwright")
    pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    pytest.importorskip("starlette", reason="needs memruler[view]")
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may be absent

    program = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    if program is None:
        pytest.skip(f"needs Chromium; looked for {', '.join(_CHROMIUMS)}")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as play:
        made = play.chromium.launch(
            executable_path=program,
            # A sandbox needs an ordinary user.
            args=[*_ARGUMENTS, *(["--no-sandbox"] if root or os.environ.get("CI") else [])],
        )
        yield made
        made.close()


@pytest.fixture(params=LOOKS, ids=" ".join)
def look(request):
    """A size and a theme."""
    return request.param


@pytest.fixture
def visit(browser, tmp_path):
    """Opens pages of a size and theme: `with visit("phone", "dark") as seen`."""

    @contextmanager
    def opened(size="wide", theme="light", **options):
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(120_000)  # a busy machine is no fault of the page
        context.add_init_script(_NOTES)
        try:
            yield Seen(context.new_page(), tmp_path)
        finally:
            context.close()

    return opened


@pytest.fixture(scope="session")
def hostile(tmp_path_factory, own_cache):
    """Two hostile runs that compare over common cut-offs."""
    del own_cache
    return _hostile.hostile_runs(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory, own_cache):
    """A folder `runs` with two runs of the bundled corpus, `a` before `b`."""
    del own_cache
    root = tmp_path_factory.mktemp("two")
    for stem, setting in (("a", "stop_words=true"), ("b", "stop_words=false")):
        memruler(
            *("retrieval", "synthetic", "--system", "builtin:lexical"),
            *("--set", setting, "--stem", stem),
            cwd=root,
        )
    return root / "runs"


def memruler(*arguments, cwd=None, code=0):
    """Run the program to its end, which must be as expected."""
    done = subprocess.run(
        [sys.executable, "-m", "memruler", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def locomo_runs(tmp_path_factory, locomo_path, own_cache):
    """A folder `runs` with two runs of all of LoCoMo that differ in one setting."""
    del own_cache
    root = tmp_path_factory.mktemp("locomo")
    for stem, setting in (("lexical", "stop_words=true"), ("all-words", "stop_words=false")):
        memruler(
            *("retrieval", "locomo", "--path", locomo_path, "--system", "builtin:lexical"),
            *("--set", setting, "--stem", stem),
            cwd=root,
        )
    return root / "runs"


@pytest.fixture(scope="session")
def served():
    """Starts `memruler view` on a folder and gives its address; ended with the tests."""
    children = []

    def start(root):
        child = subprocess.Popen(
            [sys.executable, "-m", "memruler", "view", root.name, "--json"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=root.parent,
        )
        children.append(child)
        return json.loads(child.stdout.readline())["url"]

    kept = {}
    yield lambda root: kept[root] if root in kept else kept.setdefault(root, start(root))
    for child in children:
        child.terminate()
        child.communicate()


@pytest.fixture(scope="session")
def report_of(tmp_path_factory):
    """Writes the report of a run, or of two, as one HTML file, and gives its address."""
    kept = {}

    def write(*runs, options=(), code=0):
        key = (*runs, *options)
        if key not in kept:
            path = tmp_path_factory.mktemp("report") / "report.html"
            memruler("report", *runs, "--html", path, *options, code=code)
            kept[key] = path.as_uri()
        return kept[key]

    return write
