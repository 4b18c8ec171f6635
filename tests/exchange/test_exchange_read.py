import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import CorpusError, UsageError
from memruler.exchange import lines
from memruler.exchange.faults import FaultyFile
from memruler.exchange.read import read_traced, stem
from memruler.metrics.credit import Support, credit_one
from memruler.metrics.credited import CREDIT_METRICS
from memruler.scoring.traced import score_traced

TARGETS = ["raw", "source", "canonical"]


def _lists(traced):
    names = traced.items.to_pylist()
    return {
        query: [names[at] for at in row if at >= 0]
        for query, row in zip(traced.query.to_pylist(), traced.hits.tolist(), strict=True)
    }


def _gold(traced, target):
    supports, names = traced.supports[target], traced.items.to_pylist()
    found = {}
    for at, query in enumerate(traced.query.to_pylist()):
        anchors = range(supports.anchor_offsets[at], supports.anchor_offsets[at + 1])
        found[query] = [
            [names[i] for i in supports.items[slice(*supports.support_offsets[a : a + 2])]]
            for a in anchors
        ]
    return found


@pytest.mark.parametrize("name", ["density_lexical_f1", "density_lexical_f5"])
def test_the_published_results_come_out(shared_samples, name):
    folder = shared_samples.parent / "data" / "tiap"
    if not folder.exists():
        pytest.skip("needs ../shared/data/tiap, which is not on this machine")
    published = json.loads((folder / "published.json").read_text())[name]["targets"]
    traced = read_traced(
        folder / f"{name}.ranked.jsonl.gz", folder / f"{name}.targets.jsonl.gz", TARGETS
    )
    assert traced.name == name
    assert traced.notices == ()
    scored = score_traced(traced, (60,), "anchor")
    for target, wanted in published.items():
        values, served = scored.by_target[target], scored.served(target)
        assert served.sum() == wanted["queries"]
        assert (~served & traced.counts()).sum() == wanted["zero_target_cases"]
        assert values.found[60][served].sum() == wanted["total_hits"]
        assert values.anchors[served].sum() == wanted["total_relevant"]
        for metric, key in (
            ("ndcg", "ndcg_at_k"),
            ("mrr", "mrr"),
            ("recall_micro", "recall_at_k"),
            ("recall_any", "hit_rate_at_k"),
            ("top1", "top1_hit_rate"),
        ):
            mean = values.values[metric, 60][served].mean()
            assert mean == pytest.approx(wanted[key], abs=1e-9)
        pooled = values.found[60][served].sum() / values.anchors[served].sum()
        assert pooled == pytest.approx(wanted["micro_recall_at_k"], abs=1e-9)


def test_all_forms_of_a_trace_say_the_same(put, tmp_path, ranked_rows, hit_rows, mapping_rows):
    ranked_rows.pop()  # one hit a line cannot say that nothing was found
    mapping_rows.pop()
    shuffled = random.Random(7).sample(hit_rows, len(hit_rows))
    pq.write_table(pa.Table.from_pylist(ranked_rows), tmp_path / "ranked.parquet")
    pq.write_table(pa.Table.from_pylist(shuffled), tmp_path / "hits.parquet")
    traces = [
        put("ranked.jsonl", ranked_rows),
        put("ranked.jsonl.gz", ranked_rows),
        put("hits.jsonl", hit_rows),
        put("shuffled.jsonl.gz", shuffled),
        tmp_path / "ranked.parquet",
        tmp_path / "hits.parquet",
    ]
    pq.write_table(pa.Table.from_pylist(_same_type(mapping_rows)), tmp_path / "map.parquet")
    mappings = [put("map.jsonl", mapping_rows), tmp_path / "map.parquet"]
    wanted = {row["query_id"]: row["ranked"] for row in ranked_rows}
    for trace in traces:
        for mapping in mappings:
            traced = read_traced(trace, mapping, TARGETS)
            assert _lists(traced) == wanted
            assert _gold(traced, "raw") == {"q1": [["a"], ["b"]], "q2": [["b"]]}
            assert _gold(traced, "source") == {
                "q1": [["a", "fa", "fb"], ["b"]],
                "q2": [["b", "fb"]],
            }
            assert _gold(traced, "canonical") == {"q1": [["fa", "fb"]], "q2": [["fb"]]}
            categories = dict(zip(traced.query.to_pylist(), traced.category, strict=True))
            assert [traced.categories[categories[q]] for q in ("q1", "q2")] == ["one", "two"]
            assert len(set(traced.cluster)) == 1
            assert traced.notices == ()
            assert traced.anchored


def _same_type(rows):
    for row in rows:
        for group in row["groups"]:
            group["anchor"] = str(group["anchor"])
    return rows


def test_groups_left_empty_are_left_out_and_counted(put, ranked_rows, mapping_rows):
    traced = read_traced(put("t", ranked_rows), put("m", mapping_rows), ["canonical"])
    supports = traced.supports["canonical"]
    assert supports.of.tolist() == [2, 1, 1]
    assert supports.anchors().tolist() == [1, 1, 0]
    assert supports.place.tolist() == [0, 2]


def test_source_is_what_the_group_says_where_it_says_so(put, ranked_rows):
    groups = [
        {"raw": ["a"], "canonical": ["b"], "source": ["c"]},
        {"raw": ["a"], "canonical": ["b"]},
        {"raw": ["a"], "canonical": ["b"], "source": []},
    ]
    mapping = [{"query_id": "q1", "groups": groups}]
    traced = read_traced(put("t", ranked_rows[:1]), put("m", mapping), ["source"])
    assert _gold(traced, "source") == {"q1": [["c"], ["a", "b"]]}
    assert traced.supports["source"].of.tolist() == [3]


def test_without_groups_each_id_counts_by_itself(put, ranked_rows):
    mapping = [
        {"query_id": "q1", "raw_ids": ["a", "a"], "canonical_ids": ["fa"]},
        {"query_id": "q2", "raw_ids": [], "canonical_ids": []},
        {"query_id": "q3", "raw_ids": ["b"], "canonical_ids": None},
    ]
    traced = read_traced(put("t", ranked_rows), put("m", mapping), TARGETS)
    assert not traced.anchored
    assert _gold(traced, "source") == {"q1": [["a"], ["fa"]], "q2": [], "q3": [["b"]]}
    assert traced.supports["raw"].of.tolist() == [1, 0, 1]
    assert score_traced(traced, (3,), "anchor").rule == "id"


def test_targets_can_stand_in_the_lines_of_the_trace(put, ranked_rows, mapping_rows):
    rows = [row | gold for row, gold in zip(ranked_rows, mapping_rows, strict=True)]
    traced = read_traced(put("both.jsonl", rows))
    assert list(traced.supports) == ["raw", "canonical"]
    assert _gold(traced, "raw")["q1"] == [["a"], ["b"]]


def test_the_order_of_the_mapping_does_not_matter(put, ranked_rows, mapping_rows):
    here = read_traced(put("t", ranked_rows), put("m", mapping_rows), TARGETS)
    there = read_traced(put("t", ranked_rows), put("n", mapping_rows[::-1]), TARGETS)
    for target in TARGETS:
        assert _gold(here, target) == _gold(there, target)
        assert here.supports[target].of.tolist() == there.supports[target].of.tolist()


def test_queries_of_one_file_alone_are_counted_and_never_zero(put, ranked_rows, mapping_rows):
    traced = read_traced(put("t", ranked_rows[:2]), put("m", mapping_rows[1:]), TARGETS)
    assert traced.query.to_pylist() == ["q1", "q2", "q3"]
    reasons = [traced.reasons[at] if at >= 0 else None for at in traced.reason]
    assert reasons == ["no_targets", None, "no_ranking"]
    assert {notice.kind: (notice.count, notice.names) for notice in traced.notices} == {
        "absent-query": (1, ("q3",)),
        "no-targets": (1, ("q1",)),
    }
    scored = score_traced(traced, (3,), "anchor")
    assert scored.served("raw").tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("hits", "told"),
    [
        ([("q1", "a", 1), ("q1", "b", 1), ("q1", "c", 2)], "a rank stands twice: 1 (q1)"),
        ([("q1", "a", 1), ("q1", "b", 3)], "ranks have a gap: 1 (q1)"),
        ([("q1", "a", 0), ("q1", "b", 1)], "ranks do not begin at 1: 1 (q1)"),
        ([("q1", "a", 2)], "ranks do not begin at 1: 1 (q1)"),
        ([("q1", "a", -(2**63)), ("q1", "b", 2**63 - 1)], "ranks do not begin at 1: 1 (q1)"),
        ([("q1", "a", 1), ("q1", "a", 2)], "a ranking has an item twice: 1 (q1 has a)"),
    ],
)
def test_ranks_are_never_repaired(put, mapping_rows, hits, told):
    rows = [{"query_id": q, "retrieved_id": i, "rank": r} for q, i, r in hits]
    with pytest.raises(FaultyFile) as error:
        read_traced(put("t", rows), put("m", mapping_rows), TARGETS)
    assert told in str(error.value)
    assert error.value.exit_code == 2


def test_all_kinds_of_faults_are_told_at_once_with_ten_names_each(put, mapping_rows):
    rows = [
        {"query_id": f"q{n}", "retrieved_id": item, "rank": rank, "category": item}
        for n in range(12)
        for item, rank in (("a", 1), ("b", 1), ("c", 4))
    ]
    with pytest.raises(FaultyFile) as error:
        read_traced(put("t", rows), put("m", mapping_rows), TARGETS)
    faults = {fault.what: fault for fault in error.value.faults}
    assert set(faults) == {
        "a rank stands twice",
        "ranks have a gap",
        "lines of a query differ in category",
    }
    assert all(fault.count == 12 for fault in faults.values())
    assert all(len(fault.names) == 10 for fault in faults.values())
    assert len(str(error.value).splitlines()) == 4


def test_a_query_twice_is_refused_in_either_file(put, ranked_rows, mapping_rows):
    with pytest.raises(FaultyFile, match=r"a query stands twice: 1 \(q2\)"):
        read_traced(put("t", [*ranked_rows, ranked_rows[1]]), put("m", mapping_rows), TARGETS)
    with pytest.raises(FaultyFile, match=r"a query stands twice: 1 \(q1\)"):
        read_traced(put("t", ranked_rows), put("m", [*mapping_rows, mapping_rows[0]]), TARGETS)


def test_an_id_twice_in_a_ranking_is_refused(put, ranked_rows, mapping_rows):
    ranked_rows[1]["ranked"] = ["x", "b", "x"]
    with pytest.raises(FaultyFile, match=r"item twice: 1 \(q2 has x\)"):
        read_traced(put("t", ranked_rows), put("m", mapping_rows), TARGETS)


def test_targets_that_are_no_subsets_are_told(put, ranked_rows):
    groups = [{"raw": ["a", "z"], "canonical": ["fa"], "source": ["a", "fa"]}]
    mapping = [{"query_id": row["query_id"], "groups": groups} for row in ranked_rows]
    traced = read_traced(put("t", ranked_rows), put("m", mapping), TARGETS)
    (notice,) = traced.notices
    assert (notice.kind, notice.count, notice.names) == ("not-a-subset", 3, ("q1", "q2", "q3"))
    assert "raw" in notice.what
    assert _gold(traced, "raw")["q1"] == [["a", "z"]]


def test_ids_that_are_not_those_of_the_groups_are_told_and_the_groups_win(
    put, ranked_rows, mapping_rows
):
    mapping_rows[0] |= {"raw_ids": ["a"], "source_ids": ["b", "fb", "fa", "a"]}
    mapping_rows[1] |= {"raw_ids": ["b"], "source_ids": ["b"]}
    traced = read_traced(put("t", ranked_rows), put("m", mapping_rows), TARGETS)
    told = {(notice.what.split()[2], notice.names) for notice in traced.notices}
    assert told == {("raw_ids", ("q1",)), ("source_ids", ("q2",))}
    assert {notice.kind for notice in traced.notices} == {"ids-differ-from-groups"}
    assert _gold(traced, "raw")["q1"] == [["a"], ["b"]]


def test_items_that_nobody_stored_are_told(put, ranked_rows, mapping_rows):
    items = put("items", [{"id": one, "kind": "turn"} for one in ("a", "b", "fa")])
    traced = read_traced(put("t", ranked_rows), put("m", mapping_rows), TARGETS, items=items)
    (notice,) = traced.notices
    assert (notice.kind, notice.count, set(notice.names)) == ("unknown-item", 2, {"x", "fb"})


def test_grades_and_sets_reach_the_metrics(put):
    trace = put("t", [{"query_id": "q", "ranked": ["a", "b", "c"]}])
    groups = [
        {"raw": ["a"], "grades": {"a": 0.5}, "sets": {"raw": [["b", "c"]]}},
        {"raw": ["z", "c"], "grades": {"z": 0}},
    ]
    traced = read_traced(trace, put("m", [{"query_id": "q", "groups": groups}]), ["raw"])
    supports = traced.supports["raw"]
    assert supports.grades.tolist() == [0.5, 1.0, 1.0]
    assert np.diff(supports.set_offsets).tolist() == [1, 2, 1]
    scored = score_traced(traced, (1, 2, 3), "anchor").by_target["raw"]
    anchors = [
        [Support(frozenset("a"), 0.5), Support(frozenset("bc"))],
        [Support(frozenset("c"))],
    ]
    for k in (1, 2, 3):
        wanted = credit_one("abc", anchors, k)
        for metric in CREDIT_METRICS:
            assert scored.values[metric, k][0] == getattr(wanted, metric)


def test_a_target_may_have_sets_alone_and_those_of_others_are_left_alone(put):
    trace = put("t", [{"query_id": "q", "ranked": ["a", "b"]}])
    sets = {"path": [["a", "b"]], "{other}": [["a", "z"]]}
    mapping = put("m", [{"query_id": "q", "groups": [{"raw": ["a"], "sets": sets}]}])
    traced = read_traced(trace, mapping, ["path", "raw"])
    assert traced.supports["path"].set_offsets.tolist() == [0, 2]
    assert list(read_traced(trace, mapping).supports) == ["raw", "path"]


@pytest.mark.parametrize(
    ("group", "told"),
    [
        ({"raw": ["a"], "grades": {"a": 1.5}}, "a grade is not from 0 to 1"),
        ({"raw": ["a"], "grades": {"a": -0.1}}, "a grade is not from 0 to 1"),
        ({"raw": ["a"], "grades": {"b": 0.5}}, "graded and not in its group"),
        ({"raw": ["a"], "sets": {"raw": [[]]}}, "a set of raw is empty"),
    ],
)
def test_grades_and_sets_that_mean_nothing_are_refused(put, ranked_rows, group, told):
    mapping = put("m", [{"query_id": "q1", "groups": [group]}])
    with pytest.raises(FaultyFile, match=told):
        read_traced(put("t", ranked_rows), mapping, ["raw"])


def test_ids_without_groups_where_others_have_groups_are_refused(put, ranked_rows, mapping_rows):
    mapping_rows[1] = {"query_id": "q2", "raw_ids": ["b"]}
    with pytest.raises(FaultyFile, match=r"ids and no groups.*\(q2\)"):
        read_traced(put("t", ranked_rows), put("m", mapping_rows), TARGETS)


def test_a_target_that_is_not_there_is_told_with_those_that_are(put, ranked_rows, mapping_rows):
    with pytest.raises(UsageError, match=r"'node' is not in the file.*raw, source, canonical"):
        read_traced(put("t", ranked_rows), put("m", mapping_rows), ["raw", "node"])
    for name in ("", "a\nb", "grades", "a b"):
        with pytest.raises(UsageError, match="no name of a target"):
            read_traced(put("t", ranked_rows), put("m", mapping_rows), [name])


def test_targets_of_ones_own_are_read_by_name(put, ranked_rows):
    groups = [{"anchor": 1, "raw": ["a"], "kind:fact": ["fa"]}]
    mapping = put("m", [{"query_id": "q1", "groups": groups}])
    traced = read_traced(put("t", ranked_rows), mapping, ["kind:fact"])
    assert _gold(traced, "kind:fact")["q1"] == [["fa"]]


BAD_LINES = [
    (b"{", "truncated JSON"),
    (b'{"query_id": "q", "ranked": ["a"]} x', "JSON"),
    (b'{"query_id": "q", "ranked": ["a"]}{"query_id": "r", "ranked": []}', "JSON"),
    (b'{"query_id": "q",\n"ranked": ["a"]}', "JSON"),
    (b"null", "Expected `object`"),
    (b'{"query_id": "q", "ranked": ["a"]} null', "JSON"),
    (b"[1]", "Expected `object`"),
    (b'{"query_id": 1, "ranked": []}', "Expected `str`, got `int`"),
    (b'{"query_id": "q", "ranked": "a"}', "Expected `array`, got `str`"),
    (b'{"query_id": "q", "ranked": ["a", null]}', "Expected `str`, got `null`"),
    (b'{"query_id": "q", "ranked": [1]}', "Expected `str`, got `int`"),
    (b'{"query_id": "q", "ranked": [""]}', "length >= 1"),
    (b'{"query_id": "", "ranked": []}', "length >= 1"),
    (b'{"query_id": "q"}', "required field `ranked`"),
    (b'{"query_id": null, "ranked": []}', "Expected `str`, got `null`"),
    (b'{"query_id": "a\\u0000b", "ranked": []}', "NUL"),
    (b'{"query_id": "a\x00b", "ranked": []}', "NUL"),
    (b'{"query_id": "\xff", "ranked": []}', "UTF-8"),
    (b'{"query_id": "\\ud800", "ranked": []}', "surrogate"),
    (b'{"query_id": "q", "query_id": "r", "ranked": []}', "stands twice"),
    (b'{"query_id": "q", "ranked": [], "score": NaN}', "JSON"),
    (b'{"query_id": "q", "ranked": [], "deep": ' + b"[" * 5000 + b"]" * 5000 + b"}", "deep"),
    (b'{"query_id": "q", "ranked": []},', "JSON"),
]


@pytest.mark.parametrize(("line", "told"), BAD_LINES)
def test_a_bad_line_is_told_with_its_number(put, mapping_rows, line, told):
    good = b'{"query_id": "g%d", "ranked": ["a"]}\n'
    data = good % 1 + b"\n" + good % 2 + line + b"\n" + good % 3
    with pytest.raises(FaultyFile) as error:
        read_traced(put("t", data), put("m", mapping_rows), TARGETS)
    assert "line 4" in str(error.value)
    assert any(told in fault.what for fault in error.value.faults)


def test_blank_lines_spaces_and_other_keys_are_no_fault(put, mapping_rows):
    data = (
        b'\xef\xbb\xbf\r\n  {"query_id" : "q1", "other": {"a": [1, null]}, "ranked": [ "a" ] } \r\n'
        b'\n\t\n{"query_id":"q2","note":"} null {","ranked":["\\u0061b"]}'
    )
    traced = read_traced(put("t", data), put("m", mapping_rows), TARGETS)
    lists = _lists(traced)
    assert (lists["q1"], lists["q2"]) == (["a"], ["ab"])


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_told(put, ranked_rows, mapping_rows, data):
    with pytest.raises(CorpusError, match="empty"):
        read_traced(put("t", data), put("m", mapping_rows), TARGETS)
    with pytest.raises(CorpusError, match="empty"):
        read_traced(put("t", ranked_rows), put("m", data), TARGETS)


def test_names_that_look_like_an_attack_are_printed_harmless(put, mapping_rows):
    rows = [{"query_id": "\x1b[2J" + "n" * 500, "ranked": ["a", "a"]}]
    with pytest.raises(FaultyFile) as error:
        read_traced(put("t", rows), put("m", mapping_rows), TARGETS)
    assert "\x1b" not in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"query_id": [1], "ranked": [["a"]]}, "query_id is int64"),
        ({"query_id": ["q"], "ranked": [[1]]}, "ranked is list"),
        ({"query_id": ["q"], "ranked": [["a", None]]}, "nothing in ranked"),
        ({"query_id": [None], "ranked": [["a"]]}, "query_id"),
        ({"query": ["q"], "ranked": [["a"]]}, "lacks the column query_id"),
        ({"query_id": ["q"], "retrieved_id": ["a"], "rank": [1.0]}, "rank is double"),
        ({"query_id": ["q"], "retrieved_id": ["a"]}, "lacks the column rank"),
    ],
)
def test_a_parquet_file_of_another_shape_is_told(tmp_path, put, mapping_rows, table, told):
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    with pytest.raises(CorpusError, match=told):
        read_traced(tmp_path / "t.parquet", put("m", mapping_rows), TARGETS)


def test_a_damaged_parquet_file_is_told(tmp_path, put, mapping_rows):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and then nothing of the kind PAR1")
    with pytest.raises(CorpusError, match="Parquet"):
        read_traced(tmp_path / "t.parquet", put("m", mapping_rows), TARGETS)


def test_parquet_takes_wide_and_dictionary_types(tmp_path, put, mapping_rows):
    table = pa.table(
        {
            "query_id": pa.array(["q1", "q1", "q2"]).dictionary_encode(),
            "retrieved_id": pa.array(["x", "a", "b"], pa.large_string()),
            "rank": pa.array([2, 1, 1], pa.uint8()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    traced = read_traced(tmp_path / "t.parquet", put("m", mapping_rows), TARGETS)
    assert _lists(traced)["q1"] == ["a", "x"]


def test_the_name_of_a_trace_is_its_stem(tmp_path):
    assert stem(tmp_path / "density.ranked.jsonl.gz") == "density"
    assert stem(tmp_path / "run.v2.trec") == "run.v2"
    assert stem(tmp_path / ".gz") == ".gz"


ids = st.sampled_from([f"i{n}" for n in range(8)])
groups = st.lists(
    st.fixed_dictionaries(
        {}, optional={name: st.lists(ids, max_size=4, unique=True) for name in TARGETS}
    ),
    max_size=4,
)
worlds = st.lists(st.tuples(st.lists(ids, max_size=8, unique=True), groups), min_size=1, max_size=5)


@settings(max_examples=150)
@given(
    worlds,
    st.sampled_from(["anchor", "id", "cover"]),
    st.sampled_from([1, 80, 1 << 22]),
    st.randoms(use_true_random=False),
)
def test_what_is_read_scores_as_the_definition_does(tmp_path_factory, world, rule, block, rng):
    folder = tmp_path_factory.mktemp("world")
    trace = [{"query_id": f"q{n}", "ranked": ranked} for n, (ranked, _) in enumerate(world)]
    mapping = [{"query_id": f"q{n}", "groups": gold} for n, (_, gold) in enumerate(world)]
    rng.shuffle(mapping)
    for name, rows in (("t", trace), ("m", mapping)):
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        (folder / name).write_text(text)
    mapping.append({"query_id": "all", "groups": [{name: ["z"] for name in TARGETS}]})
    with (folder / "m").open("a") as file:
        file.write(json.dumps(mapping[-1]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)  # so that a file is read in several
        traced = read_traced(folder / "t", folder / "m", TARGETS)
    scored = score_traced(traced, (1, 3, 8), rule)
    for target in TARGETS:
        values = scored.by_target[target]
        for n, (ranked, gold) in enumerate(world):
            anchors = [
                [Support(frozenset({one})) for one in mine]
                for group in gold
                if (mine := _admitted(group, target))
            ]
            assert scored.served(target)[n] == bool(anchors)
            for k in (1, 3, 8) if anchors else ():
                wanted = credit_one(ranked, anchors, k, rule)
                for metric in CREDIT_METRICS:
                    assert values.values[metric, k][n] == getattr(wanted, metric)


def _admitted(group, target):
    if target == "source" and "source" not in group:
        return list(dict.fromkeys([*group.get("raw", []), *group.get("canonical", [])]))
    return group.get(target, [])
