"""`memruler answer`: a run becomes answers, by a rule, by a model, by the memory or from a file."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress

import jsonschema
import pytest
from click.testing import CliRunner

from memruler.cli.answer import command
from memruler.errors import InstrumentError, Interrupted, MemrulerError, UsageError
from memruler.judges.budget import most_tokens
from memruler.judges.rubric import Message
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.report.schemas import schema
from memruler.scoring.answer_load import load_items
from memruler.store.folder import RunFolder

QUERIES = 8

SYSTEM = """
from memruler.model.system import Hit, Ranking, SystemIdentity


class Mine:
    def identity(self):
        return SystemIdentity(name="mine", version="1", digest="")

    def open(self, namespace):
        return Store()


class Store:
    def __init__(self):
        self.turns = []

    def ingest(self, session):
        self.turns += session.turns

    def settle(self):
        pass

    def search(self, text, k, at):
        hits = [Hit(item=t.key, sources=(t.key,), text=t.text) for t in self.turns[:k]]
        return Ranking(tuple(hits))

    def answer(self, text, at):
        if "?" not in text:
            raise ValueError(text)
        return f"{at:%Y} {text[:10]}"

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Runs of the synthetic corpus, by their stem."""
    root = tmp_path_factory.mktemp("runs")
    mine = root / "mine.py"
    mine.write_text(SYSTEM, encoding="utf-8")
    settings = {"instances": 2, "queries": QUERIES // 2, "limit": 12}
    specs = {
        "lexical": PlanSpec(corpus="synthetic", settings=settings),
        "mine": PlanSpec(
            corpus="synthetic", system=f"{mine}:Mine", settings={**settings, "answers": True}
        ),
    }
    for stem, spec in specs.items():
        with RunFolder.claim(root, stem) as folder:
            measure(plan_run(spec), folder, lambda *_: None)
    return root


@pytest.fixture
def run(measured, tmp_path):
    """A copy, so that no test sees another's answers."""
    return copied(measured / "lexical", tmp_path)


def copied(path, to):
    target = to / path.name
    target.mkdir()
    for file in path.glob("*.*"):
        (target / file.name).write_bytes(file.read_bytes())
    return target


@pytest.fixture
def model(chat_server, request, tmp_path, monkeypatch):
    """The scripted server with a cache of its own, and the words that name it."""
    request.getfixturevalue("no_waiting")
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    chat_server.words = ("--reader", "llm", "--endpoint", chat_server.url, "--model", "m")
    chat_server.say = lambda text: f"answer {text.count('excerpt')}"
    return chat_server


def call(*arguments):
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def responses(run, name):
    return [item.response for item in load_items(RunFolder.open(run), name)]


def answers(run, name):
    return (run / "answers" / name / "answers.parquet").read_bytes()


def test_the_rule_answers_without_a_model(run):
    result = call(run)
    assert result.output.splitlines()[0] == "8 answered, 0 empty, 0 without an answer, of 8 queries"
    assert "reader   extractive: a rule without a model" in result.output
    assert "given    the first 10 hits of each query" in result.output
    assert "--answers extractive" in result.output
    assert max(map(len, result.output.splitlines())) <= 80 or len(str(run)) > 60
    assert len(responses(run, "extractive")) == QUERIES
    first = answers(run, "extractive")
    call(run)
    assert answers(run, "extractive") == first
    with pytest.raises(UsageError, match=r"k 10 there, 5 now.*choose another --name"):
        call(run, "-k", 5)
    call(run, "-k", 5, "--name", "five")
    manifest = json.loads(call(run, "-k", 5, "--name", "five", "--json").stdout)
    jsonschema.validate(
        manifest, json.loads(schema("answers.schema.json")), cls=jsonschema.Draft202012Validator
    )
    assert (manifest["k"], manifest["name"]) == (5, "five")
    assert manifest["counts"]["queries"] == QUERIES


def test_a_run_that_asked_for_less_is_read_as_deep_as_it_goes(tmp_path):
    settings = {"instances": 1, "queries": 2, "limit": 3}
    with RunFolder.claim(tmp_path, "shallow") as folder:
        measure(plan_run(PlanSpec(corpus="synthetic", settings=settings)), folder, lambda *_: None)
    assert "the first 3 hits" in call(tmp_path / "shallow").output
    with pytest.raises(UsageError, match="asked for 4 hits, only for 3"):
        call(tmp_path / "shallow", "-k", 4, "--name", "x")


def test_a_model_answers_and_is_counted(run, model):
    out = call(run, *model.words, "--price-in", 2, "--price-out", 10, "--seed", 5).output
    assert "m @ 127.0.0.1" in out
    assert "temperature  0.0 sent; honoured: unknown" in out
    assert "seed         5 sent; honoured: unknown" in out
    assert f"asked        {QUERIES} requests now, 0 replies from before" in out
    manifest = json.loads((run / "answers" / "m" / "manifest.json").read_text("utf-8"))
    usage = manifest["usage"]
    sent = sum(len(said["content"].split()) for body in model.seen for said in body["messages"])
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (sent, 2 * QUERIES)
    assert usage["cost"] == pytest.approx((2 * sent + 10 * 2 * QUERIES) / 1e6)
    assert manifest["usage_total"] == {**usage, "requests": QUERIES}
    assert manifest["reader"]["prompt"] == "reader:brief"
    assert manifest["reader"]["settings"]["seed"] == 5
    # What was sent is the question with its texts, and nothing that the data set labels.
    told = json.dumps([body["messages"] for body in model.seen])
    items = list(load_items(RunFolder.open(run), "m"))
    assert not any(item.id in told or item.instance_key in told for item in items)
    assert not any(json.dumps(item.category)[1:-1] in told for item in items)
    assert all("excerpt 10" in body["messages"][1]["content"] for body in model.seen)


def test_the_same_command_again_pays_for_nothing_and_changes_nothing(run, model):
    call(run, *model.words)
    before = {p.name: p.read_bytes() for p in (run / "answers" / "m").iterdir()}
    out = call(run, *model.words).output
    assert f"0 requests now, {QUERIES} replies from before" in out
    assert {p.name: p.read_bytes() for p in (run / "answers" / "m").iterdir()} == before
    assert len(model.seen) == QUERIES


def test_another_profile_or_model_needs_another_name(run, model):
    call(run, *model.words)
    for more in (("--profile", "free"), ("--context-chars", 100), ("--temperature", 1)):
        with pytest.raises(UsageError, match="choose another --name"):
            call(run, *model.words, *more)
    assert len(model.seen) == QUERIES
    call(run, *model.words, "--profile", "free", "--name", "free")
    model.model = "m-2027"
    with pytest.raises(InstrumentError, match=r"m-2027"):
        call(run, *model.words, "--draw", "again")


def test_repeats_are_draws_of_their_own(run, model):
    model.say = lambda _: f"draw {len(model.seen) % 3}"
    call(run, *model.words, "--repeats", 3, "--parallel", 1, "--seed", 1)
    assert len(model.seen) == 3 * QUERIES
    found = list(load_items(RunFolder.open(run), "m"))
    assert [item.repeat for item in found[:3]] == [0, 1, 2]
    assert len({item.response for item in found[:3]}) == 3
    manifest = json.loads((run / "answers" / "m" / "manifest.json").read_text("utf-8"))
    assert manifest["reader"]["honoured"]["seed"].startswith("no (")


def test_what_the_server_refuses_is_an_answer_that_failed(run, model):
    refused = {"error": {"message": "too long", "type": "invalid_request_error"}}
    model.answer = lambda _: (400, refused) if len(model.seen) == 1 else ""
    out = call(run, *model.words, "--parallel", 1).output
    assert out.startswith("0 answered, 7 empty, 1 without an answer, of 8 queries")
    items = list(load_items(RunFolder.open(run), "m"))
    assert items[0].response is None
    assert items[0].error.startswith("refused: ")
    assert [item.response for item in items[1:]] == [""] * 7


def test_a_server_that_fails_leaves_nothing(run, model):
    model.say = lambda _: (401, {"error": {"message": "no key"}})
    with pytest.raises(InstrumentError, match="no key"):
        call(run, *model.words)
    assert not (run / "answers").exists()


def test_a_cap_stops_and_the_same_command_goes_on(run, model):
    words = (*model.words, "--parallel", 1, "--max-tokens", 5)
    call(run, *words, "--name", "whole")
    paid = len(model.seen)
    sent = [[said["content"] for said in body["messages"]] for body in model.seen]
    held = max(most_tokens([Message("user", text) for text in texts]) for texts in sent)
    used = max(sum(len(text.split()) for text in texts) for texts in sent)
    cap = (*words, "--draw", "x", "--max-total-tokens", held + 5 + 3 * used)
    with pytest.raises(Interrupted, match="the cap of"):
        call(run, *cap)
    assert paid < len(model.seen) < paid + QUERIES
    for _ in range(10):
        with suppress(Interrupted):
            call(run, *cap)
            break
    assert len(model.seen) == paid + QUERIES
    assert answers(run, "m") == answers(run, "whole")


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_called_again_it_pays_for_no_reply_twice(run, model, how):
    parallel, after, enough, gone = 2, 4, threading.Event(), threading.Event()
    asked = Counter()

    def say(text):
        with model.lock:
            asked[text] += 1
            if sum(asked.values()) > after:
                enough.set()
        if enough.is_set():
            gone.wait(60)
        return f"said {len(text)}"

    model.say = say
    words = [str(run), *model.words, "--parallel", str(parallel)]
    program = [sys.executable, "-m", "memruler", "answer", *words]
    child = subprocess.Popen(program, stderr=subprocess.PIPE)
    assert enough.wait(60)
    child.send_signal(how)
    _, told = child.communicate(timeout=60)
    gone.set()
    if how == signal.SIGINT:
        assert child.returncode == 130
        assert b"pays for none twice" in told
    assert not (run / "answers" / "m" / "manifest.json").exists()

    before = len(model.delivered)
    first = Counter(asked)
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(asked) == QUERIES
    # What was asked twice was under way when the kill came.
    assert sum(asked.values()) - QUERIES <= parallel
    assert max(asked.values()) <= 2
    assert len(model.delivered) - before <= QUERIES - sum(first.values()) + parallel
    assert sorted(responses(run, "m")) == sorted(f"said {len(text)}" for text in asked)
    call(run, *model.words)
    assert sum(asked.values()) - QUERIES <= parallel


def test_the_memory_itself_answers(measured, tmp_path, run):
    mine = copied(measured / "mine", tmp_path)
    out = call(mine, "--reader", "system").output
    assert "8 answered, 0 empty, 0 without an answer, of 8 queries" in out
    assert "reader   the memory itself: mine" in out
    assert all(text[:5].strip().isdigit() for text in responses(mine, "system"))
    with pytest.raises(UsageError, match="did not ask the system"):
        call(run, "--reader", "system")


def test_answers_from_a_file(run, tmp_path):
    call(run)
    items = load_items(RunFolder.open(run), "extractive")
    ids = [f"{item.instance_key}/{item.id}" for item in items]
    path = tmp_path / "of gpt.jsonl"
    path.write_text(
        "".join(json.dumps({"question_id": i, "hypothesis": "x"}) + "\n" for i in [*ids[2:], "no"]),
        encoding="utf-8",
    )
    out = call(run, "--from", path).output
    assert "6 answered, 0 empty, 2 without an answer, of 8 queries" in out
    assert "warning  2 queries have no answer in the file" in out
    assert "warning  1 ids of the file are no queries of the run: no" in out
    assert responses(run, "of-gpt") == [None, None, *["x"] * 6]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--reader", "llm"], "no model is named"),
        (["--endpoint", "http://h/v1", "--model", "m"], "add --reader llm"),
        (["--profile", "free"], "--profile has no effect on --reader extractive"),
        (["--reader", "system", "-k", "3"], "-k has no effect on --reader system"),
        (["--repeats", "2"], "says the same each time"),
        (["--name", "a/b"], "character that folder names cannot hold"),
    ],
)
def test_what_would_have_no_effect_is_refused(run, words, said):
    with pytest.raises(UsageError, match=said):
        call(run, *words)
    assert not (run / "answers").exists()


def test_a_file_takes_no_options_of_readers(run, tmp_path):
    (tmp_path / "f.jsonl").write_text("{}", encoding="utf-8")
    for words in (["--reader", "extractive"], ["-k", 3], ["--repeats", 2], ["--context-chars", 9]):
        with pytest.raises(UsageError, match=r"no effect on a file|either --reader or --from"):
            call(run, "--from", tmp_path / "f.jsonl", *words)


def test_no_run_is_one_line(tmp_path):
    with pytest.raises(MemrulerError, match="no such folder"):
        call(tmp_path / "none")
