"""Answers and grades under damage, links and a hostile server: told in one line, and mendable."""

import json
import os
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memruler.cli import answer, grade
from memruler.errors import FormatError, UsageError
from memruler.judges.readers.sentences import passage
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.store.binding import file_sha256
from memruler.store.folder import RunFolder

KEY = 'sk-"quoted"\\0123456789'
ANSWERS = "answers/extractive"
GRADES = f"{ANSWERS}/grades/lexical"


def call(verb, *arguments):
    result = CliRunner().invoke(verb.command, [str(a) for a in arguments])
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A run that was answered by the rule and graded by words."""
    root = tmp_path_factory.mktemp("runs")
    settings = {"instances": 1, "queries": 4, "limit": 12}
    with RunFolder.claim(root, "base") as folder:
        measure(plan_run(PlanSpec(corpus="synthetic", settings=settings)), folder, lambda *_: None)
    call(answer, root / "base")
    call(grade, root / "base", "--grader", "lexical")
    return root / "base"


@pytest.fixture
def run(graded, tmp_path):
    return shutil.copytree(graded, tmp_path / "base")


def edited(path, change):
    found = json.loads(path.read_text("utf-8"))
    change(found)
    path.write_text(json.dumps(found), encoding="utf-8")


BROKEN = {
    "empty": b"",
    "cut": b'{"version": 1, "na',
    "list": b"[]",
    "no utf-8": b'{"version":1,"name":"\xff"}',
    "deep": b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_the_hint_of_a_broken_manifest_mends_it(run, data):
    """It says to answer, or to grade, again."""
    before = (run / ANSWERS / "answers.parquet").read_bytes()
    (run / ANSWERS / "manifest.json").write_bytes(data)
    with pytest.raises(FormatError, match="answer the run again"):
        call(grade, run, "--grader", "lexical")
    call(answer, run)
    (run / GRADES / "manifest.json").write_bytes(data)
    assert "lexical" in call(grade, run, "--grader", "lexical")
    assert (run / ANSWERS / "answers.parquet").read_bytes() == before
    assert json.loads((run / GRADES / "manifest.json").read_text("utf-8"))["name"] == "lexical"


@pytest.mark.parametrize(("where", "verb"), [(ANSWERS, answer), (GRADES, grade)])
def test_what_a_newer_memruler_wrote_stays(run, where, verb):
    edited(run / where / "manifest.json", lambda found: found.update(version=9))
    before = (run / where / "manifest.json").read_bytes()
    with pytest.raises(FormatError, match="upgrade memruler"):
        call(verb, run)
    assert (run / where / "manifest.json").read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("where", [GRADES, f"{ANSWERS}/grades", ANSWERS, "answers"])
def test_no_grade_goes_through_a_link_inside_a_run(run, tmp_path, where):
    away = tmp_path / "away"
    shutil.move(run / where, away)
    (run / where).symlink_to(away)
    before = {p: p.stat().st_mtime_ns for p in away.rglob("*")}
    with pytest.raises(UsageError, match=r"link|not a folder"):
        call(grade, run, "--grader", "lexical")
    assert {p: p.stat().st_mtime_ns for p in away.rglob("*")} == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_a_run_is_followed(run, tmp_path):
    (tmp_path / "link").symlink_to(run)
    shutil.rmtree(run / GRADES)
    call(grade, tmp_path / "link", "--grader", "lexical")
    assert (run / GRADES / "manifest.json").is_file()


def test_answers_that_were_renamed_keep_their_grades_to_themselves(run):
    shutil.copytree(run / ANSWERS, run / "answers" / "copy")
    shutil.rmtree(run / "answers" / "copy" / "grades")
    before = {p.name: p.read_bytes() for p in (run / GRADES).iterdir()}
    call(grade, run, "--answers", "copy", "--grader", "lexical")
    assert {p.name: p.read_bytes() for p in (run / GRADES).iterdir()} == before
    made = json.loads((run / "answers/copy/grades/lexical/manifest.json").read_text("utf-8"))
    assert made["answers"]["name"] == "copy"


def test_golds_that_were_changed_are_not_graded_by(run):
    path = run / "queries.parquet"
    table = pq.read_table(path)
    rows = [{**row, "answer": "mine", "answer_json": '"mine"'} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    with pytest.raises(FormatError, match="not the table that this run sealed"):
        call(grade, run, "--grader", "lexical")


@pytest.mark.parametrize("item", [10**6, -1])
def test_answers_that_name_no_item_of_the_run_are_refused(run, item):
    path = run / ANSWERS / "answers.parquet"
    table = pq.read_table(path)
    rows = [{**row, "items": [item]} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    digest = file_sha256(RunFolder(path.parent), path.name)
    edited(run / ANSWERS / "manifest.json", lambda found: found["tables"].update(answers=digest))
    with pytest.raises(FormatError, match="an item that the run does not have"):
        call(grade, run, "--grader", "lexical")


@pytest.fixture
def asked(run, chat_server, request, tmp_path, monkeypatch):
    """Ask the scripted server; the run's files and what was printed, as one text."""
    pytest.importorskip("openai", reason="needs memruler[llm]")
    request.getfixturevalue("no_waiting")
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    words = ("--reader", "llm", "--endpoint", chat_server.url, "--model", "m")

    def ask():
        result = CliRunner().invoke(answer.command, [str(run), *words])
        files = [p for p in (*run.rglob("*"), *(tmp_path / "cache").rglob("*")) if p.is_file()]
        texts = [result.output, str(result.exception), *(repr(p.read_bytes()) for p in files)]
        return result, "\n".join(texts)

    ask.server, ask.run = chat_server, run
    return ask


def answers_of(run):
    return pq.read_table(run / "answers" / "m" / "answers.parquet").to_pylist()


@pytest.mark.parametrize("count", [10**30, 2**63, -1, 1.5])
def test_a_count_of_tokens_that_cannot_be_is_none(asked, count):
    def say(body):
        reply = asked.server.completion(body, "yes")
        reply["usage"] = {"prompt_tokens": count, "completion_tokens": 1, "total_tokens": 1}
        return 200, reply

    asked.server.answer = say
    result, _ = asked()
    assert result.exit_code == 0, result.exception
    assert {row["prompt_tokens"] for row in answers_of(asked.run)} == {None}


def test_a_flood_in_a_small_field_is_cut(asked):
    asked.server.finish = "\x1b[2J" + "f" * 1_000_000
    result, told = asked()
    assert result.exit_code == 0, result.exception
    assert "\x1b" not in told
    assert all(len(row["finish"]) < 300 for row in answers_of(asked.run))


@pytest.mark.parametrize(
    "say",
    [
        lambda _: (200, {"error": {"message": KEY, "more": [KEY]}}),
        lambda _: (400, {"error": {"message": f"wrong {KEY}", KEY: KEY}}),
        lambda body: (200, {**asked_of(body), "model": {"k": KEY}}),
    ],
)
def test_a_key_in_quotes_is_hidden_too(asked, monkeypatch, say):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    asked.server.answer = say
    _, told = asked()
    assert "0123456789" not in told
    assert "***" in told


def asked_of(body):
    message = {"role": "assistant", "content": "yes"}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def test_a_stand_in_for_a_key_changes_no_answer(asked, monkeypatch):
    """Local servers are given `x` or `EMPTY`, which is no secret."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    asked.server.say = lambda _: "a box of matches, extra large"
    result, _ = asked()
    assert result.exit_code == 0, result.exception
    assert {row["text"] for row in answers_of(asked.run)} == {"a box of matches, extra large"}


@given(st.text(alphabet=" \n\t.!?\"')a", max_size=40))
def test_sentences_end_where_a_slower_pattern_ends_them(text):
    slow = re.compile(r"(?<=[.!?…])[\"'\u201d\u2019)\]]*\s+|\s*\n\s*")
    parts = [part.strip() for part in slow.split(text)]
    assert [found.text for found in passage(text).sentences] == [part for part in parts if part]
