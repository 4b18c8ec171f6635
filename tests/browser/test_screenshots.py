"""Screenshots of the report and of the view over all of LoCoMo: not blank, and the documents' own.

`MEMRULER_SCREENSHOTS=1` writes them to docs/images. LoCoMo's texts are not free for every use
(CC BY-NC 4.0), so that whatever a person said or was asked is replaced before a picture is taken.
"""

import os
import shutil
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[2] / "docs" / "images"
# What a data set says, wherever a page shows it: each word becomes a bar of its length.
_HIDE = """
() => {
  const texts = document.querySelectorAll(
    ".explorer .question, .explorer .text, .explorer button.more, #moved td.wrap, .said");
  for (const node of texts) node.textContent = node.textContent.replace(/[^\\s]/gu, "\\u2592");
}
"""


@pytest.fixture
def keep():
    """Copies a screenshot into the documents, where that was asked for."""

    def copy(path):
        if os.environ.get("MEMRULER_SCREENSHOTS") == "1":
            IMAGES.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, IMAGES / path.name)

    return copy


def first_query(seen):
    """Open the first query that was missed."""
    seen.page.locator("select[data-key=missed]").select_option("true")
    seen.page.locator("[role=option]").first.click()
    seen.page.locator(".explorer-query h3").wait_for()
    seen.quiet()


def show_explorer(seen):
    """Filters, list and the open query in one picture, without what a data set says."""
    seen.page.evaluate(_HIDE)
    seen.page.set_viewport_size({"width": 1280, "height": 1500})
    seen.page.evaluate("document.querySelector('.explorer').scrollIntoView()")
    seen.quiet()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_report(locomo_runs, report_of, visit, keep, theme):
    address = report_of(
        locomo_runs / "lexical",
        locomo_runs / "all-words",
        options=("--changed", "stop_words", "--shared"),
    )
    with visit("wide", theme) as seen:
        seen.open(address)
        assert "1,986" in seen.page.content() or "1986" in seen.page.content()
        keep(seen.shot(f"report-{theme}.png"))
        if theme == "light":
            forest = seen.page.locator("section", has=seen.page.locator(".figure-panels"))
            forest.first.scroll_into_view_if_needed()
            keep(seen.shot_of(forest.first, "report-figures.png"))
            first_query(seen)
            show_explorer(seen)
            keep(seen.shot("report-explorer.png"))
        seen.blameless()


def test_the_report_on_a_phone(locomo_runs, report_of, visit, keep):
    with visit("phone", "dark") as seen:
        seen.open(report_of(locomo_runs / "lexical"))
        keep(seen.shot("report-phone.png"))
        seen.fits()
        seen.blameless()


def test_the_view(locomo_runs, served, visit, keep):
    with visit() as seen:
        page = seen.page
        seen.open(served(locomo_runs))
        for side, name in (("baseline", "lexical"), ("candidate", "all-words")):
            page.get_by_label(f"{side}: {name}", exact=True).check()
        keep(seen.shot("view-runs.png"))
        page.locator("#view-compare").click()
        seen.quiet()
        keep(seen.shot("view-refused.png"))
        page.get_by_role("link", name="Trends").click()
        seen.quiet()
        keep(seen.shot("view-trends.png"))
        page.get_by_role("link", name="lexical", exact=True).first.click()
        seen.quiet()
        first_query(seen)
        show_explorer(seen)
        keep(seen.shot("view-explorer.png"))
        seen.blameless()
