"""`memruler grade`, `judge` and the gate on grades, end to end with a scripted judge."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from memruler.cli import answer, gate, grade, judge, repeats, retrieval
from memruler.report.schemas import schema
from memruler.studies.judge_texts import REFUSALS

pytest.importorskip("openai", reason="needs memruler[llm]")

FILES = {
    "grades.parquet",
    "manifest.json",
    "report.md",
    "scores.csv",
    "scores.csv.meta.json",
    "summary.json",
}


def call(verb, *arguments):
    return CliRunner().invoke(verb.command, [str(a) for a in arguments], catch_exceptions=True)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A run of the bundled corpus, answered by the rule."""
    out = tmp_path_factory.mktemp("runs")
    assert call(retrieval, "synthetic", "--out", out, "--stem", "base").exit_code == 0
    assert call(answer, out / "base", "-k", 5).exit_code == 0
    return out / "base"


@pytest.fixture
def run(measured, tmp_path):
    return Path(shutil.copytree(measured, tmp_path / "base"))


def shown(text):
    found = re.findall(r"^\[(\w+) (\w+)\]\n(.*?)\n\[\1 end\]$", text, re.MULTILINE | re.DOTALL)
    return {name: value for _, name, value in found}


def fair(text):
    """Right where the reference stands in the response, or a refusal where there is none."""
    case = shown(text)
    if not case["reference"]:
        return "correct" if case["response"] in REFUSALS else "wrong"
    return "correct" if case["reference"].lower() in case["response"].lower() else "wrong"


def by_judge(chat_server, name="judge", **options):
    given = {"endpoint": chat_server.url, "model": name, **options}
    return [part for key, value in given.items() for part in (f"--judge-{key}", value)]


def folder(run, name, answers="extractive"):
    return run / "answers" / answers / "grades" / name


def contents(path):
    return {p.name: p.read_bytes() for p in path.iterdir() if p.name != ".lock"}


JUDGED = "answer-memruler-judge"


def test_a_rule_grades_exactly_and_byte_by_byte_again(run):
    done = call(grade, run, "--grader", "lexical", "--grader", "squad")
    assert done.exit_code == 0, done.output
    assert "word overlap, not an accuracy" in done.output
    assert "f1, side by side" in done.output
    assert "95 %" not in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    before = contents(folder(run, "lexical"))
    assert set(before) == FILES
    summary = json.loads(before["summary.json"])
    assert (summary["ruler"], summary["judge"], summary["accuracy"]) == ("exact", None, False)
    whole = summary["slices"][0]
    assert (whole["items"], whole["scored"]) == (48, 40)
    assert whole["unscored"] == {"unanswerable: there is no gold to overlap with": 8}
    assert whole["floor"] == pytest.approx(whole["mean"] * 40 / 48)
    assert whole["interval"] is None
    assert call(grade, run, "--grader", "lexical").exit_code == 0
    assert contents(folder(run, "lexical")) == before


def test_the_means_are_those_of_the_rows(run):
    call(grade, run, "--grader", "lexical")
    with (folder(run, "lexical") / "scores.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    summary = json.loads((folder(run, "lexical") / "summary.json").read_bytes())
    for part in summary["slices"]:
        own = [r for r in rows if part["name"] in {"all", r["category"]}]
        values = [float(r["f1"]) for r in own if r["f1"]]
        assert len(own) == part["items"]
        assert len(values) == part["scored"]
        if values:
            assert part["mean"] == pytest.approx(sum(values) / len(values), abs=1e-12)
    assert len({r["conversation"] for r in rows}) == 4
    assert all(r["error"] for r in rows if not r["f1"])
    assert all(len(r["top"].split()) == 5 for r in rows)


def test_without_a_judge_nothing_is_scored_and_nothing_is_zero(run):
    done = call(grade, run, "--grader", "answer:memruler")
    assert done.exit_code == 0, done.output
    assert "nothing is scored of 48 items" in done.output
    assert "name one with --judge-endpoint URL" in " ".join(done.output.split())
    assert "memruler gate" not in done.output  # there is nothing to compare
    summary = json.loads((folder(run, "answer-memruler") / "summary.json").read_bytes())
    whole = summary["slices"][0]
    assert (whole["scored"], whole["mean"], whole["floor"]) == (0, None, None)
    assert whole["unscored"] == {"no judge": 48}


def test_a_judge_grades_with_an_interval_and_again_without_a_request(run, chat_server):
    chat_server.say = fair
    arguments = [run, "--grader", "answer:memruler", *by_judge(chat_server)]
    done = call(grade, *arguments)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    assert "single draw" in done.output
    assert "48 requests, 0 from kept replies" in done.output
    before, asked = contents(folder(run, JUDGED)), len(chat_server.seen)
    assert asked <= 48
    summary = json.loads(before["summary.json"])
    whole = summary["slices"][0]
    assert (summary["ruler"], whole["scored"]) == ("draw", 48)
    assert whole["interval"]["clusters"] == 4
    assert any("below 30" in told for told in whole["interval"]["warnings"])
    assert call(grade, *arguments).exit_code == 0
    assert len(chat_server.seen) == asked
    assert contents(folder(run, JUDGED)) == before


@pytest.mark.usefixtures("no_waiting")
def test_what_a_judge_refuses_or_leaves_empty_has_no_value(run, chat_server):
    def say(text):
        number = len(shown(text)["question"]) % 3
        return [fair(text), "", (400, {"error": {"message": "filtered"}})][number]

    chat_server.say = say
    done = call(grade, run, "--grader", "answer:memruler", *by_judge(chat_server))
    assert done.exit_code == 0, done.output
    whole = json.loads((folder(run, JUDGED) / "summary.json").read_bytes())["slices"][0]
    assert whole["scored"] + sum(whole["unscored"].values()) == 48
    assert 0 < whole["scored"] < 48
    assert whole["floor"] < whole["mean"] or whole["mean"] == 0
    assert any("empty" in why for why in whole["unscored"])
    assert any("refused" in why for why in whole["unscored"])


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("status", [500, 429])
def test_a_judge_that_fails_writes_nothing_and_is_taken_up_again(run, chat_server, status):
    said = []
    lock = threading.Lock()

    def say(text):
        with lock:
            if len(said) >= 15:
                return status, {"error": {"message": "no more"}}
            said.append(text)
        return fair(text)

    chat_server.say = say
    arguments = [run, "--grader", "answer:memruler", *by_judge(chat_server)]
    done = call(grade, *arguments)
    assert done.exit_code != 0
    assert type(done.exception).__name__ == "InstrumentError"
    assert not folder(run, JUDGED).exists()
    chat_server.seen.clear()
    chat_server.say = fair
    assert call(grade, *arguments).exit_code == 0
    asked = [body["messages"][-1]["content"] for body in chat_server.seen]
    assert not set(said) & set(asked)
    assert len(set(asked)) == len(asked)


def test_killed_and_taken_up_again_it_pays_for_no_reply_twice(run, chat_server, tmp_path):
    enough = threading.Event()

    def say(text):
        if len(chat_server.seen) > 20:
            enough.set()
        return fair(text)

    chat_server.say = say
    given = ["--grader", "answer:memruler", *by_judge(chat_server, parallel=2)]
    arguments = [sys.executable, "-m", "memruler", "grade", str(run), *map(str, given)]
    environment = {**os.environ, "MEMRULER_CACHE": str(tmp_path / "cache")}
    child = subprocess.Popen(
        arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert enough.wait(60)
    child.send_signal(signal.SIGKILL)
    child.wait()
    first = [body["messages"][-1]["content"] for body in chat_server.seen]
    if folder(run, JUDGED).exists():
        pytest.skip("it was done before it was killed")
    chat_server.seen.clear()
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    second = [body["messages"][-1]["content"] for body in chat_server.seen]
    # Only what was under way when it was killed may be asked twice.
    assert len(set(first) & set(second)) <= 2
    whole = json.loads((folder(run, JUDGED) / "summary.json").read_bytes())["slices"][0]
    assert whole["scored"] == 48


def test_another_judge_does_not_take_the_folder_of_the_first(run, chat_server):
    chat_server.say = fair
    named = [run, "--grader", "answer:memruler", "--name", "mine"]
    assert call(grade, *named, *by_judge(chat_server)).exit_code == 0
    before = contents(folder(run, "mine"))
    done = call(grade, *named, *by_judge(chat_server, "other"))
    assert "its judge is another one" in str(done.exception)
    assert contents(folder(run, "mine")) == before
    done = call(grade, run, "--grader", "lexical", "--name", "mine")
    assert "its grader is answer:memruler" in str(done.exception)


def test_a_judge_is_asked_again_and_its_majority_counts(run, chat_server):
    """It says yes, no, yes to every second answer, by turns."""
    seen = {}
    lock = threading.Lock()

    def say(text):
        with lock:
            times = seen[text] = seen.get(text, -1) + 1
        steady = len(shown(text)["question"]) % 2
        return "wrong" if not steady and times % 3 == 1 else "correct"

    chat_server.say = say
    arguments = ["--grader", "answer:memruler", "--repeats", 3, *by_judge(chat_server)]
    done = call(grade, run, *arguments)
    assert done.exit_code == 0, done.output
    summary = json.loads((folder(run, JUDGED) / "summary.json").read_bytes())
    assert summary["slices"][0]["mean"] == 1.0
    flips = summary["flips"]
    assert (flips["draws"], flips["of"], flips["ties"]) == (3, 48, 0)
    assert 0 < flips["flipped"] < 48
    done = call(grade, run, "--grader", "lexical", "--repeats", 2)
    assert "asks no judge" in str(done.exception)


def test_the_gate_reads_grades(run):
    assert call(answer, run, "-k", 2, "--name", "short").exit_code == 0
    for name in ("extractive", "short"):
        assert call(grade, run, "--answers", name, "--grader", "lexical").exit_code == 0
    base, candidate = folder(run, "lexical"), folder(run, "lexical", "short")
    done = call(gate, base, candidate)
    assert done.exit_code == 4
    assert "reader.settings.k differs (5 -> 2)" in " ".join(done.output.split())
    done = call(gate, base, candidate, "--changed", "reader")
    assert done.exit_code in {0, 1}
    assert "(exact)" in done.output
    done = call(gate, run / "answers" / "extractive", candidate, "--changed", "reader")
    assert done.exit_code in {0, 1}
    done = call(gate, run, candidate, "--changed", "reader")
    assert done.exit_code == 4
    assert "are two rulers" in " ".join(done.output.split())
    done = call(gate, run, candidate, "--metric", "f1", "--changed", "reader")
    assert "it holds 2 gradings with f1" in str(done.exception)
    call(grade, run, "--answers", "extractive", "--grader", "squad")
    done = call(gate, base, folder(run, "squad"))
    assert done.exit_code == 4
    assert 'ruler.grader differs ("lexical" -> "squad")' in " ".join(done.output.split())


def test_another_judge_must_be_declared_and_another_prompt_never_can(run, chat_server):
    chat_server.say = fair
    for name in ("one", "two"):
        done = call(grade, run, "--grader", "answer:memruler", *by_judge(chat_server, name))
        assert done.exit_code == 0, done.output
    pair = folder(run, "answer-memruler-one"), folder(run, "answer-memruler-two")
    done = call(gate, *pair)
    assert done.exit_code == 4
    assert 'judge.model differs ("one" -> "two")' in " ".join(done.output.split())
    assert call(gate, *pair, "--changed", "judge").exit_code == 5
    done = call(repeats, *pair, "--changed", "judge")
    assert done.exit_code == 0, done.output


def test_what_a_reader_says_otherwise_of_the_same_texts_is_the_readers(run, chat_server):
    """Two readers were given the same, and a judge finds the second one wrong."""
    same = run / "answers" / "same"
    assert call(answer, run, "-k", 5, "--name", "same").exit_code == 0
    assert same.exists()
    for name, say in (("extractive", "correct"), ("same", "wrong")):
        chat_server.say = lambda _, say=say: say
        options = by_judge(chat_server, draw=name)
        done = call(grade, run, "--answers", name, "--grader", "answer:memruler", *options)
        assert done.exit_code == 0, done.output
    pair = folder(run, JUDGED), folder(run, JUDGED, "same")
    found = json.loads(call(repeats, *pair, "--json").stdout)["pair"]["discordance"]
    assert (found["items"], found["reader"], found["retrieval"], found["unknown"]) == (48, 48, 0, 0)
    assert call(answer, run, "-k", 2, "--name", "short").exit_code == 0
    chat_server.say = lambda _: "wrong"
    options = ["--grader", "answer:memruler", *by_judge(chat_server, draw="short")]
    assert call(grade, run, "--answers", "short", *options).exit_code == 0
    pair = folder(run, JUDGED), folder(run, JUDGED, "short")
    found = json.loads(call(repeats, *pair, "--changed", "reader", "--json").stdout)
    assert found["pair"]["discordance"]["retrieval"] == 48


def test_a_calibration_corrects_the_gate_or_is_refused(run, chat_server, tmp_path):
    """The judge takes every answer of the candidate for right and is otherwise fair."""
    chat_server.say = lambda _: "wrong"
    assert call(answer, run, "-k", 2, "--name", "short").exit_code == 0
    arguments = ["--grader", "answer:memruler", *by_judge(chat_server)]
    assert call(grade, run, "--answers", "extractive", *arguments).exit_code == 0
    chat_server.say = lambda text: "correct" if len(shown(text)["question"]) % 2 else "wrong"
    assert call(grade, run, "--answers", "short", *arguments).exit_code == 0
    pair = [folder(run, JUDGED), folder(run, JUDGED, "short"), "--changed", "reader"]

    def calibrate(say, name="judge", draw="x"):
        chat_server.say = say
        out = tmp_path / f"{draw}.json"
        given = by_judge(chat_server, name, draw=draw)
        done = call(judge, "calibrate", run, "-n", 12, *given, "--out", out)
        return out, done

    path, done = calibrate(lambda _: "correct", draw="yes")
    assert done.exit_code == 3
    assert "BLIND: this judge carries no information" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
    refused = call(gate, *pair, "--calibration", path)
    assert "J is 0.000" in str(refused.exception)
    assert refused.exception.exit_code == 4

    path, done = calibrate(lambda text: fair(text) if len(text) % 4 else "correct", draw="leaky")
    assert done.exit_code == 0, done.output
    found = json.loads(path.read_bytes())
    assert 0 < found["rates"]["j"] < 1
    plain = json.loads(call(gate, *pair, "--json").stdout)
    told = json.loads(call(gate, *pair, "--calibration", path, "--json").stdout)
    corrected = told["corrected"]
    assert corrected["value"] == pytest.approx(plain["delta"] / found["rates"]["j"])
    assert corrected["low"] < plain["interval"]["low"] / found["rates"]["j"]
    assert told["delta"] == plain["delta"]
    shown_page = call(gate, *pair, "--calibration", path).output
    assert "(corrected)" in shown_page
    assert max(map(len, shown_page.splitlines())) <= 80

    path, _ = calibrate(fair, name="stranger", draw="stranger")
    refused = call(gate, *pair, "--calibration", path)
    assert "another judge" in " ".join(refused.exception.reasons)
    # A majority of several verdicts, and what no judge gave, have no such rates.
    call(grade, run, "--answers", "short", "--grader", "lexical")
    call(grade, run, "--answers", "extractive", "--grader", "lexical")
    lexical = [folder(run, "lexical"), folder(run, "lexical", "short"), "--changed", "reader"]
    refused = call(gate, *lexical, "--calibration", path)
    assert "deterministic" in str(refused.exception)


def test_a_second_judge_on_a_sample(run, chat_server):
    chat_server.say = fair
    first = ["--grader", "answer:memruler", *by_judge(chat_server, "one")]
    assert call(grade, run, *first).exit_code == 0
    chat_server.say = lambda _: "correct"
    second = ["--grader", "answer:memruler", *by_judge(chat_server, "two")]
    done = call(grade, run, *second, "--sample", 20, "--like", "answer-memruler-one")
    assert done.exit_code == 0, done.output
    assert "a sample, for agreement only: 20 of 20 scored" in done.output
    sampled = folder(run, "answer-memruler-two-sample-20")
    summary = json.loads((sampled / "summary.json").read_bytes())
    assert all(part["mean"] is None for part in summary["slices"])
    assert sum(drawn for _, drawn in summary["sample"]["strata"].values()) == 20
    done = call(judge, "agree", folder(run, "answer-memruler-one"), sampled)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    done = call(judge, "agree", folder(run, "answer-memruler-one"), sampled, "--json")
    found = json.loads(done.stdout)
    counts = {(a, b): n for a, b, n in found["confusion"]}
    whole = found["slices"][0]
    assert {b for _, b in counts} == {"right"}
    assert whole["same"] == counts.get(("right", "right"), 0)
    assert whole["both"] == 20
    assert whole["kappa"]["value"] == pytest.approx(0)
    jsonschema.validate(found, json.loads(schema("judge-agreement.schema.json")))
    done = call(
        judge, "agree", folder(run, "answer-memruler-one"), folder(run, "answer-memruler-one")
    )
    assert "would agree with itself" in str(done.exception)
    chat_server.model = "one"  # a second name for the first judge
    alias = ["--grader", "answer:memruler", *by_judge(chat_server, "alias")]
    assert call(grade, run, *alias).exit_code == 0
    pair = [folder(run, f"answer-memruler-{name}") for name in ("one", "alias")]
    assert "would agree with itself" in str(call(judge, "agree", *pair).exception)
    done = call(gate, folder(run, "answer-memruler-one"), sampled, "--changed", "judge")
    assert done.exit_code == 4
    assert "population" in done.output


def test_probes_in_a_file_calibrate_as_the_run_does(run, chat_server, tmp_path):
    chat_server.say = fair
    path = tmp_path / "probes.jsonl"
    done = call(judge, "probes", run, "-n", 6, "--out", path)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80
    arguments = [*by_judge(chat_server), "--json"]
    one = json.loads(call(judge, "calibrate", run, "-n", 6, *arguments).stdout)
    other = json.loads(call(judge, "calibrate", path, *arguments).stdout)
    assert one == other
    jsonschema.validate(one, json.loads(schema("calibration.schema.json")))
    done = call(judge, "probes", "--corpus", "synthetic", "-n", 6, "--out", tmp_path / "c.jsonl")
    assert done.exit_code == 0, done.output
    strip = [line for line in (tmp_path / "c.jsonl").read_bytes().split(b"\n")[1:] if line]
    assert len(strip) == len([line for line in path.read_bytes().split(b"\n")[1:] if line])


def test_the_document_fits_its_schema(run):
    done = call(grade, run, "--grader", "lexical", "--json")
    jsonschema.validate(json.loads(done.stdout), json.loads(schema("grades.schema.json")))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--like", "x"], "--like has no effect without --sample"),
        (["--grader", "lexical", "--grader", "squad", "--name", "x"], "--name is of one grading"),
        (["--grader", "nobody"], "nobody"),
        (["--answers", "none"], "no answers none"),
        (["--grader", "lexical", "--name", "a/up"], "folder names cannot hold"),
        (["--grader", "lexical", "--sample", "1"], "cannot cover"),
    ],
)
def test_wrong_calls(run, arguments, told):
    done = call(grade, run, *arguments)
    assert told in str(done.exception)
    assert type(done.exception).__name__ == "UsageError"


def test_a_judge_that_nobody_asks_is_refused(run, chat_server):
    done = call(grade, run, "--grader", "lexical", *by_judge(chat_server))
    assert "no grader asks one" in str(done.exception)
    assert chat_server.seen == []


def test_changed_answers_are_not_what_was_graded(run):
    call(grade, run, "--grader", "lexical")
    assert call(answer, run, "-k", 2, "--name", "other").exit_code == 0
    shutil.copy(run / "answers/other/answers.parquet", run / "answers/extractive/answers.parquet")
    done = call(gate, folder(run, "lexical"), folder(run, "lexical"))
    assert done.exit_code != 0
    call(grade, run, "--answers", "other", "--grader", "lexical")
    done = call(gate, folder(run, "lexical"), folder(run, "lexical", "other"))
    assert "the answers have changed since they were graded" in str(done.exception)


@pytest.mark.parametrize("name", ["grades.parquet", "scores.csv", "scores.csv.meta.json"])
def test_a_file_that_was_changed_is_refused(run, name):
    call(grade, run, "--grader", "lexical")
    call(answer, run, "-k", 2, "--name", "other")
    call(grade, run, "--answers", "other", "--grader", "lexical")
    path = folder(run, "lexical") / name
    path.write_bytes(path.read_bytes() + b" ")
    pair = folder(run, "lexical"), folder(run, "lexical", "other")
    done = call(gate, *pair, "--changed", "reader")
    assert "not the ones that this grading was finished with" in str(done.exception)
