import gzip
import json
import warnings

import ir_measures
import msgspec
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.exchange.export import export
from memruler.exchange.read import read_traced
from memruler.exchange.write import escaped, unescaped
from memruler.scoring.traced import score_traced

TARGETS = ["raw", "source", "canonical"]
CUTOFFS = (1, 2, 3)


@pytest.fixture
def scored(put, ranked_rows, mapping_rows):
    ranked_rows[0]["query_id"] = mapping_rows[0]["query_id"] = "inst one:0"
    ranked_rows[1]["ranked"] += ["50% off", "a\u2003b", "%25"]
    mapping_rows[1]["groups"].append({"raw": [], "canonical": ["50% off", "fb"]})
    mapping_rows.append({"query_id": "lost", "groups": mapping_rows[0]["groups"]})
    traced = read_traced(put("t.jsonl", ranked_rows), put("m", mapping_rows), TARGETS)
    return score_traced(traced, CUTOFFS, "anchor")


def _same(one, other, rows):
    for target, values in one.by_target.items():
        again = other.by_target[target]
        assert np.array_equal(values.of[rows], again.of[rows])
        assert np.array_equal(values.anchors[rows], again.anchors[rows])
        for key, column in values.values.items():
            assert np.array_equal(column[rows], again.values[key][rows])


@pytest.mark.parametrize(
    ("form", "ending"), [("jsonl", ".jsonl.gz"), ("parquet", ".parquet"), ("bundle", ".parquet")]
)
def test_what_is_written_reads_back_the_same(tmp_path, scored, form, ending):
    files = export(scored, None, form, tmp_path / "out")
    assert {f"trace{ending}", f"targets{ending}"} <= set(files)
    again = read_traced(
        tmp_path / "out" / f"trace{ending}", tmp_path / "out" / f"targets{ending}", TARGETS
    )
    traced = scored.traced
    rows = np.flatnonzero(traced.counts())
    assert again.query.to_pylist() == traced.query.take(rows).to_pylist()
    assert again.notices == ()
    assert again.categories == traced.categories
    assert len(set(again.cluster)) == len(set(traced.cluster[rows]))
    _same(scored, score_traced(again, CUTOFFS, "anchor"), rows)


def test_the_same_scores_give_the_same_bytes(tmp_path, scored):
    for form in ("trec", "jsonl", "parquet", "bundle"):
        one, other = (export(scored, None, form, tmp_path / f"{form}{n}") for n in (1, 2))
        assert one == other
        for name in one:
            first, second = (tmp_path / f"{form}{n}" / name for n in (1, 2))
            assert first.read_bytes() == second.read_bytes()


def test_grades_and_sets_read_back_the_same(tmp_path, put):
    groups = [
        {"mine": ["a", "b"], "grades": {"a": 0.25}, "sets": {"mine": [["b", "c"], ["c", "d"]]}},
        {"mine": []},
        {"mine": ["d"]},
    ]
    trace = put("t", [{"query_id": "q", "ranked": list("abcd")}])
    mapping = put("m", [{"query_id": "q", "groups": groups}])
    scored = score_traced(read_traced(trace, mapping, ["mine"]), (1, 2, 3, 4), "cover")
    for form, ending in (("jsonl", ".jsonl.gz"), ("parquet", ".parquet")):
        export(scored, None, form, tmp_path / form)
        folder = tmp_path / form
        again = read_traced(folder / f"trace{ending}", folder / f"targets{ending}", ["mine"])
        _same(scored, score_traced(again, (1, 2, 3, 4), "cover"), [0])
    with pytest.raises(UsageError, match="qrels cannot hold"):
        export(scored, None, "trec", tmp_path / "trec")
    assert not (tmp_path / "trec").exists()


def test_ids_without_groups_read_back_the_same(tmp_path, put, ranked_rows):
    mapping = [{"query_id": row["query_id"], "raw_ids": ["a", "b"]} for row in ranked_rows]
    traced = read_traced(put("t", ranked_rows), put("m", mapping), ["raw"])
    scored = score_traced(traced, CUTOFFS, "id")
    export(scored, None, "parquet", tmp_path / "out")
    again = read_traced(
        tmp_path / "out" / "trace.parquet", tmp_path / "out" / "targets.parquet", ["raw"]
    )
    assert not again.anchored
    _same(scored, score_traced(again, CUTOFFS, "id"), [0, 1, 2])


def test_anchors_that_a_store_does_not_tell_keep_their_place(tmp_path, scored):
    raw = scored.traced.supports["raw"]
    kept = msgspec.structs.replace(
        raw,
        of=np.array([2, 1, 1, 0]),
        anchor_offsets=np.array([0, 2, 3, 4, 4]),
        support_offsets=np.array([0, 1, 1, 2, 3]),
        items=raw.items[:3],
        place=np.arange(4),
    )
    traced = msgspec.structs.replace(scored.traced, supports={"raw": kept})
    one = score_traced(traced, CUTOFFS, "anchor")
    export(one, None, "jsonl", tmp_path / "out")
    again = read_traced(
        tmp_path / "out" / "trace.jsonl.gz", tmp_path / "out" / "targets.jsonl.gz", ["raw"]
    )
    _same(one, score_traced(again, CUTOFFS, "anchor"), [0, 1, 2])


def test_trec_programs_read_our_files_and_agree(tmp_path, scored):
    """Per id, as TREC counts; a query without eligible items is in no qrels."""
    files = export(scored, None, "trec", tmp_path / "out")
    assert files == ["qrels.canonical.trec", "qrels.raw.trec", "qrels.source.trec", "run.trec"]
    per_id = score_traced(scored.traced, CUTOFFS, "id")
    queries = [escaped(name) for name in scored.traced.query.to_pylist()]
    with (tmp_path / "out" / "run.trec").open(encoding="utf-8") as file:
        run = pytrec_eval.parse_run(file)
    for target in TARGETS:
        path = tmp_path / "out" / f"qrels.{target}.trec"
        with path.open(encoding="utf-8") as file:
            qrels = pytrec_eval.parse_qrel(file)
        names = {"recip_rank", *(f"{one}_{k}" for one in ("recall", "ndcg_cut") for k in CUTOFFS)}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
        values = per_id.by_target[target]
        served = per_id.served(target)
        assert set(theirs) <= {queries[at] for at in np.flatnonzero(served)}
        compared = 0
        for at in np.flatnonzero(served):
            if queries[at] not in theirs:  # nothing was found for it: a run cannot say so
                assert values.values["recall_any", 3][at] == 0
                continue
            found = theirs[queries[at]]
            assert values.values["mrr", 3][at] == found["recip_rank"]
            for k in CUTOFFS:
                assert values.values["recall_micro", k][at] == found[f"recall_{k}"]
                assert values.values["ndcg", k][at] == found[f"ndcg_cut_{k}"]
                compared += 1
        assert compared
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            per_query = list(
                ir_measures.iter_calc(
                    [ir_measures.nDCG @ 3],
                    ir_measures.read_trec_qrels(str(path)),
                    ir_measures.read_trec_run(str(tmp_path / "out" / "run.trec")),
                )
            )
        for one in per_query:
            at = queries.index(one.query_id)
            assert values.values["ndcg", 3][at] == pytest.approx(one.value, abs=1e-12)
        assert per_query


def test_our_trec_files_read_back_in_their_order(tmp_path, scored):
    export(scored, None, "trec", tmp_path / "out")
    again = read_traced(tmp_path / "out" / "run.trec", tmp_path / "out" / "qrels.raw.trec")
    assert again.notices[0].kind == "absent-query"
    assert len(again.notices) == 1
    names = [unescaped(name) for name in again.items.to_pylist()]
    at = again.query.to_pylist().index("q2")
    assert [names[i] for i in again.hits[at] if i >= 0] == ["x", "b", "50% off", "a\u2003b", "%25"]


@given(st.text())
def test_names_are_escaped_reversibly_and_without_white_space(name):
    assert len(escaped(name).split()) <= 1
    assert unescaped(escaped(name)) == name


def test_a_ranking_with_an_item_twice_is_refused(tmp_path, scored):
    hits = scored.traced.hits.copy()
    hits[0, 1] = hits[0, 0]
    traced = msgspec.structs.replace(scored.traced, hits=hits)
    with pytest.raises(Refusal, match="1 rankings have an item twice"):
        export(score_traced(traced, CUTOFFS, "anchor"), None, "trec", tmp_path / "out")


def test_nothing_is_written_over_and_nothing_left_behind(tmp_path, scored, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("keep")
    (tmp_path / "file").write_text("keep")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("full", "file", "link"):
        with pytest.raises(UsageError, match="stands there already"):
            export(scored, None, "jsonl", tmp_path / name)
    with pytest.raises(UsageError, match="parent folder"):
        export(scored, None, "jsonl", tmp_path / "no" / "out")
    export(scored, None, "jsonl", tmp_path / "empty")
    before = sorted(tmp_path.iterdir())

    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr("memruler.exchange.export.write_bundle", broken)
    with pytest.raises(RuntimeError, match="broken"):
        export(scored, None, "bundle", tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_a_target_that_a_store_cannot_be_asked_for_is_not_written(tmp_path, scored):
    traced = msgspec.structs.replace(scored.traced, unserved={"node": "it does not tell"})
    one = score_traced(traced, CUTOFFS, "anchor")
    with pytest.raises(UsageError, match=r"node cannot be written.*--target raw,source,canonical"):
        export(one, None, "jsonl", tmp_path / "out")


def test_json_lines_are_plain(tmp_path, scored):
    export(scored, None, "jsonl", tmp_path / "out")
    with gzip.open(tmp_path / "out" / "targets.jsonl.gz", "rt", encoding="utf-8") as file:
        line = json.loads(next(file))
    assert line["groups"][0]["anchor"] == "0"
    assert set(line["groups"][0]) == {"anchor", *TARGETS}
    assert line["raw_ids"] == ["a", "b"]
