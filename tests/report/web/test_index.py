"""The list of runs is the disk as it is now; what is wrong with one run stays with it."""

import json
import os
import shutil
from contextlib import suppress

import pytest

from memruler.errors import UsageError
from memruler.report.web import index as index_module
from memruler.report.web.index import RunIndex
from memruler.report.web.listed import key_of


def by_name(index):
    return {run.name: run for run in index.runs().values()}


def edit(path, **fields):
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | fields))


@pytest.fixture
def reads(monkeypatch):
    """Which runs were read, in order."""
    came = []
    whole = index_module.read_listed

    def noted(root, relative):
        came.append(relative)
        return whole(root, relative)

    monkeypatch.setattr(index_module, "read_listed", noted)
    return came


def test_a_run_says_what_its_summary_says(runs):
    summary = json.loads((runs / "a" / "summary.json").read_text())
    (row,) = [
        row for row in summary["slices"][0]["cutoffs"] if (row["level"], row["k"]) == ("session", 5)
    ]
    found = by_name(RunIndex(runs))
    assert list(found) == ["a", "b"]
    one = found["a"]
    assert (one.state, one.why, one.system, one.corpus) == (
        "finished",
        None,
        "builtin:lexical",
        "synthetic",
    )
    head = one.headline
    assert (head.metric, head.level) == ("recall_all@5", "session")
    assert (head.value, head.counted, head.of) == (
        row["values"]["recall_all"],
        row["counted"],
        row["of"],
    )
    assert one.point.group == found["b"].point.group
    assert one.point.value == head.value
    assert one.key == key_of("a") != found["b"].key


def test_only_what_changed_is_read_again(runs, reads):
    index = RunIndex(runs)
    index.runs()
    index.runs()
    assert reads == ["a", "b"]
    edit(runs / "a", warnings=["something"])
    assert by_name(index)["a"].warnings == 1
    assert reads == ["a", "b", "a"]
    (runs / "b" / "trace.parquet").unlink()
    assert "trace.parquet" in by_name(index)["b"].why
    assert reads[3:] == ["b"]


def test_runs_come_and_go(runs):
    index = RunIndex(runs)
    index.runs()
    shutil.copytree(runs / "a", runs / "c")
    assert list(by_name(index)) == ["a", "b", "c"]
    shutil.rmtree(runs / "a")
    assert list(by_name(index)) == ["b", "c"]
    shutil.rmtree(runs)
    assert index.runs() == {}


def test_a_run_that_is_not_finished_is_listed_as_such(runs):
    edit(runs / "a", state="running")
    run = by_name(RunIndex(runs))["a"]
    assert (run.state, run.headline, run.system) == ("unfinished", None, "builtin:lexical")
    assert "resume" in run.why


BREAKS = {
    "no JSON": lambda run: (run / "manifest.json").write_bytes(b"\xff{"),
    "no object": lambda run: (run / "manifest.json").write_text("[]"),
    "no manifest": lambda run: (run / "manifest.json").unlink(),
    "newer": lambda run: edit(run, schema_version=99),
    "field of another type": lambda run: edit(run, counts="many"),
    "no table": lambda run: (run / "queries.parquet").unlink(),
    "summary no JSON": lambda run: (run / "summary.json").write_text("{"),
    "a link for a manifest": lambda run: (
        (run / "manifest.json").rename(run / "other.json"),
        (run / "manifest.json").symlink_to("other.json"),
    ),
    "a folder for a manifest": lambda run: (
        (run / "manifest.json").unlink(),
        (run / "manifest.json").mkdir(),
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_run_is_listed_with_its_message_and_hides_no_other(runs, name):
    BREAKS[name](runs / "a")
    found = by_name(RunIndex(runs))
    assert found["a"].state == "broken"
    assert len(found["a"].why) > 10
    assert found["a"].headline is None
    assert found["b"].state == "finished"


@pytest.mark.parametrize("summary", [{"slices": []}, {}], ids=["no slices", "no cut-off"])
def test_a_run_without_a_headline_says_why(runs, summary):
    path = runs / "a" / "summary.json"
    whole = json.loads(path.read_text())
    whole["slices"][0]["cutoffs"] = []
    path.write_text(json.dumps(whole | summary))
    run = by_name(RunIndex(runs))["a"]
    assert (run.state, run.headline, run.point) == ("finished", None, None)
    assert "cut-off" in run.unscored
    path.unlink()
    assert "memruler score" in by_name(RunIndex(runs))["a"].unscored


def test_fingerprints_of_any_shape_are_shown_as_far_as_they_go(runs):
    edit(runs / "a", fingerprint={"system": "x", "corpus": {"name": 5}, "population": []})
    run = by_name(RunIndex(runs))["a"]
    assert (run.system, run.corpus, run.population) == (None, "5", None)


def test_runs_in_folders_of_their_own(runs):
    deep = runs / "sweep" / "one"
    deep.mkdir(parents=True)
    shutil.copytree(runs / "a", deep / "x")
    shutil.copytree(runs / "a", runs / "a" / "inside")
    shutil.copytree(runs / "a", runs / ".hidden")
    deeper = deep / "more"
    deeper.mkdir()
    shutil.copytree(runs / "a", deeper / "too-deep")
    (runs / "loop").symlink_to(runs)
    (runs / "linked").symlink_to(runs / "b")
    (runs / "dangling").symlink_to(runs / "nowhere")
    (runs / "empty").mkdir()
    (runs / "a file").write_text("x")
    assert list(by_name(RunIndex(runs))) == ["a", "b", "linked", "sweep/one/x"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such names")
def test_names_that_steer_a_page(runs):
    names = ["<img src=x onerror=alert(1)>", "\u202eevil\u200b", "a b&c=d#e?f", "q\"'`"]
    for name in names:
        shutil.copytree(runs / "a", runs / name)
    with suppress(OSError):  # a disk may take no such name
        shutil.copytree(runs / "a", os.fsdecode(os.fsencode(runs) + b"/\xff\xfe"))
    found = RunIndex(runs).runs()
    assert len(found) >= 6
    for key, run in found.items():
        assert key == run.key
        assert len(key) == 16
        assert set(key) <= set("0123456789abcdef")
        assert run.name.isprintable()
        assert run.state == "finished", run.why


def test_what_is_no_folder_of_runs(runs, tmp_path):
    with pytest.raises(UsageError, match="itself"):
        RunIndex(runs / "a")
    with pytest.raises(UsageError, match="cannot be listed"):
        RunIndex(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be listed"):
        RunIndex(tmp_path / "file")
    (tmp_path / "none").mkdir()
    assert RunIndex(tmp_path / "none").runs() == {}
