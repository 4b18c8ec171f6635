import json
import re

import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.audit import command
from memruler.cli.retrieval import command as retrieval
from memruler.errors import InstrumentError, MemrulerError, Refusal, UsageError
from memruler.studies.audit_csv import read_cases
from memruler.studies.audit_record import Audit

pytest.importorskip("openai", reason="needs memruler[llm]")

RATERS = ("--rater", "ann", "--rater", "bo")


def call(*arguments, code=0):
    found = CliRunner().invoke(command, [str(a) for a in arguments])
    if isinstance(found.exception, MemrulerError):
        assert found.exception.exit_code == code, found.exception
    else:
        assert found.exit_code == code, found.exception or found.output
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of a transformed store."""
    out = tmp_path_factory.mktemp("runs")
    arguments = ["synthetic", "--system", "builtin:derived", "--limit", "60", "--stem", "r1"]
    done = CliRunner().invoke(retrieval, [*arguments, "--out", str(out)])
    assert done.exit_code == 0, done.exception
    return out / "r1"


def test_from_a_run_to_a_verdict(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    found = call("sample", run, "-n", 20, *RATERS, "--out", out)
    assert re.match(
        r"20 cases of \d+ contested credits, source against raw at turn level", found.stdout
    )
    server.say = lambda _: "partial" if len(server.seen) % 2 else "**Supports**"
    found = call("judge", out, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    assert found.stdout == "m: 20 labelled, 0 were there, 0 without a label\n"
    table = read_cases(out)
    for number, row in enumerate(table.rows):
        row[table.at("label:ann")] = "yes"
        row[table.at("label:bo")] = "YES" if number < 15 else "Does not support"
        row[table.at("label:gpt")] = "partial" if number % 2 else "supports"
    out.write_bytes(table.encode())
    found = call("read", out)
    # The last five are yes, no, and every other one partial: two of three, or a tie of three.
    tied = sum(number % 2 for number in range(15, 20))
    assert found.stdout.startswith("relaxed credit justified: 100.0 % supports, ")
    assert f"of {20 - tied} decided cases of 20" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert f"m @ {server.host}" in found.stdout.replace("\n", "")
    record = msgspec.json.decode(call("read", out, "--json").stdout, type=Audit)
    assert [rater.name for rater in record.raters] == ["ann", "bo", "gpt"]
    assert record.slices[0].ties == tied
    assert record.sampled[0].wanted == 20
    assert record.raters[2].judge.model == "m"
    alone = msgspec.json.decode(call("read", out, "--rater", "gpt", "--json").stdout, type=Audit)
    assert alone.slices[0].majority["partial"] == record.raters[2].labels["partial"] == 10


def test_two_targets_ask_the_judge_once(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "--target", "source", "--target", "canonical", "-n", 12, "--out", out)
    found = call("judge", out, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    assert "24 labelled" in found.stdout
    assert len(server.seen) <= 12
    told = call("read", out).stdout
    assert "24 cases are 12 distinct pairs" in told.replace("\n", " ").replace("      ", "")


def test_a_judge_that_is_interrupted_goes_on(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    judge = ("judge", out, "--endpoint", server.url, "--model", "m", "--name", "g", "--parallel", 1)
    call("sample", run, "-n", 12, "--out", out)
    server.say = lambda _: "supports" if len(server.seen) < 6 else (401, {"error": {}})
    assert isinstance(call(*judge, code=3).exception, InstrumentError)
    server.say = lambda _: "partial"
    assert call(*judge).stdout == "m: 7 labelled, 5 were there, 0 without a label\n"


def test_a_judge_that_says_something_else(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "-n", 12, "--out", out)
    server.say = lambda _: "\x1b[31mIt depends\x1b[0m"
    found = call("judge", out, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    assert (
        "0 labelled, 0 were there, 12 without a label\n  12 times: the reply does" in found.stdout
    )
    assert "\x1b" not in found.output
    assert b"\x1b" not in out.read_bytes()
    assert isinstance(call("read", out, code=4).exception, Refusal)


def test_a_served_name_is_harmless(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "--out", out)
    server.model = "m\x1b[2J"
    found = call("judge", out, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    assert "\x1b" not in found.output + call("read", out).output


def test_bad_labels_are_listed_with_exit_code_2(run, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, *RATERS, "--out", out)
    table = read_cases(out)
    table.rows[0][-1], table.rows[1][-1], table.rows[2][-1] = "maybe", "yes", "\x1b[2J"
    out.write_bytes(table.encode())
    found = call("read", out, "--json", code=2)
    assert found.stdout == ""
    assert "label:bo 'maybe': 1 time, in row 2\n" in found.stderr
    assert "\x1b" not in found.stderr


def test_a_file_that_is_there_is_never_replaced(run, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "--out", out)
    before = out.read_bytes()
    assert isinstance(call("sample", run, "--out", out, code=2).exception, UsageError)
    assert out.read_bytes() == before
    out.unlink()
    call("sample", run, "--out", out, code=2)  # its note is still there
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rater", "a b"], "no name of a rater"),
        (["--rater", "a", "--rater", "a"], "the rater a comes twice"),
        (["--target", "source", "--target", "source"], "the target source comes twice"),
        (["-n", 1], "cannot cover 5 categories"),
    ],
)
def test_calls_that_are_wrong_write_nothing(run, tmp_path, options, message):
    found = call("sample", run, "--out", tmp_path / "cases.csv", *options, code=2)
    assert message in str(found.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_byte_order_mark_for_excel(run, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "--bom", "--out", out)
    assert out.read_bytes().startswith(b"\xef\xbb\xbfcase,")


def test_the_note_says_how_it_was_drawn(run, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "--seed", 3, "--out", out)
    note = json.loads((tmp_path / "cases.csv.meta.json").read_bytes())
    assert (note["sampled"][0]["seed"], note["sampled"][0]["run"]) == (3, "r1")
