"""How long the HTML report of all of LoCoMo takes to open in Chromium, and to filter.

    .venv/bin/python benchmarks/report_browser.py --locomo locomo10.json

Two reports: of one run, and of two side by side. A page counts as open once its explorer shows
rows; a filter counts as done with the first frame painted after the list has changed. An empty page
is opened in the same rounds, to tell what the browser itself takes; a ratio is taken inside a
round. Each page is opened in a browser context of its own, from the disk.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from shutil import which
from typing import Any

from measure import cost, memruler, print_machine, table
from playwright.sync_api import sync_playwright

EMPTY = "<!doctype html><title>empty</title><p>nothing"
READY = "document.querySelectorAll('.explorer-rows [role=option]').length > 0"
# From the change of a field until the list is another one and has been painted.
FILTER = """
([key, value]) => new Promise((done) => {
  const field = document.querySelector(`.explorer-filters [data-key="${key}"]`);
  const list = document.querySelector(".explorer-rows");
  const start = performance.now();
  new MutationObserver((_, self) => {
    self.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  }).observe(list, { childList: true });
  field.value = value;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
})
"""
FILTERS = (("missed", "true"), ("missed", ""), ("text", "painting"), ("text", ""))


def main() -> None:
    """Measure, report, open and filter; print times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--locomo", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pages = reports(Path(folder), options.locomo.resolve())
        weights = {name: sizes(page) for name, page in pages.items()}
        print_machine()
        opened: dict[str, list[float]] = {name: [] for name in pages}
        filtered: dict[str, list[float]] = {}
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=which("chromium") or which("google-chrome"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            for page in pages.values():
                load(browser, page)  # the first of each reads from disk: not counted
            for _ in range(options.rounds):
                for name, page in pages.items():
                    seconds, filters = load(browser, page)
                    opened[name].append(seconds)
                    for label, spent in filters.items():
                        filtered.setdefault(f"{name}: {label}", []).append(spent / 1000)
            browser.close()
    rows = [[name, weights[name], *line(times, opened["empty"])]
            for name, times in opened.items()]  # fmt: skip
    print(table(["page", "MB", "median ms", "least", "most", "times empty"], rows) + "\n")
    rows = [[name, *line(times)] for name, times in filtered.items()]
    print(table(["filter", "median ms", "least", "most"], rows))


def reports(folder: Path, locomo: Path) -> dict[str, Path]:
    """Measure two runs and write their reports."""
    runs = []
    for stem, setting in (("base", "stop_words=true"), ("candidate", "stop_words=false")):
        cost([memruler(), "retrieval", "locomo", "--path", locomo, "--system", "builtin:lexical",
              "--set", setting, "--out", folder, "--stem", stem])  # fmt: skip
        runs.append(folder / stem)
    pages = {name: folder / f"{name}.html" for name in ("empty", "one run", "two runs")}
    pages["empty"].write_text(EMPTY)
    cost([memruler(), "report", runs[0], "--html", pages["one run"]])
    cost([memruler(), "report", *runs, "--changed", "stop_words", "--shared",
          "--html", pages["two runs"]])  # fmt: skip
    return pages


def load(browser: Any, path: Path) -> tuple[float, dict[str, float]]:
    """Seconds until a page is open, and milliseconds of each filter."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(path.as_uri(), wait_until="load")
    if path.stem == "empty":
        spent = time.perf_counter() - start
        context.close()
        return spent, {}
    page.wait_for_function(READY)
    spent = time.perf_counter() - start
    filters = {
        f"{key} {value or 'taken back'}": page.evaluate(FILTER, [key, value])
        for key, value in FILTERS
    }
    context.close()
    return spent, filters


def sizes(path: Path) -> str:
    """Megabytes of a file."""
    return f"{path.stat().st_size / 1e6:.2f}"


def line(times: list[float], base: list[float] | None = None) -> list[str]:
    """Median, least and most in ms, and the median ratio to a base in the same round."""
    cells = [f"{1000 * of:.0f}" for of in (statistics.median(times), min(times), max(times))]
    if base is not None:
        ratios = [own / other for own, other in zip(times, base, strict=True)]
        cells.append(f"{statistics.median(ratios):.1f}")
    return cells


if __name__ == "__main__":
    main()
