import json

import pytest

from memruler.compare.pairing import read_pair
from memruler.compare.refusal import Incomparable
from memruler.errors import CorpusError, MemrulerError, UsageError

LEFT = "id,score,conv\na/x/1,1,c1\na/x/2,0,c1\na/y/3,0.5,c2\nb/z/4,1,c2\n"
RIGHT = LEFT.replace("2,0,", "2,1,").replace("4,1,", "4,0,")


@pytest.fixture
def write(tmp_path):
    def build(name, content, meta=None):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        if meta is not None:
            path.with_name(name + ".meta.json").write_text(json.dumps(meta), encoding="utf-8")
        return path

    return build


@pytest.fixture
def pair(write):
    def build(left=LEFT, right=RIGHT, metas=(None, None), **options):
        return read_pair(
            write("base.csv", left, metas[0]), write("cand.csv", right, metas[1]), **options
        )

    return build


def codes(caught):
    return [reason.code for reason in caught.value.record.reasons]


def test_pairs(pair):
    found = pair()
    assert (found.base, found.candidate, found.metric) == ("base.csv", "cand.csv", "score")
    assert found.ids == ("a/x/1", "a/x/2", "a/y/3", "b/z/4")
    assert found.deltas == (0.0, 1.0, 0.0, -1.0)
    assert (found.clusters, found.cluster, found.deterministic) == (None, None, False)
    assert (found.absent, found.changed, found.degraded) == ({}, (), ())
    assert len(found.notes) == 1
    assert "was not checked" in found.notes[0]


def test_order_and_format_do_not_matter(write, pair):
    rows = [line.split(",") for line in RIGHT.splitlines()[1:]]
    jsonl = "\n".join(
        json.dumps({"conv": c, "score": float(s), "id": i}) for i, s, c in reversed(rows)
    )
    found = read_pair(write("b.csv", LEFT), write("c.jsonl", jsonl), cluster="conv")
    assert found.ids == pair().ids
    assert found.deltas == pair().deltas
    assert found.clusters == ("c1", "c1", "c2", "c2")


def test_numbers_as_ids_meet_their_texts(write):
    left = write("b.csv", "id,score\n1,1\n02,0\n")
    right = write("c.jsonl", '{"id": 1, "score": 0}\n{"id": "02", "score": 0}\n')
    assert read_pair(left, right).deltas == (-1.0, 0.0)
    other = write("d.jsonl", '{"id": 1, "score": 0}\n{"id": 2, "score": 0}\n')
    with pytest.raises(Incomparable, match="02"):
        read_pair(left, other)


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        ("conv", ("c1", "c1", "c2", "c2")),
        ("path:1", ("a", "a", "a", "b")),
        ("path:2", ("a/x", "a/x", "a/y", "b/z")),
        ("path:9", ("a/x/1", "a/x/2", "a/y/3", "b/z/4")),
    ],
)
def test_clusters(pair, cluster, want):
    found = pair(cluster=cluster)
    assert (found.cluster, found.clusters) == (cluster, want)


def test_clusters_of_numbers(pair):
    texts = [t.replace("c1", "1").replace("c2", "2") for t in (LEFT, RIGHT)]
    assert pair(*texts, metric="score", cluster="conv").clusters == ("1", "1", "2", "2")


def test_a_cluster_that_one_side_alone_names(pair):
    assert pair(
        right="id,score\na/x/1,1\na/x/2,0\na/y/3,0\nb/z/4,1\n", cluster="conv"
    ).clusters == (
        "c1",
        "c1",
        "c2",
        "c2",
    )


@pytest.mark.parametrize(
    ("cluster", "what"),
    [
        ("con", "no such cluster key: 'con'; did you mean conv?"),
        ("nothing", "one of conv, score, path:N"),
        ("path:", "no depth"),
        ("path:0", "no depth"),
        ("path:-1", "no depth"),
        ("path:x", "no depth"),
        ("path:²", "no depth"),
        ("path:" + "9" * 5000, "no depth"),
        ("score", "an item has not the same score on both sides [a/x/2]"),
    ],
)
def test_clusters_that_are_none(pair, cluster, what):
    with pytest.raises(UsageError) as caught:
        pair(cluster=cluster)
    message = str(caught.value) + caught.value.what[-20:]  # a long one is cut
    assert what in message


def test_an_item_without_a_cluster(pair):
    with pytest.raises(UsageError, match=r"an item has no conv on both sides \[a/y/3\]"):
        pair(LEFT.replace("c2", "", 1), RIGHT.replace("c2", "", 1), cluster="conv")
    with pytest.raises(UsageError, match="not the same conv"):
        pair(LEFT.replace("c2", "c3"), cluster="conv")


@pytest.mark.parametrize(
    ("metric", "what"),
    [
        ("scor", "no such metric: 'scor'; did you mean score?"),
        ("zzz", "no such metric: 'zzz'; one of score, session:odd"),
        ("conv", "'conv' is no metric [base.csv and cand.csv]; it holds text there"),
        (None, "which metric decides?; --metric with one of score, session:odd"),
    ],
)
def test_metrics_that_are_none(pair, metric, what):
    texts = [t.replace("score", "score,session:odd").replace(",c", ",0,c") for t in (LEFT, RIGHT)]
    texts = [t.replace("session:odd,0,conv", "session:odd,conv") for t in texts]
    with pytest.raises(UsageError) as caught:
        pair(*texts, metric=metric)
    assert str(caught.value) == what


def test_a_column_that_became_text(pair):
    with pytest.raises(UsageError, match=r"\[cand.csv\]; it holds text there"):
        pair(
            "id,score,x\n1,1,1\n2,1,1\n",
            "id,score,x\n1,1,1\n2,N/A,1\n",
            metric="score",
        )


def test_no_metric_is_shared(pair):
    with pytest.raises(UsageError, match="share no metric"):
        pair("id,conv\n1,x\n", "id,conv\n1,x\n")
    with pytest.raises(UsageError, match="share no metric"):
        pair("id,a\n1,1\n", "id,b\n1,1\n")


def test_unequal_ids(pair):
    with pytest.raises(Incomparable) as caught:
        pair(right=RIGHT.replace("a/x/1", "new"), shared=True)
    assert codes(caught) == ["queries", "queries"]
    assert caught.value.reasons == (
        "1 items are only in base.csv (a/x/1)",
        "1 items are only in cand.csv (new)",
    )
    with pytest.raises(Incomparable, match=r"4 items are only in base.csv \(a/x/1, .*, …\)"):
        pair(right="id,score\nq,1\n")


def test_a_value_on_one_side_only(pair):
    missing = RIGHT.replace("3,0.5,", "3,,")
    with pytest.raises(Incomparable, match="1 items have a value on one side only") as caught:
        pair(right=missing)
    assert codes(caught) == ["members"]
    found = pair(right=missing, shared=True)
    assert found.ids == ("a/x/1", "a/x/2", "b/z/4")
    assert found.absent == {"no value in the file": 1}
    assert "pays nothing for it" in found.notes[0]


def test_no_value_on_both_sides_is_counted_with_its_reasons(pair):
    found = pair(
        "id,score,error\n1,1,\n2,,timeout\n3,,\n4,,a\n",
        "id,score,error\n1,0,\n2,,timeout\n3,,\n4,,b\n",
    )
    assert found.absent == {"error: timeout": 1, "no value in the file": 1, "error: a; error: b": 1}
    with pytest.raises(Incomparable) as caught:
        pair("id,score\n1,1\n2,\n", "id,score\n1,\n2,1\n", shared=True)
    assert codes(caught) == ["nothing-left"]


def test_repeats_are_told(pair):
    rows = "id,repeat,score\na,1,1\na,2,1\na,3,0\nb,1,0\nb,2,1\n"
    found = pair(rows, "id,repeat,score\na,1,1\na,2,1\na,3,1\nb,1,1\n")
    assert found.deltas == (0.0, 1.0)
    assert "up to 3 of base.csv, up to 3 of cand.csv" in found.notes[0]


def test_a_majority_of_more_is_another_measure(pair):
    rows = "id,repeat,score\na,1,1\na,2,1\na,3,0\nb,1,0\nb,2,1\n"
    with pytest.raises(Incomparable, match="up to 3 repeats") as caught:
        pair(rows, "id,score\na,1\nb,1\n")
    assert codes(caught) == ["ruler"]


def test_rounding_is_no_change(pair):
    found = pair("id,score\na,0.3\nb,1\n", f"id,score\na,{0.1 + 0.2!r}\nb,1\n")
    assert found.deltas == (0.0, 0.0)


def test_what_re_rolls_is_not_deterministic(pair):
    rows = "id,repeat,score\na,1,1\na,2,0\nb,1,0\nb,2,0\n"
    with pytest.raises(CorpusError, match="declared deterministic, but"):
        pair(rows, rows, metas=({"deterministic": True}, {"deterministic": True}))


def test_a_majority_does_not_meet_a_mean(pair):
    labels = "id,repeat,score\na,1,1\na,2,0\nb,1,0\n"
    with pytest.raises(Incomparable, match="become one by majority") as caught:
        pair(labels, "id,score\na,0.5\nb,1\n")
    assert set(codes(caught)) == {"ruler"}
    with pytest.raises(Incomparable):
        pair("id,score\na,0.5\nb,1\n", labels)
    # Without a vote there is nothing to mix: a side that is all nought may meet any score.
    assert pair("id,repeat,score\na,1,0\na,2,0\nb,1,0\n", "id,score\na,0.5\nb,1\n").deltas == (
        0.5,
        1,
    )


META = {"axis": "accuracy", "reader": "r1", "judge": {"model": "j", "prompt": "p1"}}


def test_equal_declarations(pair):
    assert pair(metas=(META, META)).notes == ()


@pytest.mark.parametrize("name", ["axis", "dataset", "split", "denominator"])
@pytest.mark.parametrize("changed", [(), None], ids=["kept quiet", "declared"])
def test_what_can_never_be_under_test(pair, name, changed):
    metas = ({**META, name: "one"}, {**META, name: "other"})
    with pytest.raises(Incomparable) as caught:
        pair(metas=metas, changed=(name,) if changed is None else changed)
    assert caught.value.reasons == (f'{name} differs ("one" -> "other")',)
    assert "undeclared" not in codes(caught)


@pytest.mark.parametrize(
    ("key", "changed"),
    [("reader", "reader"), ("judge", "judge"), ("judge", "judge.prompt"), ("judge", "prompt")],
)
def test_what_is_declared_may_differ(pair, key, changed):
    other = {"reader": "r2", "judge": {"model": "j", "prompt": "p2"}}
    metas = (META, {**META, key: other[key]})
    with pytest.raises(Incomparable) as caught:
        pair(metas=metas)
    assert codes(caught) == ["undeclared"]
    found = pair(metas=metas, changed=(changed,))
    assert len(found.changed) == 1
    assert found.notes == ()


def test_every_reason_at_once(pair):
    other = {"axis": "retrieval", "reader": "r2", "judge": META["judge"], "deterministic": True}
    with pytest.raises(Incomparable) as caught:
        pair(right=RIGHT.replace("a/x/1", "new"), metas=(META, other))
    assert codes(caught) == ["ruler", "undeclared", "undeclared", "queries", "queries"]


def test_one_side_declares_and_the_other_does_not(pair):
    with pytest.raises(Incomparable) as caught:
        pair(metas=({"reader": "r1", "axis": "accuracy"}, None))
    assert codes(caught) == ["ruler", "undeclared"]
    assert caught.value.reasons[1].startswith('reader differs ("r1" -> (absent))')
    found = pair(metas=({"reader": "r1"}, {}), changed=("reader",))
    assert found.changed[0].missing == "candidate"
    assert "was not checked" in found.notes[0]


def test_what_did_not_change(pair):
    with pytest.raises(Incomparable) as caught:
        pair(metas=(META, META), changed=("reader",))
    assert codes(caught) == ["nothing-changed"]
    with pytest.raises(UsageError, match="did you mean reader"):
        pair(metas=(META, META), changed=("readr",))


@pytest.mark.parametrize("corpus", ["locomo", None, 3, ["x"], {}, {"sha256": "a"}])
def test_a_corpus_in_any_shape(pair, corpus):
    assert pair(metas=({"corpus": corpus}, {"corpus": corpus})).deltas
    with pytest.raises(Incomparable) as caught:
        pair(metas=({"corpus": corpus}, {"corpus": "other"}), changed=("corpus",))
    assert codes(caught) == ["corpus"]


def test_deterministic_only_if_both_say_so(pair):
    assert pair(metas=({"deterministic": True}, {"deterministic": True})).deterministic
    metas = ({"deterministic": True}, {"deterministic": False})
    with pytest.raises(Incomparable, match="deterministic differs"):
        pair(metas=metas)
    assert not pair(metas=metas, changed=("deterministic",)).deterministic


def test_the_call_itself(write, tmp_path):
    path = write("a.csv", LEFT)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    for other, what in (
        (path, "both sides are the same"),
        (link, "both sides are the same"),
        (tmp_path, "one side is a run folder and the other a file of scores"),
        (tmp_path / "gone", "no such file or folder"),
        (tmp_path / "gone.csv", "no such file or folder"),
        (loop, "no such file or folder"),
    ):
        with pytest.raises(UsageError, match=what):
            read_pair(path, other)


def test_hostile_names_stay_in_one_line(pair):
    evil = "a\x1b[31m\u202e\nb" * 50
    with pytest.raises(MemrulerError) as caught:
        pair(right=RIGHT.replace("a/x/1", f'"{evil}"'))
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_hundred_thousand_items(pair):
    left = "".join(f"{i},{i % 2},c{i % 500}\n" for i in range(100_000))
    right = "".join(f"{i},{int(i % 3 == 0)},c{i % 500}\n" for i in range(100_000))
    found = pair(f"id,score,conv\n{left}", f"id,score,conv\n{right}", cluster="conv")
    assert len(found.deltas) == len(found.clusters) == 100_000
    # Sixths of the ids gain, lose or stay: i % 6 in {0} gains, in {1, 5} loses.
    assert (sum(d > 0 for d in found.deltas), sum(d < 0 for d in found.deltas)) == (16667, 33333)


def test_nothing_in_common_among_very_many(pair):
    left = "".join(f"l{i},1\n" for i in range(50_000))
    right = "".join(f"r{i},1\n" for i in range(50_000))
    with pytest.raises(Incomparable, match=r"50000 items are only in base\.csv"):
        pair(f"id,score\n{left}", f"id,score\n{right}")


CHANGE = {"system.settings.decay_rate": 0.0}


def test_runs(make_run, queries_a):
    better = (*queries_a[:3], queries_a[3]._replace(session="x...."), queries_a[4])
    runs = make_run("base"), make_run("cand", better, changes=CHANGE)
    found = read_pair(*runs, changed=("decay_rate",), cluster="category")
    assert (found.metric, found.deltas) == ("session:recall_all@5", (0.0, 0.0, 0.0, 1.0))
    assert found.clusters == ("single", "single", "multi", "multi")
    assert found.absent == {"unanswerable": 1}
    assert found.deterministic
    assert [d.key for d in found.changed] == ["system.settings.decay_rate"]
    assert found.notes == ()
    with pytest.raises(Incomparable) as caught:
        read_pair(*runs)
    assert codes(caught) == ["undeclared"]
    assert read_pair(*runs, check=False).deltas == found.deltas


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        ("mrr@3", "session:mrr@3"),
        ("turn:mrr@3", "turn:mrr@3"),
        ("session:ndcg@1", "session:ndcg@1"),
        (None, "session:recall_all@5"),
    ],
)
def test_metrics_of_runs(make_run, asked, want):
    runs = make_run("base"), make_run("cand", changes=CHANGE)
    assert read_pair(*runs, metric=asked, changed=("system",)).metric == want


def test_unknown_metrics_of_runs(make_run):
    runs = make_run("base"), make_run("cand", changes=CHANGE)
    with pytest.raises(UsageError, match=r"did you mean recall_all@5\?"):
        read_pair(*runs, metric="recal_all@5", changed=("system",))


def test_runs_without_any_value(make_run, queries_a):
    none = tuple(q._replace(excluded="search_failed") for q in queries_a)
    runs = make_run("base", none), make_run("cand", none, changes=CHANGE)
    with pytest.raises(Incomparable) as caught:
        read_pair(*runs, changed=("system",))
    assert codes(caught) == ["nothing-left"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"corpus.sha256": "0" * 64}, "corpus"),
        ({"population.name": "all"}, "population"),
        ({"ruler.version": "2"}, "ruler"),
    ],
)
def test_runs_that_asked_otherwise(make_run, changes, code):
    runs = make_run("base"), make_run("cand", changes=changes)
    with pytest.raises(Incomparable) as caught:
        read_pair(*runs, changed=tuple(changes))
    assert codes(caught) == [code]


def test_runs_that_are_draws_take_part(make_run):
    runs = make_run("base", fields={"determinism": None}), make_run("cand", changes=CHANGE)
    assert not read_pair(*runs, changed=("system",)).deterministic


def test_degraded_runs(make_run):
    fields = {"degraded": ("toy embedder",)}
    runs = make_run("base", fields=fields), make_run("cand", changes=CHANGE, fields=fields)
    assert read_pair(*runs, changed=("system",)).degraded == ("toy embedder",)
    sound = make_run("sound", changes=CHANGE)
    with pytest.raises(Incomparable, match="the base is degraded"):
        read_pair(runs[0], sound, changed=("system",))
