import json
import re

import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.audit import command
from memruler.cli.retrieval import command as retrieval
from memruler.errors import InstrumentError, MemrulerError, Refusal, UsageError
from memruler.store.safe import write_atomic
from memruler.studies.audit_csv import SHOWN_COLUMNS, read_cases
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
        r"20 cases of \d+ items that gain credit \(\d+ are contested\), source", found.stdout
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
    assert f"of {20 - tied} decided pairs of 20" in found.stdout
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
    pairs = len(set(read_cases(out).column("pair")))
    assert len(server.seen) <= pairs < 24
    told = " ".join(call("read", out).stdout.split())
    assert f"24 cases are {pairs} distinct pairs" in told


def test_blind_raters_and_the_file_of_all_columns(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    targets = ("--target", "source", "--target", "canonical")
    found = call("sample", run, *targets, "-n", 12, *RATERS, "--blind", "--out", out)
    sheets = [tmp_path / f"cases.{name}.csv" for name in ("ann", "bo")]
    assert [str(path) in found.stdout.replace("\n", "") for path in sheets] == [True, True]
    assert read_cases(out).raters() == []
    pairs = len(set(read_cases(out).column("pair")))
    for path in sheets:
        table = read_cases(path, SHOWN_COLUMNS)
        assert len(table.rows) == pairs < 24
        for row in table.rows:
            row[-1] = "yes"
        path.write_bytes(table.encode())
    call("judge", out, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    record = msgspec.json.decode(call("read", *sheets, out, "--json").stdout, type=Audit)
    assert {rater.name: (rater.labelled, rater.blind) for rater in record.raters} == {
        "ann": (24, True),
        "bo": (24, True),
        "gpt": (24, True),
    }
    assert record.slices[0].pairs == record.slices[0].supports.of == pairs
    assert record.slices[0].supports.no_weights.startswith("several targets are pooled")
    assert {part.supports.no_weights for part in record.slices if "target" in part.by} == {None}


def test_a_judge_fills_the_file_of_a_blind_rater(run, server, tmp_path):
    out = tmp_path / "cases.csv"
    call("sample", run, "-n", 8, "--rater", "gpt", "--blind", "--out", out)
    sheet = tmp_path / "cases.gpt.csv"
    judge = ("judge", sheet, "--endpoint", server.url, "--model", "m", "--name", "gpt")
    assert "8 labelled" in call(*judge).stdout
    record = msgspec.json.decode(call("read", out, sheet, "--json").stdout, type=Audit)
    assert record.raters[0].judge.model == "m"


def test_a_blind_file_that_is_there_is_never_replaced(run, tmp_path):
    (tmp_path / "cases.bo.csv").write_bytes(b"mine")
    call("sample", run, *RATERS, "--blind", "--out", tmp_path / "cases.csv", code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["cases.bo.csv"]
    assert (tmp_path / "cases.bo.csv").read_bytes() == b"mine"


def test_what_cannot_be_written_leaves_nothing(run, tmp_path, monkeypatch):
    def fails(path, data):
        if path.name == "cases.csv":
            raise UsageError("the disk is full", where=path, hint="make room")
        write_atomic(path, data)

    monkeypatch.setattr("memruler.store.safe.write_atomic", fails)
    call("sample", run, *RATERS, "--blind", "--out", tmp_path / "cases.csv", code=2)
    assert list(tmp_path.iterdir()) == []


def test_the_sample_is_of_what_gains_by_the_rule(run, tmp_path):
    drawn = {}
    for name, options in {
        "anchor": (),
        "id": ("--credit", "id"),
        "all": ("--all-eligible",),
    }.items():
        out = tmp_path / f"{name}.csv"
        call("sample", run, *options, "--out", out)
        (drawn[name],) = json.loads((tmp_path / f"{name}.csv.meta.json").read_bytes())["sampled"]
        drawn[name]["gains"] = set(read_cases(out).column("gains"))
    assert drawn["anchor"]["gaining"] < drawn["anchor"]["contested"] == drawn["id"]["gaining"]
    assert drawn["anchor"]["gains"] == drawn["id"]["gains"] == {"yes"}
    assert (drawn["all"]["drawn_from"], drawn["all"]["gains"]) == ("contested", {"yes", "no"})
    pool = {name: sum(size for size, _ in one["strata"].values()) for name, one in drawn.items()}
    assert pool["anchor"] == drawn["anchor"]["gaining"]
    assert pool["all"] == pool["id"] == drawn["all"]["contested"]


def test_weights_are_those_of_the_note(run, tmp_path):
    """Five cases, one a category, of which those of the largest category are justified."""
    out = tmp_path / "cases.csv"
    call("sample", run, "-n", 5, "--rater", "ann", "--out", out)
    (drawn,) = json.loads((tmp_path / "cases.csv.meta.json").read_bytes())["sampled"]
    sizes = {name: size for name, (size, chosen) in drawn["strata"].items() if chosen == 1}
    assert len(sizes) == 5
    most = max(sizes, key=sizes.__getitem__)
    table = read_cases(out)
    for row in table.rows:
        row[table.at("label:ann")] = "yes" if row[table.at("category")] == most else "no"
    out.write_bytes(table.encode())
    share = msgspec.json.decode(call("read", out, "--json").stdout, type=Audit).slices[0].supports
    assert share.value == 1 / 5
    assert share.weighted.value == pytest.approx(sizes[most] / sum(sizes.values()))
    table.rows.pop()
    out.write_bytes(table.encode())
    share = msgspec.json.decode(call("read", out, "--json").stdout, type=Audit).slices[0].supports
    assert "not those that a note says" in share.no_weights


def test_several_files_are_read_as_one(run, tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, target in zip(paths, ("source", "canonical"), strict=True):
        call("sample", run, "--target", target, "-n", 12, "--rater", "ann", "--out", path)
        table = read_cases(path)
        for row in table.rows:
            row[table.at("label:ann")] = "yes"
        path.write_bytes(table.encode())
    record = msgspec.json.decode(call("read", *paths, "--json").stdout, type=Audit)
    assert record.files == ("a.csv", "b.csv")
    assert record.slices[0].cases == 24 > record.slices[0].pairs
    assert [one.target for one in record.sampled] == ["source", "canonical"]


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
    for row, said in zip(table.rows, ("maybe", "yes", "\x1b[2J"), strict=False):
        row[table.at("label:bo")] = said
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
        (["--blind", "--rater", "a", "--rater", "a"], "the rater a comes twice"),
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


def test_a_full_disk_leaves_no_note_behind(run, tmp_path, monkeypatch):
    """The same command must go through once there is room."""
    out = tmp_path / "cases.csv"

    def full(path, data):
        del data
        raise InstrumentError("no space", where=path)

    with monkeypatch.context() as broken:
        broken.setattr("memruler.store.safe.write_atomic", full)
        call("sample", run, "--out", out, code=3)
    assert list(tmp_path.iterdir()) == []
    call("sample", run, "--out", out)
