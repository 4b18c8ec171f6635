"""The pages over real runs: what they hold, and how they refuse."""

import json
import os
import shutil

import pytest
from starlette.testclient import TestClient

from memruler.report.web.guard import POLICY
from memruler.report.web.listed import key_of
from memruler.report.web.runs import Asked

A, B = key_of("a"), key_of("b")
PAIR = {"base": A, "candidate": B}


def edit(path, **fields):
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | fields))


def test_nothing_is_shown_without_the_token(two_runs, client_of):
    client = client_of(two_runs, known=False)
    for path in ("/", f"/run/{A}", "/compare", "/trends", "/assets/page.css", "/data/overview"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert answer.headers["content-security-policy"] == POLICY
        assert "synthetic" not in answer.text


def test_the_list(two_runs, client_of):
    page = client_of(two_runs).get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-store"
    for key in (A, B):
        assert f'href="/run/{key}"' in page.text
    assert page.text.count("builtin:lexical") == 2
    assert "2 runs" in page.text


def test_a_folder_without_runs_says_what_to_do(tmp_path, client_of):
    page = client_of(tmp_path).get("/")
    assert page.status_code == 200
    assert "no run here yet" in page.text
    assert "memruler retrieval" in page.text
    assert "nothing to draw" in client_of(tmp_path).get("/trends").text


def test_what_changes_on_disk_shows_on_reload(runs, client_of):
    client = client_of(runs)
    assert client.get("/").text.count("<tr data-key") == 2
    shutil.copytree(runs / "a", runs / "later")
    assert ">later</a>" in client.get("/").text
    one = client.get(f"/run/{A}").text
    assert client.get(f"/run/{A}").text == one
    edit(runs / "a", warnings=["made for this test"])
    assert "1 warning" in client.get("/").text
    shutil.rmtree(runs / "a")
    assert client.get(f"/run/{A}").status_code == 404


def test_one_run(two_runs, client_of):
    page = client_of(two_runs).get(f"/run/{A}")
    assert page.status_code == 200
    assert "<h1" in page.text
    assert "recall_all@5" in page.text


def test_unfinished_and_broken_runs_have_a_page_that_says_so(runs, client_of):
    edit(runs / "a", state="running")
    (runs / "b" / "manifest.json").write_text("{")
    client = client_of(runs)
    for key, word in ((A, "unfinished"), (B, "broken")):
        assert f">{word}</strong>" in client.get("/").text
        page = client.get(f"/run/{key}")
        assert page.status_code == 200
        assert f"This run is {word}" in page.text
        for path in ("/data/overview", "/compare"):
            answer = client.get(path, params={"run": key, "base": key, "candidate": key})
            assert answer.status_code == 422
            assert "Traceback" not in answer.text


def test_a_run_that_breaks_behind_its_manifest_is_told_not_thrown(runs, client_of):
    (runs / "a" / "report.json").write_text("{")
    (runs / "a" / "queries.parquet").write_bytes(b"PAR1")
    (runs / "a" / "summary.json").write_bytes((runs / "b" / "summary.json").read_bytes())
    client = client_of(runs)
    assert client.get("/").status_code == 200
    page = client.get(f"/run/{A}")
    assert page.status_code in {200, 422}
    assert client.get("/compare", params=PAIR).status_code == 422
    assert client.get(f"/run/{B}").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/run/nothing",
        "/run/..%2fa",
        "/run/a",
        f"/run/{A}/manifest.json",
        "/run/" + "f" * 5000,
        "/assets/../app.py",
        "/assets/..%2f..%2fapp.py",
        "/assets/%2e%2e",
        "/assets/runs.html.j2",
        "/assets/",
        "/a/manifest.json",
        "/../../etc/passwd",
        "/favicon.ico",
        "/%00",
        "/compare",
        f"/compare?base={A}",
        f"/compare?base={A}&candidate=../b",
        "/data/overview",
        "/data/overview?run=../a",
    ],
)
def test_nothing_is_read_by_a_path_from_an_address(two_runs, client_of, path):
    answer = client_of(two_runs).get(path)
    assert answer.status_code == 404
    assert answer.headers["content-security-policy"] == POLICY
    assert "schema_version" not in answer.text
    assert "root:" not in answer.text


def test_undeclared_differences_are_refused_with_a_way_on(two_runs, client_of):
    client = client_of(two_runs)
    page = client.get("/compare", params=PAIR)
    assert page.status_code == 200
    assert "stop_words" in page.text
    declare = f"/compare?base={A}&amp;candidate={B}&amp;changed=system.settings.stop_words"
    assert f'href="{declare}"' in page.text
    assert "Declare all of it" in page.text
    found = client.get(declare.replace("&amp;", "&"))
    assert found.status_code == 200
    assert "Declare all of it" not in found.text
    assert "take back" in found.text
    assert f"/compare?base={B}&amp;candidate={A}&amp;changed=" in found.text
    assert found.text != page.text


def test_the_other_ways_to_compare_are_kept_in_every_address(two_runs, client_of):
    client = client_of(two_runs)
    for way, other in (("shared", "common"), ("common", "shared")):
        page = client.get("/compare", params={**PAIR, "changed": "system", way: "1"})
        assert page.status_code == 200
        assert f"candidate={A}&amp;changed=system&amp;{way}=1" in page.text  # exchanged
        assert f"changed=system&amp;{other}=1" in page.text
        assert page.text.count('aria-current="true"') == 1


def test_a_key_that_is_none_is_said(two_runs, client_of):
    answer = client_of(two_runs).get("/compare", params={**PAIR, "changed": "<b>no</b>"})
    assert answer.status_code == 422
    assert "<b>no" not in answer.text
    assert "&lt;b&gt;no" in answer.text


def test_a_run_against_itself(two_runs, client_of):
    answer = client_of(two_runs).get("/compare", params={"base": A, "candidate": A})
    assert answer.status_code == 422
    assert "itself" in answer.text


def test_trends_put_together_what_is_of_one_thing(runs, client_of):
    shutil.copytree(runs / "a", runs / "other")
    summary = json.loads((runs / "other" / "summary.json").read_text())
    summary["population"]["name"] = "another"
    (runs / "other" / "summary.json").write_text(json.dumps(summary))
    page = client_of(runs).get("/trends").text
    assert page.count('class="view-series"') == 1
    assert f'href="/run/{A}"' in page
    assert f'href="/run/{B}"' in page
    assert key_of("other") not in page


def test_styles_and_scripts(two_runs, client_of):
    client = client_of(two_runs)
    page = client.get("/").text
    for kind in ("css", "js"):
        found = client.get(f"/assets/view.{kind}")
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(
            "text/css" if kind == "css" else "text/javascript"
        )
        assert len(found.text) > 500
        assert f'/assets/view.{kind}"' in page


def test_hostile_names_and_reasons_are_text(runs, client_of):
    hostile = "<script>window.hit=1</script>\u202e\x1b[31m"
    (runs / "a").rename(runs / "<img src=x onerror=alert(1)>")
    edit(
        runs / "b",
        degraded=[hostile],
        fingerprint=json.loads((runs / "b" / "manifest.json").read_text())["fingerprint"]
        | {"system": {"name": hostile}},
    )
    text = client_of(runs).get("/").text
    assert "<script>window" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;window.hit=1" in text


def test_a_fault_of_ours_is_a_page_without_a_traceback(two_runs, client_of, monkeypatch):
    def fail(_):
        raise RuntimeError("secret detail")

    client = client_of(two_runs, raise_server_exceptions=False)
    monkeypatch.setattr("memruler.report.web.pages.Pages.runs", fail)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


def test_one_address_names_one_or_two_runs(two_runs):
    asked = Asked(two_runs)
    assert [run.name for run in asked.finished([("run", A)])] == ["a"]
    assert [run.name for run in asked.finished(list(PAIR.items()))] == ["a", "b"]


def test_head_is_answered_like_get_without_a_body(two_runs, client_of):
    client: TestClient = client_of(two_runs)
    answer = client.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_a_folder_s_name_may_be_any_bytes(runs, client_of):
    odd = os.fsdecode(b"od\xffd\x1b")
    try:
        (runs / "b").rename(runs / odd)
    except OSError:
        pytest.skip("this file system takes no such name")
    client, key = client_of(runs), key_of(odd)
    pair = f"base={key_of('a')}&candidate={key}"
    for path in ("/", f"/run/{key}", f"/compare?{pair}", f"/compare?{pair}&changed=stop_words",
                 f"/data/overview?run={key}", f"/data/overview?{pair}", "/trends"):  # fmt: skip
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "od" in answer.text
        assert "\x1b" not in answer.text
