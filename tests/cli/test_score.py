"""`memruler score`: the published figures from the command line, and what is refused."""

import json

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from memruler.cli.score import command
from memruler.errors import UsageError
from memruler.replay.run import measure
from memruler.store.folder import RunFolder

PUBLISHED = {
    "hit_rate_at_k": "recall_any",
    "micro_recall_at_k": "recall_pooled",
    "mrr": "mrr",
    "ndcg_at_k": "ndcg",
    "recall_at_k": "recall_micro",
}
CHANGED = {
    "ndcg_changed_count": "ndcg",
    "mrr_changed_count": "mrr",
    "recall_changed_count": "recall_micro",
    "hit_flip_count": "recall_any",
    "top1_flip_count": "top1",
}


def call(*arguments):
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def parsed(*arguments):
    return json.loads(call(*arguments, "--json").stdout)


@pytest.mark.parametrize("density", ["f1", "f5"])
def test_the_published_figures_from_the_command_line(tiap, density):
    stem = f"{tiap.folder}/density_lexical_{density}"
    files = ("--trace", f"{stem}.ranked.jsonl.gz", "--targets", f"{stem}.targets.jsonl.gz")
    found = parsed(*files, "-k", "60")
    published = json.loads((tiap.folder / "published.json").read_text())[
        f"density_lexical_{density}"
    ]
    for result in found["targets"]:
        wanted = published["targets"][result["target"]]
        own = result["own"]
        (depth,) = own["depths"]
        for name, metric in PUBLISHED.items():
            assert depth[metric] == pytest.approx(wanted[name], abs=1e-9), (name, result["target"])
        assert own["top1"] == pytest.approx(wanted["top1_hit_rate"], abs=1e-9)
        assert (own["queries"], own["anchors"]) == (wanted["queries"], wanted["total_relevant"])
        assert depth["found"] == wanted["total_hits"]
        assert result["excluded"].get("no_eligible_item", 0) == wanted["zero_target_cases"]
    pairs = {f"{pair['a']}_vs_{pair['b']}": pair["whole"] for pair in found["pairs"]}
    assert pairs.keys() == published["pairwise"].keys()
    for name, wanted in published["pairwise"].items():
        assert pairs[name]["queries"] == wanted["shared_queries"]
        shifts = {shift["metric"]: shift["changed"] for shift in pairs[name]["depths"][0]["shifts"]}
        for count, metric in CHANGED.items():
            assert shifts[metric] == wanted[count], (name, count)


def test_per_id_gives_the_other_published_figures(tiap):
    stem = f"{tiap.folder}/density_lexical_f5"
    files = ("--trace", f"{stem}.ranked.jsonl.gz", "--targets", f"{stem}.targets.jsonl.gz")
    found = parsed(*files, "-k", "60", "--credit", "id")
    ndcg = {result["target"]: result["own"]["depths"][0]["ndcg"] for result in found["targets"]}
    assert {name: round(value, 4) for name, value in ndcg.items()} == {
        "raw": 0.1680,
        "source": 0.4118,
        "canonical": 0.4714,
    }


@pytest.fixture
def run(tmp_path, make_plan, make_instance, word_system):
    plan = make_plan(word_system, [make_instance(0), make_instance(1)], limit=4)
    with RunFolder.claim(tmp_path, "r") as folder:
        measure(plan, folder, lambda *_: None)
    return tmp_path / "r"


def test_a_run(run):
    found = parsed(run, "--target", "raw,source", "-k", "1,4")
    assert [result["target"] for result in found["targets"]] == ["raw", "source"]
    assert found["targets"][0]["own"]["top1"] == 1.0
    assert found["pairs"][0]["whole"]["depths"][0]["shifts"][0]["changed"] == 0
    told = call(run, "--target", "raw,source", "-k", "1,4").output
    assert told.startswith("SCORES under raw, source: r\n")
    assert max(map(len, told.splitlines())) <= 80


def test_a_target_that_a_silent_store_cannot_be_asked_for(run):
    found = parsed(run)
    assert [result["target"] for result in found["targets"]] == ["raw", "source"]
    assert "does not export its lineage" in found["unserved"]["canonical"]
    assert "does not export its lineage" in " ".join(call(run).output.split())


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_values_of_queries(run, tmp_path, ending):
    path = tmp_path / f"values.{ending}"
    call(run, "--target", "raw", "-k", "1,4", "--per-query", path)
    if ending == "parquet":
        rows = pq.read_table(path).to_pylist()
    elif ending == "csv":
        rows = pyarrow.csv.read_csv(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["query"] for row in rows] == [f"inst-{i}:{q}" for i in (0, 1) for q in range(3)]
    assert [row["ndcg@4"] for row in rows] == [1.0] * 6
    assert [row["first"] for row in rows] == [1] * 6
    assert {row["credit"] for row in rows} == {"anchor"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to read"),
        (("RUN", "-k", "5"), "only for 4"),
        (("RUN", "--target", "sauce"), "did you mean source"),
        (("RUN", "--items", "FILE"), "--items is for --trace"),
        (("RUN", "--per-query", "x.txt"), "parquet"),
        (("RUN", "--per-query", "RUN/trace.parquet"), "never changed"),
        (("RUN", "--lineage", "FILE", "--per-query", "FILE"), "never changed"),
        (("--trace", "FILE", "--targets", "FILE", "--per-query", "FILE"), "never changed"),
        (("RUN", "--trace", "FILE", "--targets", "FILE"), "RUN or --trace"),
        (("--trace", "FILE"), "0 --targets"),
        (("--trace", "FILE", "--targets", "FILE", "--lineage", "FILE"), "--lineage is for run"),
    ],
)
def test_calls_that_make_no_sense(run, tmp_path, arguments, said):
    (tmp_path / "f.jsonl").write_text("", encoding="utf-8")
    table = str(run / "trace.parquet")
    places = {"RUN": str(run), "FILE": str(tmp_path / "f.jsonl"), "RUN/trace.parquet": table}
    with pytest.raises(UsageError, match=said):
        call(*(places.get(a, a) for a in arguments))


def test_files_that_do_not_belong_together_are_told(tiap):
    stem = f"{tiap.folder}/density_lexical"
    files = ("--trace", f"{stem}_f1.ranked.jsonl.gz", "--targets", f"{stem}_f5.targets.jsonl.gz")
    kinds = {notice["kind"] for notice in parsed(*files, "-k", "60")["notices"]}
    assert "no-credit" in kinds
