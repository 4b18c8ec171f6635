import json
import os

import jsonschema
import pytest
from click.testing import CliRunner

from memruler.cli.lineup import command
from memruler.report.schemas import schema

FEW = ("--instances", "1", "--queries", "6")

BROKEN = """
class Broken:
    def identity(self):
        from memruler.model.system import SystemIdentity

        return SystemIdentity(name="broken", version="1", digest="")

    def open(self, namespace):
        raise OSError("no such device")
"""


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def out(tmp_path):
    return tmp_path / "here"


def test_a_row_for_each_memory_in_the_order_asked_for(out):
    found = call("synthetic", "builtin:lexical", "baseline:random", *FEW, "--out", out)
    assert found.exit_code == 0
    assert found.stdout.startswith("LINE-UP of 2 memories on synthetic")
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert found.stdout.index("builtin:lexical") < found.stdout.index("baseline:random")
    page = (out / "lineup.md").read_text(encoding="utf-8")
    assert page.startswith("# Memories on synthetic")
    again = call("synthetic", "builtin:lexical", "baseline:random", *FEW, "--out", out, "--json")
    assert again.stdout == (out / "lineup.json").read_text(encoding="utf-8")
    plain = json.loads(again.stdout)
    jsonschema.validate(
        plain, json.loads(schema("lineup.schema.json")), cls=jsonschema.Draft202012Validator
    )


def test_the_figures_are_those_of_the_runs_own_reports(out):
    found = call(
        "synthetic",
        "builtin:lexical",
        "--instances",
        "1",
        "-k",
        "5",
        "--level",
        "session",
        "--out",
        out,
        "--json",
    )
    row = json.loads(found.stdout)["rows"][0]
    report = json.loads((out / row["folder"] / "report.json").read_bytes())
    own = next(
        c
        for c in report["summary"]["slices"][0]["cutoffs"]
        if (c["level"], c["k"]) == ("session", 5)
    )
    assert row["padded"] == own["padded"]["recall_all"]
    assert (row["value"], row["counted"], row["of"]) == (
        own["values"]["recall_all"],
        own["counted"],
        own["of"],
    )
    assert row["timing"] == report["timing"]
    assert row["context"] == report["summary"]["context"]
    assert row["timing"]["p50_ms"] is not None  # searched one by one, never a share of a batch


def test_a_memory_that_breaks_gets_its_reason_and_the_others_go_on(out, tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    bad = f"{tmp_path / 'broken.py'}:Broken"
    found = call("synthetic", bad, "builtin:lexical", *FEW, "--out", out, "--json")
    assert found.exit_code == 0
    first, second = json.loads(found.stdout)["rows"]
    assert "no such device" in first["absent"]
    assert "padded" not in first or first["padded"] is None
    assert second["absent"] is None
    assert second["padded"] is not None


def test_a_memory_that_cannot_be_made_gets_its_reason_too(out, tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN.replace("identity", "__init__"), encoding="utf-8")
    bad = f"{tmp_path / 'broken.py'}:Broken"
    found = call("synthetic", bad, "builtin:lexical", *FEW, "--out", out, "--json")
    first, second = json.loads(found.stdout)["rows"]
    assert "Broken" in first["absent"]
    assert second["absent"] is None


def test_where_no_memory_could_be_measured_the_instrument_is_broken(out, tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    found = call("synthetic", f"{tmp_path / 'broken.py'}:Broken", *FEW, "--out", out)
    assert found.exception.exit_code == 3
    assert "no memory of the line-up" in str(found.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["synthetic", "builtin:lexcal"], "lexcal"),
        (["nosuch", "builtin:lexical"], "nosuch"),
        (["synthetic", "builtin:lexical", "builtin:lexical"], "name each memory once"),
        (["synthetic", "builtin:lexical", "--set", "stop_words=true"], "SYSTEM:KEY=VALUE"),
        (["synthetic", "builtin:lexical", "--set", "builtin:lexical:nosuch=1"], "nosuch"),
        (["synthetic", "builtin:lexical", "-k", "30"], "--limit 30"),
    ],
)
def test_a_wrong_call_is_told_before_anything_is_measured(out, arguments, words):
    found = call(*arguments, "--out", out)
    assert found.exception.exit_code == 2
    assert words in str(found.exception)
    assert not out.exists()


def test_a_setting_reaches_its_memory_alone(out):
    call(
        "synthetic",
        "builtin:lexical",
        "baseline:recency",
        "--set",
        "builtin:lexical:stop_words=true",
        *FEW,
        "--out",
        out,
    )
    manifest = json.loads((out / "builtin-lexical" / "manifest.json").read_bytes())
    assert manifest["chosen"]["stop_words"] is True
    other = json.loads((out / "baseline-recency" / "manifest.json").read_bytes())
    assert "stop_words" not in other["chosen"]


def test_another_corpus_part_is_not_taken_for_a_finished_run(out):
    call("synthetic", "builtin:lexical", *FEW, "--out", out)
    found = call("synthetic", "builtin:lexical", "--instances", "2", "--out", out)
    assert found.exception.exit_code == 2


def test_a_depth_that_no_list_reaches_has_a_reason_and_no_mean(out, tmp_path):
    (tmp_path / "short.py").write_text(SHORT, encoding="utf-8")
    found = call("synthetic", f"{tmp_path / 'short.py'}:Short", *FEW, "--out", out, "--json")
    row = json.loads(found.stdout)["rows"][0]
    assert row["padded"] is None
    assert "no query found 10 distinct turns" in row["missing"]


SHORT = """
from memruler.model.system import Hit, Ranking, SystemIdentity


class Short:
    def identity(self):
        return SystemIdentity(name="short", version="1", digest="")

    def open(self, namespace):
        return Store()


class Store:
    def __init__(self):
        self.key = None

    def ingest(self, session):
        self.key = session.turns[-1].key

    def settle(self):
        pass

    def search(self, text, k, at):
        return Ranking((Hit(item=self.key, score=1.0, sources=(self.key,)),))

    def close(self):
        pass
"""


def test_every_memory_pays_for_its_own_embedding(out, monkeypatch):
    seen = []

    def spy(*_):
        seen.append(os.environ.get("MEMRULER_VECTORS"))

    monkeypatch.delenv("MEMRULER_VECTORS", raising=False)
    monkeypatch.setattr("memruler.studies.lineup.run_cell", spy)
    monkeypatch.setattr("memruler.studies.lineup.load", lambda *_: (_ for _ in ()).throw(Stop))
    for _ in range(2):
        found = call("synthetic", "builtin:lexical", *FEW, "--out", out)
        assert isinstance(found.exception, Stop)
    assert None not in seen
    assert len(set(seen)) == 2
    assert not any(os.path.exists(folder) for folder in seen)  # noqa: PTH110 - names, not paths
    assert "MEMRULER_VECTORS" not in os.environ


class Stop(Exception):  # noqa: N818 - no error
    pass
