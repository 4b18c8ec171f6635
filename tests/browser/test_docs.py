"""The documentation site, opened from the disk: nothing is fetched, it fits, it can be searched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["index", "start", "refusals", "bias", "metrics", "cli/retrieval", "design/rooms"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    program = shutil.which("zensical", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("zensical is not installed; it belongs to the docs extra")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    [
        (folder / "docs" / f"{n}.md").exists() or (folder / "docs" / f"{n}.md").write_text("# x")
        for n in ["reports", "figures", "view", "terminal", "baselines", "ci", "pytest"]
    ]
    shutil.copy(ROOT / "mkdocs.yml", folder)
    subprocess.run([program, "build", "--strict"], cwd=folder, check=True, env=os.environ)
    return folder / "site"


def _quiet(seen, site):
    """No fault, and no byte from anywhere but the site's own folder."""
    # The frame that stands in for the worker of the search is the only one.
    assert [fault for fault in seen.faults if fault != "frame: about:blank"] == []
    assert [url for url in seen.elsewhere if not url.startswith(site.as_uri())] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_from_the_disk(visit, look, site, name):
    with visit(*look) as seen:
        seen.open((site / f"{name}.html").as_uri())
        assert seen.page.locator("h1").first.is_visible()
        seen.fits()
        seen.shot(f"{name.replace('/', '-')}.png")
        _quiet(seen, site)


def test_the_search_needs_no_server(visit, site):
    with visit() as seen:
        seen.open((site / "index.html").as_uri())
        seen.page.keyboard.press("Control+k")
        field = seen.page.locator("input[placeholder='Search']").first
        field.wait_for()
        field.press_sequentially("refusal", delay=50)
        assert field.input_value() == "refusal"
        found = seen.page.get_by_text("Every refusal").last
        found.wait_for()
        found.click()
        seen.page.wait_for_url("**/refusals.html*")
        _quiet(seen, site)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "refusals", "cli/gate"])
def test_axe_finds_no_serious_fault(visit, site, name, theme):
    with visit("wide", theme) as seen:
        seen.open((site / f"{name}.html").as_uri())
        assert seen.axe_serious() == []
