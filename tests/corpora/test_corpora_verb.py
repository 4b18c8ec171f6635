"""`memruler corpora`: what a person sees."""

import json

import pytest
from click.testing import CliRunner

from memruler.cli.corpora import command
from memruler.corpora.checking import detect
from memruler.corpora.jsonl_format import schema_bytes
from memruler.corpora.registry import BUNDLED
from memruler.errors import CorpusError, UsageError


def run(*arguments):
    return CliRunner().invoke(command, [str(one) for one in arguments])


@pytest.fixture
def faulty(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "sessions": [{"turns": [{"speaker": "A"}]}]}\n\n')
    return path


def test_a_sound_file_is_counted():
    result = run("check", BUNDLED)
    assert result.exit_code == 0
    assert "instances  4" in result.stdout
    assert "sessions   48" in result.stdout
    assert "measurable 40 of 40 members" in result.stdout
    assert "left out   8 unanswerable_by_design" in result.stdout
    assert "note: Synthetic" in result.stdout
    assert result.stderr == ""


def test_every_fault_is_printed(faulty):
    result = run("check", faulty)
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        f"{faulty}:1: sessions[0].turns[0].text: is missing",
        f"{faulty}:2: is a blank line",
    ]
    assert "2 faults" in result.stderr


def test_json(faulty):
    sound = json.loads(run("check", BUNDLED, "--json").stdout)
    assert sound["faults"] == []
    assert sound["counts"]["queries"] == 48
    assert sound["info"]["populations"][0]["name"] == "answerable"
    result = run("check", faulty, "--json")
    assert result.exit_code == 2
    broken = json.loads(result.stdout)
    assert broken["counts"] is None
    assert [fault["line"] for fault in broken["faults"]] == [1, 2]


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("locomo/locomo10.json", "locomo"),
        ("locomo/zip_layout", "locomo"),
        ("longmemeval/longmemeval_s_cleaned.json", "longmemeval"),
        ("longmemeval/longmemeval_oracle.json", "longmemeval"),
    ],
)
def test_formats_are_told_apart(shared_samples, file, form):
    assert detect(shared_samples / file) == form
    result = run("check", shared_samples / file)
    assert result.exit_code == 0
    assert f"read as    {form}" in result.stdout


def test_the_format_can_be_named(shared_samples):
    result = run("check", shared_samples / "locomo" / "locomo10.json", "--format", "longmemeval")
    assert result.exit_code == 2
    assert "element 0" in result.stdout
    assert "wrong schema" in result.stdout


def test_damage_in_another_format_is_a_fault(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('[{"sample_id": "a"')
    result = run("check", path)
    assert result.exit_code == 2
    assert "truncated JSON" in result.stdout


def test_a_missing_file(tmp_path):
    for form in ("auto", "jsonl", "locomo", "longmemeval"):
        result = run("check", tmp_path / "nothing", "--format", form)
        assert isinstance(result.exception, CorpusError)
        assert "no such file" in str(result.exception)


def test_generate_writes_what_check_accepts(tmp_path):
    out = tmp_path / "made.jsonl"
    result = run("generate", "--out", out, "--instances", 2, "--sessions", 5, "--seed", 9)
    assert result.exit_code == 0
    assert result.stdout == f"{out}\n"
    assert "2 x 5 sessions" in result.stderr
    checked = run("check", out)
    assert checked.exit_code == 0
    assert "instances  2" in checked.stdout


def test_generate_is_repeatable_and_its_default_is_the_bundled_file(tmp_path):
    run("generate", "--out", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BUNDLED.read_bytes()


def test_generate_refuses_and_leaves_nothing(tmp_path):
    result = run("generate", "--out", tmp_path / "a", "--sessions", 1)
    assert isinstance(result.exception, UsageError)
    assert "sessions must be at least 5" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_long_list_of_faults_is_cut_and_json_has_all(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("5\n" * 1234)
    result = run("check", path)
    assert result.exit_code == 2
    told = result.stdout.splitlines()
    assert len(told) == 101
    assert told[-1] == "and 1,134 more; --json prints every one"
    assert "1234 faults" in result.stderr
    assert len(json.loads(run("check", path, "--json").stdout)["faults"]) == 1234
    path.write_text("5\n" * 100)
    assert len(run("check", path).stdout.splitlines()) == 100


TURNS = [{"turns": [{"speaker": "A", "text": "x"}]}, {"turns": [{"speaker": "A", "text": "y"}]}]


@pytest.mark.parametrize(
    ("queries", "why"),
    [
        ([{"text": "q"}], "no query names its evidence"),
        ([{"text": "q"}, {"text": "q", "answerable": False}], "no query names its evidence"),
        ([], "there is no query"),
        ([{"text": "q", "answerable": False}], "every query is meant to have no answer"),
        ([{"text": "q", "evidence": {"sessions": [0, 1]}}], "so any ranking is right"),
        ([{"text": "q"}, {"text": "q", "evidence": {"turns": [[0, 0]]}}], None),
    ],
)
def test_a_file_that_measures_nothing_says_so(tmp_path, queries, why):
    path = tmp_path / "quiet.jsonl"
    path.write_text(json.dumps({"id": "a", "sessions": TURNS, "queries": queries}))
    result = run("check", path)
    assert result.exit_code == 0
    whole = result.stdout.replace("\n" + " " * 11, " ")  # wrapped lines are one again
    notes = [line for line in whole.splitlines() if "nothing can be measured" in line]
    if why is None:
        assert notes == []
    else:
        (note,) = notes
        assert note.startswith("note: nothing can be measured: ")
        assert note.endswith(why)


def test_evidence_of_what_is_not_answerable_is_told(tmp_path):
    path = tmp_path / "odd.jsonl"
    odd = {"text": "q", "answerable": False, "evidence": {"turns": [[0, 0]]}}
    path.write_text(json.dumps({"id": "a", "sessions": TURNS, "queries": [{"text": "p"}, odd]}))
    assert (
        "note: 1 question with evidence although `answerable` is false: it is not used "
        "(the first: instance a, query 1)"
    ) in " ".join(run("check", path).stdout.split())


def test_what_locomo_refuses_by_design_is_not_odd(locomo_path):
    assert "although" not in run("check", locomo_path).stdout


def test_a_list_that_is_not_locomo_may_be_meant_as_jsonl(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps([{"id": "a", "sessions": TURNS}]))
    result = run("check", path)
    assert "`sample_id` is missing" in result.stdout
    assert "or, if this is jsonl: one object a line" in result.stdout


def test_the_help_cuts_nothing_off():
    _, _, verbs = run("--help").stdout.partition("Commands:")
    assert "schema" in verbs
    assert "..." not in verbs


def test_schema():
    assert run("schema").stdout.encode() == schema_bytes()
