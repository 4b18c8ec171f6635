"""The report as a file: it needs nothing, executes nothing that it is told, and says what is so."""

import base64
import hashlib
import json
import os
import re
import shutil

import pytest

from memruler.report.asked import report_of
from memruler.report.explore.embed import LIMIT
from memruler.report.html import report as html
from memruler.report.read import read_run

MOST = 2_000_000
"""Bytes of a page beside its data."""

ELEMENTS = re.compile(
    "html|head|meta|title|style|body|header|nav|main|section|article|div|h[1-5]|p|ol|ul|li|dl|dt|dd"
    "|a|strong|em|code|kbd|span|small|figure|figcaption|details|summary|noscript|script"
    "|table|caption|thead|tbody|tr|th|td|form|button|label|select|option|input"
    "|svg|g|path|line|rect|text|tspan"
)
"""What our templates consist of: nothing that loads, frames or animates."""

ATTRIBUTES = {"href", "src", "action", "formaction", "srcset", "data", "poster", "xlink:href"}
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


@pytest.fixture(scope="session", params=["one", "compared", "refused", "three", "facts", "hostile"])
def page(request, own, hostile, page_of):
    """A page of each kind."""
    runs, _ = hostile
    return {
        "one": lambda: page_of(own["a"]),
        "compared": lambda: page_of(own["a"], own["b"], changed=["stop_words"], shared=True),
        "refused": lambda: page_of(own["a"], own["b"]),
        "three": lambda: page_of(*own.values(), changed=["stop_words"], shared=True),
        "facts": lambda: page_of(own["d"]),
        "hostile": lambda: page_of(*runs, changed=["system"], shared=True),
    }[request.param]()


def test_a_page_loads_nothing(page):
    for tag, attributes in page.tags:
        assert ELEMENTS.fullmatch(tag), tag
        for name in ATTRIBUTES & attributes.keys():
            assert attributes[name].startswith("#"), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    for tag, _, text in page.inside:
        if tag == "style":
            assert "@import" not in text
            assert "url(" not in text
    scripts = [attributes for tag, attributes, _ in page.inside if tag == "script"]
    assert [one for one in scripts if one.get("type") not in {None, "application/json"}] == []


def test_the_policy_lets_through_the_page_s_own_parts_and_nothing_else(page):
    first, second, *_ = page.named("meta")
    assert first == {"charset": "utf-8"}
    # Before anything that could load or run.
    assert second["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in second["content"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["img-src"] == "data:"
    assert policy.keys() == {
        *("default-src", "script-src", "style-src", "img-src", "base-uri", "form-action")
    }
    assert "unsafe" not in second["content"]
    assert "http" not in second["content"]
    for tag in ("script", "style"):
        own = [
            hashlib.sha256(text.encode()).digest()
            for kind, attributes, text in page.inside
            if kind == tag and "type" not in attributes
        ]
        digests = [f"'sha256-{base64.b64encode(one).decode()}'" for one in own]
        assert policy[f"{tag}-src"].split() == digests


def test_a_page_is_small_beside_its_data(page):
    assert len(page.bare.encode()) < MOST
    assert len(page.text.encode()) < MOST + LIMIT


def test_nothing_in_a_page_turns_hides_or_ends_a_text(page):
    assert UNSEEN.findall(page.text) == []


def test_hostile_text_stands_there_as_text(hostile, page_of):
    runs, module = hostile
    page = page_of(runs[0])
    told = json.dumps(page.data, ensure_ascii=False)
    assert module.LONG not in told  # cut, and the whole length is told
    assert len(module.LONG) in page.data["lengths"].values() or str(len(module.LONG)) in told
    for script in module.SCRIPTS:
        assert json.dumps(script, ensure_ascii=False)[1:-1] in told
    for script in module.SCRIPTS[:4]:  # in a category, a setting, a warning
        assert script in page.said
    assert r"\u202eright to left\u202c" in page.said
    assert r"\u001b[31mred" in page.said


def test_every_page_is_the_same_bytes_again(own, page_of):
    pair = (own["a"], own["b"])
    one, other = (page_of(*pair, changed=["stop_words"], shared=True).text for _ in range(2))
    assert one == other


def test_the_headline_stands_with_all_it_is_over(measured, page_of):
    # Lists of six hits: some reach fewer than five sessions.
    path = measured("short", "builtin:lexical", "--limit", "6")
    summary = read_run(path).summary
    (row,) = (c for c in summary.slices[0].cutoffs if (c.level, c.k) == ("session", 5))
    assert row.counted < row.of
    page = page_of(path)
    people = summary.population
    value = row.values["recall_all"]
    for words in (
        f"{value:.4f} recall_all@5 over {row.counted} of {row.of} measurable questions",
        f"For {round(value * row.counted)} of {row.counted} questions",
        f"Population {people.name}, {people.measured} measured of {people.corpus_queries} queries",
        f"Short lists {row.of - row.counted} questions got fewer than 5 sessions",
        f"{row.padded['recall_all']:.4f} over all {row.of}, missing ranks counted as misses",
        "Target raw",
        "Ruler exact: ",
        "no interval",
    ):
        assert words in page.said
    assert page.sections == [
        *("recall-curve", "category-bars", "age-rank", "latency", "failure-stages"),
        *("scores", "left-out", "provenance", "comparability", "queries"),
    ]


def test_a_run_that_is_one_draw_is_not_called_exact(own, page_of, tmp_path):
    path = shutil.copytree(own["a"], tmp_path / "a")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["determinism"]["identical"] -= 1
    (path / "manifest.json").write_text(json.dumps(manifest))
    said = page_of(path).said
    assert "Ruler one draw: 1 of " in said
    assert "Ruler exact" not in said


def test_a_stand_in_is_told_before_any_number(own, page_of, tmp_path):
    path = shutil.copytree(own["a"], tmp_path / "a")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["degraded"] = ["a toy <b>stood in</b>"]
    (path / "manifest.json").write_text(json.dumps(manifest))
    said = page_of(path).said
    assert 0 < said.index("a toy <b>stood in</b>") < said.index("recall_all@5 over")


def test_a_comparison_says_what_its_record_says(own, page_of):
    pair = (own["a"], own["b"])
    found = report_of(pair, changed=["stop_words"], shared=True)
    head = found.headline
    page = page_of(*pair, changed=["stop_words"], shared=True)
    assert "Baseline a · candidate b" in page.said
    assert f"recall_all@5 {head.base:.4f} → {head.candidate:.4f}" in page.said
    assert f"{head.wins} score higher" in page.said
    assert f"{head.losses} score lower" in page.said
    assert page.sections[:3] == ["recall-curve", "category-bars", "forest"]
    assert {"moved", "differences", "left-out", "provenance", "comparability", "queries"} <= set(
        page.sections
    )
    assert [run["name"] for run in page.data["overview"]["runs"]] == ["a", "b"]


def test_two_that_do_not_compare_show_every_reason_and_no_difference(own, page_of):
    pair = (own["a"], own["b"])
    refused = report_of(pair)
    page = page_of(*pair)
    assert "Not comparable" in page.said
    assert page.sections == ["reasons", "differences"]
    assert page.data is None
    for reason in refused.reasons:
        assert " ".join(reason.what.split()) in page.said
        assert reason.hint in page.said
    for path in pair:  # nor a number that someone could subtract
        (value,) = (
            c.values["recall_all"]
            for c in read_run(path).summary.slices[0].cutoffs
            if (c.level, c.k) == ("session", 5)
        )
        assert f"{value:.4f}" not in page.said


def test_of_three_a_difference_stands_only_beside_those_that_compare(own, page_of):
    runs = list(own.values())
    found = report_of(runs, changed=["stop_words"], shared=True)
    page = page_of(*runs, changed=["stop_words"], shared=True)
    first, second, third = found.runs
    assert first.delta is None
    assert third.delta is None
    assert "1 of the 2 others compare with the baseline." in page.said
    assert f"{second.value:.4f} {second.counted} of {second.of} {second.delta.delta:+.4f}" in (
        page.said
    )
    assert f"{third.value:.4f} {third.counted} of {third.of} not comparable - -" in page.said
    assert f"a against d {len([r for r in third.refused if r.code == 'undeclared'])} diff" in (
        page.said
    )
    for reason in third.refused:
        assert " ".join(reason.what.split()) in page.said


def test_a_store_of_facts_has_its_targets(own, page_of):
    page = page_of(own["d"])
    assert {"target-slopes", "target-card"} <= set(page.sections)
    scores = read_run(own["d"]).targets.scores
    for one in scores.targets:
        assert f"{one.own.depths[-1].recall_all:.4f}" in page.said
    assert not {"target-slopes", "target-card"} & set(page_of(own["a"]).sections)


def test_answers_have_their_part_where_there_are_any(own, page_of, hostile):
    assert "answers" not in page_of(own["a"]).sections
    runs, _ = hostile
    assert "answers" in page_of(runs[0]).sections


def test_a_page_that_cannot_hold_all_points_to_the_view(own, page_of, monkeypatch):
    assert "memruler view" not in page_of(own["a"]).said
    monkeypatch.setattr(html, "MANY", 10)
    assert "This run has 48 questions" in page_of(own["a"]).said


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_a_folder_s_name_may_be_any_bytes(own, page_of, tmp_path):
    odd = tmp_path / os.fsdecode(b"od\xffd<b>\x1b")
    try:
        shutil.copytree(own["b"], odd)
    except OSError:
        pytest.skip("this file system takes no such name")
    pages = (
        page_of(odd),
        page_of(own["a"], odd, changed=["stop_words"], shared=True),
        page_of(own["a"], odd),
        page_of(own["a"], own["d"], odd, changed=["stop_words"]),
    )
    for page in pages:
        assert page.text.encode()
        assert r"od\udcffd<b>\u001b" in page.said
