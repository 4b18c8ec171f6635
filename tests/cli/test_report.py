"""`memruler report` as a program: what it writes where, its exit codes, and what it refuses."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memruler.cli.main import cli, main

TABLES = ("queries", "trace", "lineage", "timings", "ingest")


@pytest.fixture(scope="module")
def made(tmp_path_factory, own_cache):
    """A folder with two runs that differ in one setting, and a store of facts."""
    del own_cache
    root = tmp_path_factory.mktemp("report")
    for stem, *more in (
        ("a", "builtin:lexical"),
        ("b", "builtin:lexical", "--set", "stop_words=false"),
        ("d", "builtin:derived"),
    ):
        arguments = ["retrieval", "synthetic", "--out", str(root), "--stem", stem, "--system"]
        cli.main([*arguments, *more], standalone_mode=False)
    return root


@pytest.fixture
def runs(made, tmp_path):
    """A copy of them that a test may break."""
    return Path(shutil.copytree(made, tmp_path / "runs"))


@pytest.fixture
def report(tmp_path, monkeypatch, capsys):
    """Calls the verb; gives its exit code, what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["report", *map(str, words)])
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, told.err

    return call


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_run_as_every_form_and_nothing_in_it_is_changed(runs, report, tmp_path):
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    before = bytes_of(runs / "a")
    forms = ("--html", "a.html", "--markdown", "a.md")
    code, said, complained = report(runs / "a", *forms)
    assert (code, said, complained) == (0, "report: a.html\nreport: a.md\n", "")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# ")
    assert bytes_of(runs / "a") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md", "runs"]


def test_without_a_file_it_is_for_the_terminal_and_json_is_for_programs(runs, report):
    code, said, complained = report(runs / "a")
    assert (code, complained) == (0, "")
    assert "recall_all@5" in said
    code, said, complained = report(runs / "a", "--json")
    assert (code, complained) == (0, "")
    assert json.loads(said)["summary"]["slices"]


def test_two_that_compare_are_better_or_worse_with_nought(runs, report):
    for pair in ((runs / "a", runs / "b"), (runs / "b", runs / "a")):
        code, said, _ = report(*pair, "--changed", "stop_words", "--shared", "--json")
        assert code == 0
        assert json.loads(said)["outcome"] == "compared"


def test_two_that_do_not_compare_get_their_page_and_end_with_four(runs, report, tmp_path):
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    code, said, complained = report(runs / "a", runs / "b", "--html", "no.html")
    assert (code, said) == (4, "report: no.html\n")
    assert complained.startswith("refused: a and b do not compare")
    assert "Not comparable" in (tmp_path / "no.html").read_text(encoding="utf-8")
    code, said, complained = report(runs / "a", runs / "b", "--json", "--markdown", "no.md")
    assert (code, complained) == (4, "")
    assert json.loads(said)["outcome"] == "refused"
    assert (tmp_path / "no.md").exists()


def test_three_end_with_nought_whatever_compares(runs, report):
    code, said, _ = report(runs / "a", runs / "b", runs / "d", "--json")
    assert code == 0
    assert [run["delta"] for run in json.loads(said)["runs"]] == [None, None, None]


def test_a_page_takes_the_place_of_an_older_one_whole_or_not_at_all(runs, report, tmp_path):
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    path = tmp_path / "a.html"
    path.write_text("older", encoding="utf-8")
    assert report(runs / "a", "--html", path)[0] == 0
    page = path.read_bytes()
    assert page.startswith(b"<!doctype html>")
    (runs / "a" / "trace.parquet").write_bytes(b"")
    assert report(runs / "a", "--html", path)[0] == 2
    assert path.read_bytes() == page


@pytest.mark.parametrize("name", ["manifest.json", "page.html", "deeper/page.html"])
def test_a_page_never_lies_in_a_run_folder(runs, report, name):
    (runs / "b" / "deeper").mkdir()
    before = (runs / "b" / "manifest.json").read_bytes()
    for option in ("--html", "--markdown"):
        code, said, complained = report(runs / "a", runs / "b", option, runs / "b" / name)
        assert (code, said) == (2, "")
        assert "in which nothing is changed" in complained
    assert (runs / "b" / "manifest.json").read_bytes() == before
    assert not list(runs.rglob("page.html"))


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_what_cannot_be_written_ends_with_two(runs, report, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "target.html")
    (tmp_path / "file").write_text("", encoding="utf-8")
    cases = [
        ("nowhere/page.html", "no such file or folder"),
        ("file/page.html", "file"),
        ("link.html", "symbolic link"),
        ("runs", "is a directory"),
        ("", "must not be empty"),
    ]
    if os.geteuid():
        (tmp_path / "shut").mkdir(mode=0o555)
        cases.append(("shut/page.html", "permission"))
    for path, words in cases:
        code, said, complained = report(runs / "a", "--markdown", path)
        assert (code, said) == (2, ""), path
        assert words in complained.lower()
    assert not (tmp_path / "target.html").exists()


def test_options_that_would_do_nothing_are_refused(runs, report, tmp_path):
    for words, said in (
        ((), "Missing argument"),
        (("--open",), "--open shows the file of --html"),
        (("--path", "x"), "--path is the file of a --corpus"),
        (("--corpus", "synthetic"), "--corpus is read for --html alone"),
        (("--html", "x", "--markdown", "./x"), "the same file"),
        (("--changed", "system"), "one run is not compared"),
        (("--shared",), "one run is not compared"),
    ):
        code, printed, complained = report(*([runs / "a"] if words else []), *words)
        assert (code, printed) == (2, ""), words
        assert said in complained
    a, b, d = (runs / stem for stem in "abd")
    for words, said in (
        ((a, a), "itself"),
        ((a, b, a), "twice"),
        ((a, b, "--changed", "nonsense"), "neither run has such a key"),
        ((a, b, d, "--changed", "nonsense"), "neither run has such a key"),
        ((tmp_path / "nowhere",), "no such folder"),
        ((tmp_path,), "not a run folder"),
    ):
        code, printed, complained = report(*words)
        assert (code, printed) == (2, ""), words
        assert said in complained


def test_a_corpus_that_was_not_measured_is_refused(runs, report, tmp_path):
    path = tmp_path / "other.jsonl"
    cli.main(["corpora", "generate", "--out", str(path), "--instances", "1"], standalone_mode=False)
    code, _, complained = report(
        *(runs / "a", "--html", "a.html", "--corpus", "jsonl", "--path", path)
    )
    assert code == 2
    assert "the corpus is not the one of the run" in complained
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
@pytest.mark.parametrize(
    "name", [*(f"{name}.parquet" for name in TABLES), "scores.parquet", "manifest.json",
             "summary.json", "report.json"]
)  # fmt: skip
def test_a_damaged_run_ends_with_one_line(runs, report, tmp_path, name, damage):
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    path = runs / "a" / name
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-20] if damage == "cut" else b"{\x00\xff")
    code, said, complained = report(runs / "a", "--html", "a.html")
    assert (code, said) == (2, "")
    assert complained.startswith("memruler: ")
    assert len(complained.splitlines()) == 1
    assert not (tmp_path / "a.html").exists()


def test_without_the_extra_only_the_page_is_not_to_be_had(runs, report, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    code, said, complained = report(runs / "a", "--html", "a.html")
    assert (code, said) == (2, "")
    assert "pip install 'memruler[html]'" in complained
    assert len(complained.splitlines()) == 1
    assert not (tmp_path / "a.html").exists()
    assert report(runs / "a", "--markdown", "a.md")[0] == 0
    assert report(runs / "a", "--json")[0] == 0


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_a_folder_s_name_may_be_any_bytes(runs, report, tmp_path):
    odd = runs / os.fsdecode(b"od\xffd")
    try:
        (runs / "b").rename(odd)
    except OSError:
        pytest.skip("this file system takes no such name")
    for words in ((odd,), (runs / "a", odd, "--changed", "stop_words", "--shared")):
        for form in ("--markdown", "--json"):
            more = ("out.md",) if form == "--markdown" else ()
            assert report(*words, form, *more)[0] == 0
        assert report(*words)[0] == 0
    assert r"od\udcffd" in (tmp_path / "out.md").read_text(encoding="utf-8").replace("\\\\", "\\")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom memruler.cli.main import main\ntry:\n    main(['report', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "assert not {'pyarrow', 'jinja2', 'rich', 'vl_convert'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
