"""The report in a browser: one file, from the disk, over runs that try everything."""

import json
import subprocess
import sys

import pytest

KINDS = ["one run", "compared", "refused", "three"]
PAPER = 703
"""CSS pixels between the margins of A4."""


@pytest.fixture
def report(hostile, two_runs, report_of):
    """Address of a report of the hostile runs, by its kind."""
    return {
        "one run": lambda: report_of(hostile[0]),
        # The one refusal that only a choice of queries can lift.
        "compared": lambda: report_of(*hostile, options=("--changed", "system", "--shared")),
        "refused": lambda: report_of(*hostile, code=4),
        "three": lambda: report_of(*hostile, two_runs / "a", options=("--changed", "system")),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_becomes_more_than_text(report, visit, look, kind):
    with visit(*look) as seen:
        seen.open(report[kind]())
        assert seen.page.locator("h1").count() == 1
        seen.fits()
        assert seen.axe_serious() == []
        seen.shot("page.png")
        seen.blameless()


@pytest.mark.parametrize("kind", ["one run", "compared", "three"])
def test_every_part_opens_and_stays_text(report, visit, kind):
    with visit("phone") as seen:
        page = seen.page
        seen.open(report[kind]())
        for summary in page.locator("main details:not([open]) > summary").all():
            if summary.is_visible():
                summary.click()
        for link in page.locator(".contents a").all():
            link.click()
        seen.fits()
        if kind != "three":
            assert seen.read_every_query() == 36
        seen.blameless()


def test_nothing_is_asked_for_and_the_file_says_so_itself(report, visit):
    with visit() as seen:
        asked = []
        seen.page.on("request", lambda request: asked.append(request.url))
        seen.open(report["one run"]())
        assert asked == [report["one run"]()]
        policy = seen.page.locator("meta[http-equiv='Content-Security-Policy']")
        text = policy.get_attribute("content")
        assert "default-src 'none'" in text
        assert "unsafe" not in text
        assert "http" not in text
        # What a page may do is what is enforced: an inline script of a stranger is refused.
        seen.page.evaluate(
            """() => {
              const late = document.createElement("script");
              late.textContent = "window.late = 1";
              document.body.append(late);
            }"""
        )
        assert seen.page.evaluate("typeof window.late") == "undefined"
        assert any("script-src" in one for one in seen.page.evaluate("window.__refused"))


def test_on_paper_it_is_light_and_whole(report, visit):
    with visit("wide", "dark") as seen:
        page = seen.page
        seen.open(report["compared"]())
        page.emulate_media(media="print", color_scheme="dark")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper in {"rgb(255, 255, 255)", "rgb(252, 251, 249)"}
        assert not page.locator(".explorer-panes").is_visible()
        assert page.locator(".explorer-paper").is_visible()
        made = page.pdf(format="A4")
        assert made.startswith(b"%PDF")
        seen.blameless()


def test_no_table_is_cut_on_paper(two_runs, report_of, visit):
    pair = (two_runs / "a", two_runs / "b")
    for runs, options in (
        (pair[:1], ()),
        (pair, ("--changed", "stop_words", "--shared")),
    ):
        with visit() as seen:
            page = seen.page
            seen.open(report_of(*runs, options=options))
            page.emulate_media(media="print")
            page.set_viewport_size({"width": PAPER, "height": 1000})
            widths = page.evaluate(
                """() => {
                  for (const closed of document.querySelectorAll("details")) closed.open = true;
                  return [...document.querySelectorAll("main table, main .plot svg")].map(
                    (each) => each.getBoundingClientRect().right);
                }"""
            )
            assert len(widths) > 10
            assert max(widths) <= PAPER + 1


def test_the_caption_of_a_table_that_scrolls_stays_in_sight(two_runs, report_of, visit):
    address = report_of(
        two_runs / "a", two_runs / "b", options=("--changed", "stop_words", "--shared")
    )
    with visit("phone") as seen:
        seen.open(address)
        found = seen.page.evaluate(
            """() => [...document.querySelectorAll(".table")]
              .filter((box) => box.scrollWidth > box.clientWidth + 50)
              .map((box) => {
                box.scrollLeft = 50;
                const [own, inner] = [box, box.querySelector("caption")]
                  .map((each) => each.getBoundingClientRect());
                return [inner.left - own.left, own.right - inner.right];
              })"""
        )
        assert len(found) >= 3
        assert all(left >= -1 and right >= -1 for left, right in found)
        seen.blameless()


def test_without_scripts_all_but_the_explorer_is_there(report, visit):
    with visit(java_script_enabled=False) as seen:
        seen.page.goto(report["one run"]())
        assert seen.page.locator("h1").is_visible()
        assert seen.page.locator("svg").count() >= 1
        assert seen.page.locator("noscript").count() >= 1


def test_the_explorer_by_keyboard_and_by_address(two_runs, report_of, visit):
    address = report_of(
        two_runs / "a", two_runs / "b", options=("--changed", "stop_words", "--shared")
    )
    with visit() as seen:
        page = seen.page
        seen.open(address)
        options = page.locator(".explorer-rows [role=option]")
        assert options.count() == 48
        page.keyboard.press("/")
        page.keyboard.type("breakfast")
        page.wait_for_function("document.querySelectorAll('[role=option]').length < 48")
        found = options.count()
        assert 0 < found < 48
        assert all("breakfast" in text for text in options.all_inner_texts())
        page.keyboard.press("Enter")
        page.locator(".explorer-query h3").wait_for()
        assert page.locator(".explorer-runs.of-2 > section").count() == 2
        row = page.evaluate("location.hash")
        assert row.startswith("#q=")
        question = page.locator(".explorer-query .question").inner_text()
        assert "breakfast" in question
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
        seen.open("about:blank")
        seen.open(address + row)
        page.locator(".explorer-query h3").wait_for()
        assert page.locator(".explorer-query .question").inner_text() == question
        assert seen.axe_serious() == []
        seen.blameless()


def test_counts_of_filters_are_the_rows_they_leave(two_runs, report_of, visit):
    with visit() as seen:
        page = seen.page
        seen.open(report_of(two_runs / "a"))
        tried = 0
        for select in page.locator(".explorer-filters select:visible").all():
            for option in select.locator("option").all():
                value, label = option.get_attribute("value"), option.inner_text()
                if not value:
                    continue
                select.select_option(value)
                count = int(label.rpartition("(")[2].rstrip(")").replace(",", ""))
                wanted = f"of {count}" if count else "No query"
                page.get_by_role("status").filter(has_text=wanted).wait_for()
                assert page.locator("[role=option]").count() == min(count, 50)
                tried += 1
            select.select_option("")
        assert tried >= 8
        seen.blameless()


def test_the_report_of_a_run_says_what_its_json_says(two_runs, report_of, visit):
    done = subprocess.run(
        [sys.executable, "-m", "memruler", "report", str(two_runs / "a"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)["summary"]["slices"][0]["cutoffs"]
    (row,) = [row for row in rows if (row["level"], row["k"]) == ("session", 5)]
    with visit() as seen:
        seen.open(report_of(two_runs / "a"))
        shown = seen.page.locator(".number .value").inner_text()
        assert shown == f"{row['values']['recall_all']:.4f}"
        beside = seen.page.locator(".hero").inner_text()
        assert f"{row['counted']}" in beside
        seen.blameless()
