import json

import pytest
from click.testing import CliRunner

from memruler.cli.retrieval import command as retrieval
from memruler.cli.targets import command
from memruler.compare.sensitivity_record import Sensitivity


def _write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """Two systems over two questions, as files of another tool."""
    rankings = {
        "turns": {"a": ["t1", "x", "f1"], "b": ["t2", "f2", "x"]},
        "facts": {"a": ["f1", "t1", "x"], "b": ["f2", "x", "t2"]},
    }
    groups = {
        name: [{"anchor": number, "raw": [f"t{number}"], "canonical": [f"f{number}"]}]
        for number, name in enumerate(("a", "b"), start=1)
    }
    arguments = []
    for system, lists in rankings.items():
        trace = _write(
            tmp_path / f"{system}.jsonl",
            [{"query_id": name, "ranked": ranked} for name, ranked in lists.items()],
        )
        mapping = _write(
            tmp_path / f"{system}.targets.jsonl",
            [{"query_id": name, "groups": group} for name, group in groups.items()],
        )
        arguments += ["--trace", str(trace), "--targets", str(mapping)]
    return arguments


def _run(*arguments):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=True)


def test_prints_who_wins_under_each_target(files):
    done = _run(*files, "-k", "1,3")
    assert done.exit_code == 0, done.exception
    first, second = done.stdout.splitlines()[:2]
    assert first == "TARGETS: who wins on ndcg@3 depends on the target"
    assert "credit rule anchor" in second


def test_json_is_the_record_and_the_page_is_written(files, tmp_path):
    page = tmp_path / "page.md"
    done = _run(*files, "-k", "3", "--metric", "mrr@3", "--json", "--markdown", str(page))
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    assert set(found) == set(Sensitivity.__struct_fields__)
    assert (found["metric"], found["k"], found["systems"]) == ("mrr", 3, ["turns", "facts"])
    assert page.read_text(encoding="utf-8").startswith("# Targets\n")


@pytest.mark.parametrize(
    ("more", "kind", "says"),
    [
        (["--target", "raw"], "Refusal", "only one"),
        (["--metric", "nope@3"], "UsageError", "unknown metric"),
        (["-k", "4"], "UsageError", "4 hits"),
        (["--target", "raw,edge"], "UsageError", "edge"),
    ],
)
def test_what_cannot_be_said_is_refused(files, more, kind, says):
    done = _run(*files, *more)
    assert type(done.exception).__name__ == kind
    assert says in str(done.exception)
    assert done.stdout == ""


def test_nothing_to_read():
    done = _run()
    assert type(done.exception).__name__ == "UsageError"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same questions over two transformed stores, one fact a turn and five."""
    out = tmp_path_factory.mktemp("runs")
    for facts in (1, 5):
        arguments = ["synthetic", "--system", "builtin:derived", "--set", f"facts={facts}"]
        arguments += ["--instances", "1", "--out", str(out), "--stem", f"f{facts}"]
        done = CliRunner().invoke(retrieval, arguments)
        assert done.exit_code == 0, done.exception
    return out


def test_runs_are_scored_again_and_their_forms_are_known(runs):
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    done = _run(str(runs / "f1"), str(runs / "f5"), "-k", "5,20", "--json")
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    assert found["systems"] == ["f1", "f5"]
    assert found["queries"] <= found["common"] < found["asked"]
    one, five = ({t["target"]: t["forms"] for t in card["targets"]} for card in found["cards"])
    assert set(one["raw"]) == {"turn"}
    assert "turn" not in one["canonical"]
    assert one["raw"] == five["raw"]
    assert one["canonical"]["fact"] < five["canonical"]["fact"]
    assert {path: path.read_bytes() for path in before} == before


def test_a_run_and_a_file_are_not_about_the_same(runs, files):
    done = _run(str(runs / "f1"), *files)
    assert type(done.exception).__name__ == "Refusal"
    assert "not over the same" in str(done.exception)
