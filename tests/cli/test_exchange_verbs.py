import gzip
import json
import subprocess
import sys

import pytest

from memruler.cli.main import main
from memruler.replay.run import measure
from memruler.store.folder import RunFolder


def _run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    return ended.value.code, *capsys.readouterr()


@pytest.fixture
def files(tmp_path):
    lines = '{"query_id":"q1","ranked":["a","x"]}\n{"query_id":"q2","ranked":["x","b"]}\n'
    (tmp_path / "t.jsonl").write_text(lines)
    gold = '{"query_id":"q%d","groups":[{"raw":["%s"],"canonical":["f"]}]}\n'
    (tmp_path / "m.jsonl").write_text(gold % (1, "a") + gold % (2, "b"))
    return "--trace", tmp_path / "t.jsonl", "--targets", tmp_path / "m.jsonl"


def test_a_bundle_is_made_and_verified(capsys, tmp_path, files):
    out = tmp_path / "out"
    code, printed, _ = _run(capsys, "export", *files, "--format", "bundle", "--out", out)
    assert code == 0
    assert str(out / "MANIFEST.json") in printed.splitlines()
    code, printed, _ = _run(capsys, "verify", out)
    assert code == 0
    assert printed.startswith("VERIFIED")
    assert all(len(line) <= 80 for line in printed.splitlines())
    code, printed, _ = _run(capsys, "verify", out, "--json")
    assert code == 0
    assert json.loads(printed)["passed"] is True

    (out / "README.md").write_text("other")
    code, printed, error = _run(capsys, "verify", out)
    assert code == 3
    assert printed.startswith("NOT VERIFIED")
    assert "checksums" in error
    code, printed, _ = _run(capsys, "verify", out, "--json")
    assert code == 3
    assert json.loads(printed)["passed"] is False


@pytest.mark.parametrize("form", ["trec", "jsonl", "hits", "parquet"])
def test_each_form_is_written_and_never_over_another(capsys, tmp_path, files, form):
    call = ("export", *files, "--format", form, "--out", tmp_path / "out")
    code, printed, _ = _run(capsys, *call)
    assert code == 0
    assert len(printed.splitlines()) == (4 if form == "trec" else 2)
    code, _, error = _run(capsys, *call)
    assert code == 2
    assert "nothing is written over it" in error


def test_a_run_folder_is_written_and_scores_the_same(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured = "retrieval synthetic --limit 5 --system builtin:derived --stem r --json"
    subprocess.run(
        [sys.executable, "-m", "memruler", *measured.split()],
        check=True,
        capture_output=True,
    )
    names = ("--target", "raw,canonical", "-k", "1,5")
    code, printed, _ = _run(capsys, "score", "runs/r", *names, "--json")
    assert code == 0
    own = json.loads(printed)
    for form, ending in (("jsonl", ".jsonl.gz"), ("parquet", ".parquet"), ("bundle", ".parquet")):
        code, *_ = _run(
            capsys, "export", "runs/r", "--format", form, "--out", form, "--target", names[1]
        )
        assert code == 0
        here = "--trace", f"{form}/trace{ending}", "--targets", f"{form}/targets{ending}"
        code, printed, _ = _run(capsys, "score", *here, *names, "--json")
        assert code == 0
        again = json.loads(printed)
        for mine, theirs in zip(own["targets"], again["targets"], strict=True):
            assert mine["own"] == theirs["own"]
            assert mine["shared"] == theirs["shared"]
    code, *_ = _run(capsys, "verify", "bundle")
    assert code == 0


def test_what_does_not_go_together_is_told(capsys, tmp_path, files):
    code, _, error = _run(capsys, "export", "--format", "trec", "--out", tmp_path / "out")
    assert code == 2
    assert "nothing to read" in error
    code, _, error = _run(capsys, "verify", tmp_path)
    assert code == 2
    assert "not a bundle" in error
    (tmp_path / "both").mkdir()
    code, _, error = _run(
        capsys, "export", tmp_path, *files, "--format", "trec", "--out", tmp_path / "out"
    )
    assert code == 2


def test_hits_have_the_scores_of_the_run(capsys, tmp_path, make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0), make_instance(1)], limit=3)
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan, folder, lambda *_: None)
    out = tmp_path / "out"
    call = ("export", tmp_path / "r", "--format", "hits", "--target", "raw", "--out", out)
    code, _, error = _run(capsys, *call)
    assert (code, error) == (0, "")
    with gzip.open(out / "trace.jsonl.gz") as lines:
        hits = [json.loads(line) for line in lines]
    assert [(hit["query_id"], hit["rank"], hit["score"]) for hit in hits[:4]] == [
        ("inst-0:0", 1, 1.0),
        ("inst-0:0", 2, 0.0),
        ("inst-0:0", 3, 0.0),
        ("inst-0:1", 1, 1.0),
    ]
    call = ("score", "--trace", out / "trace.jsonl.gz", "--targets", out / "targets.jsonl.gz")
    _, again, _ = _run(capsys, *call, "--target", "raw", "-k", "1,3", "--json")
    _, first, _ = _run(capsys, "score", tmp_path / "r", "--target", "raw", "-k", "1,3", "--json")
    assert json.loads(again)["targets"][0]["own"] == json.loads(first)["targets"][0]["own"]


@pytest.mark.parametrize(("form", "told"), [("hits", True), ("trec", True), ("jsonl", False)])
def test_a_format_that_cannot_say_nothing_says_so(capsys, tmp_path, files, form, told):
    (tmp_path / "t.jsonl").write_text(
        '{"query_id":"q1","ranked":["a"]}\n{"query_id":"q2","ranked":[]}\n'
    )
    out = tmp_path / "out"
    code, _, error = _run(capsys, "export", *files, "--format", form, "--out", out)
    assert code == 0
    assert ("1 queries were answered with nothing" in error) == told
