"""The view in a browser: every page, over runs that try everything, and the ways between them."""

import pytest

from memruler.report.web.listed import key_of


@pytest.fixture(scope="session")
def address(hostile, served):
    """Of the view of the hostile runs."""
    return served(hostile[0].parent)


@pytest.fixture(scope="session")
def keys(hostile):
    return [key_of(path.name) for path in hostile]


def paths(keys):
    one, two = keys
    pair = f"/compare?base={one}&candidate={two}"
    return {
        "list": "/",
        "run": f"/run/{one}",
        "other run": f"/run/{two}",
        "refused": pair,
        "compared": f"{pair}&changed=system&common=1",
        "trends": "/trends",
        "no page": "/nowhere",
        "no run": "/run/nothing",
    }


@pytest.mark.parametrize("name", list(paths(["", ""])))
def test_no_text_becomes_more_than_text(address, keys, visit, look, name):
    with visit(*look) as seen:
        seen.open(address)
        origin = address.partition("/?")[0]
        seen.open(origin + paths(keys)[name])
        if name.startswith("no "):  # the browser itself notes that the answer is none
            seen.faults = [fault for fault in seen.faults if "404" not in fault]
        assert seen.page.locator("h1").count() == 1
        seen.fits()
        assert seen.axe_serious() == []
        seen.shot("page.png")
        seen.blameless()


def test_the_token_leaves_the_address_and_the_cookie_is_out_of_reach(address, visit):
    with visit() as seen:
        answer = seen.open(address)
        assert answer.status == 200
        assert "token" not in seen.page.url
        assert seen.page.evaluate("document.cookie") == ""
        seen.blameless()
    with visit() as stranger:
        assert stranger.page.goto(address.partition("?")[0]).status == 403


def test_from_the_list_to_a_comparison_and_back(address, keys, visit):
    with visit() as seen:
        page = seen.page
        seen.open(address)
        compare = page.locator("#view-compare")
        assert not compare.is_visible()
        page.locator(f"input[name=base][value='{keys[0]}']").check()
        assert not compare.is_visible()
        page.locator(f"input[name=candidate][value='{keys[0]}']").check()
        assert not compare.is_visible()
        page.locator(f"input[name=candidate][value='{keys[1]}']").check()
        compare.click()
        seen.quiet()
        assert f"base={keys[0]}&candidate={keys[1]}" in page.url
        assert page.locator(".explorer").count() == 0  # refused: nothing stands side by side
        page.get_by_role("link", name="Declare all of it").click()
        page.get_by_role("link", name="only cut-offs at which both count").click()
        seen.quiet()
        assert page.locator(".explorer").count() == 1
        assert page.get_by_role("link", name="take back").count() >= 1
        page.get_by_role("link", name="Exchange them").click()
        seen.quiet()
        assert f"base={keys[1]}&candidate={keys[0]}" in page.url
        page.get_by_role("link", name="Trends").click()
        seen.quiet()
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
        seen.quiet()
        page.locator("#view-runs tbody a").first.click()
        seen.quiet()
        assert "/run/" in page.url
        page.go_back()
        seen.quiet()
        assert page.locator("#view-runs tbody tr").count() == 2
        seen.blameless()


def names_of(page):
    return page.eval_on_selector_all(
        "#view-runs tbody tr:not([hidden]) th a", "all => all.map(one => one.textContent)"
    )


def test_the_list_sorts_and_filters(two_runs, served, visit):
    with visit() as seen:
        page = seen.page
        seen.open(served(two_runs))
        assert names_of(page) == ["b", "a"]  # newest first
        head = page.locator("#view-runs th", has_text="run").first
        head.get_by_role("button").click()
        assert names_of(page) == ["a", "b"]
        assert head.get_attribute("aria-sort") == "ascending"
        head.get_by_role("button").press("Enter")
        assert names_of(page) == ["b", "a"]
        values = page.eval_on_selector_all(
            "#view-runs td[data-sort]:nth-child(4)",
            "all => all.map(one => Number(one.dataset.sort))",
        )
        page.get_by_role("button", name="headline").click()
        assert page.eval_on_selector_all(
            "#view-runs td[data-sort]:nth-child(4)",
            "all => all.map(one => Number(one.dataset.sort))",
        ) == sorted(values, reverse=True)
        box = page.get_by_role("searchbox")
        box.fill("nothing like it")
        assert names_of(page) == []
        assert page.get_by_text("0 of 2 shown").is_visible()
        box.fill("LEXICAL synth")
        assert len(names_of(page)) == 2
        page.reload()
        assert box.input_value() == "LEXICAL synth"
        seen.blameless()


def test_a_theme_that_was_chosen_stays(address, visit):
    with visit("wide", "light") as seen:
        page = seen.page
        seen.open(address)
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        button = page.locator("button.theme")
        while page.locator("html").get_attribute("data-theme") != "dark":
            button.click()
        dark = page.evaluate(paper)
        assert dark != light
        page.get_by_role("link", name="Trends").click()
        seen.quiet()
        assert page.evaluate(paper) == dark
        seen.blameless()


@pytest.mark.parametrize("name", ["run", "compared"])
def test_every_query_opens_and_stays_text(address, keys, visit, name):
    origin = address.partition("/?")[0]
    with visit("phone") as seen:
        seen.open(address)
        seen.open(origin + paths(keys)[name])
        assert seen.read_every_query() == 36
        seen.blameless()


def test_the_explorer_asks_the_server_for_what_it_shows(two_runs, served, visit):
    address = served(two_runs)
    with visit() as seen:
        page, calls = seen.page, []
        page.on("request", lambda request: calls.append(request.url))
        seen.open(address)
        page.get_by_role("link", name="a", exact=True).click()
        page.locator("[role=option]").first.wait_for()
        page.get_by_label("Question or id").fill("breakfast")
        page.wait_for_function("document.querySelectorAll('[role=option]').length < 48")
        assert all("breakfast" in text for text in page.locator("[role=option]").all_inner_texts())
        page.locator("[role=option]").first.click()
        page.locator(".explorer-query h3").wait_for()
        asked = [url.partition("/data/")[2] for url in calls if "/data/" in url]
        assert {call.partition("?")[0] for call in asked} == {"overview", "find", "detail"}
        assert all(f"run={key_of('a')}" in call for call in asked)
        assert any("text=breakfast" in call for call in asked)
        seen.blameless()
