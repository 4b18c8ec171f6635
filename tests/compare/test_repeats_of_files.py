import json

import pytest

from memruler.compare.refusal import Incomparable
from memruler.compare.repeats import repeats
from memruler.errors import UsageError

HEAD = "id,repeat,correct,top,talk\n"
FLIPS = "q1,1,1,s1,a\nq1,2,0,s1,a\nq1,3,1,s2,a\n"
BASE = f"{HEAD}{FLIPS}q2,1,0,s7,b\nq2,2,0,s7,b\nq2,3,0,s7,b\n"
CANDIDATE = f"{HEAD}{FLIPS}q2,1,1,s8,b\nq2,2,1,s8,b\nq2,3,1,s8,b\n"


@pytest.fixture
def write(tmp_path):
    def build(name, content, meta=None):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        if meta is not None:
            path.with_name(f"{name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")
        return path

    return build


@pytest.fixture
def two(write):
    def build(base=BASE, candidate=CANDIDATE, metas=(None, None)):
        return write("base.csv", base, metas[0]), write("cand.csv", candidate, metas[1])

    return build


def test_one_file(two):
    found = repeats(two()[0])
    assert (found.base, found.candidate, found.label, found.pair) == (
        "base.csv",
        None,
        "correct",
        None,
    )
    assert (found.side.right, found.side.labelled, found.side.flips.reader) == (1, 2, 1)
    assert found.notes == ()


def test_two_files(two):
    found = repeats(*two(), cluster="talk")
    assert found.side is None
    pair = found.pair
    assert (pair.full.wins, pair.full.losses, pair.full.delta) == (1, 0, 0.5)
    assert (pair.stable.of, pair.stable.delta) == (1, 1.0)
    assert pair.stable.interval is None
    assert (pair.discordance.items, pair.discordance.retrieval) == (1, 1)
    assert pair.full.interval.clusters == 2
    assert any("not declared" in note for note in found.notes)


def test_resamples_and_seed_reach_the_interval(two, monkeypatch):
    given = []
    monkeypatch.setattr(
        "memruler.stats.repeats_pair.paired_bootstrap",
        lambda deltas, groups, **options: given.append((len(deltas), groups, options)),
    )
    repeats(*two(), cluster="talk", resamples=1234, seed=5)
    options = {"resamples": 1234, "seed": 5}
    assert given == [(2, ["a", "b"], options), (1, ["b"], options), (2, ["a", "b"], options)]


@pytest.mark.parametrize("sides", [1, 2])
def test_two_columns_of_numbers_need_a_label(two, sides):
    head = "id,repeat,correct,ms\n1,1,1,20\n1,2,0,30\n2,1,1,9\n"
    paths = two(head, head)[:sides]
    with pytest.raises(UsageError, match=r"which column .* --label with one of correct, ms"):
        repeats(*paths)
    assert repeats(*paths, label="correct").label == "correct"


def test_the_column_to_cluster_by_is_no_label(two):
    text = "id,correct,talk\n1,1,1\n2,0,2\n"
    assert repeats(*two(text, text), cluster="talk").label == "correct"


def test_no_column_of_labels(two):
    with pytest.raises(UsageError, match="no column holds labels alone"):
        repeats(two("id,correct\n1,yes\n")[0])


def test_a_side_that_erred_throughout(two):
    base = "id,repeat,correct,error\n1,1,1,\n2,1,0,\n"
    candidate = "id,repeat,correct,error\n1,1,,down\n2,1,,down\n"
    pair = repeats(*two(base, candidate)).pair
    assert (pair.candidate.accuracy, pair.full.delta, pair.errors_wrong.delta) == (None, None, -0.5)
    assert pair.errors == {"base": 0, "candidate": 2, "both": 0}


@pytest.mark.parametrize("column", ["id", "repeat", "error", "top"])
@pytest.mark.parametrize("option", ["label", "cluster"])
def test_a_column_with_a_meaning_of_its_own(two, column, option):
    with pytest.raises(UsageError, match=f"--{option} {column}"):
        repeats(*two(), **{option: column})


@pytest.mark.parametrize("options", [{"cluster": "talk"}, {"changed": ("reader",)}], ids=str)
def test_what_is_of_two_files(two, options):
    with pytest.raises(UsageError, match="is of two files"):
        repeats(two()[0], **options)


def test_clusters(two):
    with pytest.raises(UsageError, match="no such column to cluster by: 'x'"):
        repeats(*two(), cluster="x")
    with pytest.raises(UsageError, match=r"not the same talk on both sides \[q2\]"):
        repeats(*two(candidate=CANDIDATE.replace(",b\n", ",c\n")), cluster="talk")
    only_one = "id,repeat,correct\n" + "".join(f"q{i},{r},1\n" for i in (1, 2) for r in (1, 2, 3))
    assert repeats(*two(candidate=only_one), cluster="talk").pair.full.interval.clusters == 2
    with pytest.raises(Incomparable, match="no cluster is given for 1 item: q2"):
        repeats(*two(BASE.replace(",b\n", ",\n"), CANDIDATE.replace(",b\n", ",\n")), cluster="talk")


def test_the_same_file(two, tmp_path):
    base, _ = two()
    with pytest.raises(UsageError, match="both sides are the same"):
        repeats(base, tmp_path / "." / base.name)


def test_every_reason_at_once(two):
    metas = {"axis": "accuracy", "reader": "r1"}, {"axis": "retrieval", "reader": "r2"}
    paths = two(candidate=CANDIDATE.replace("q2", "q3"), metas=metas)
    with pytest.raises(Incomparable) as caught:
        repeats(*paths)
    codes = [reason.code for reason in caught.value.record.reasons]
    assert codes == ["ruler", "undeclared", "queries", "queries"]
    assert "only the base has 1 item: q2" in str(caught.value)


def test_what_is_under_test_is_declared(two):
    metas = {"reader": "r1"}, {"reader": "r2"}
    with pytest.raises(Incomparable, match="--changed reader"):
        repeats(*two(metas=metas))
    found = repeats(*two(metas=metas), changed=("reader",))
    assert [one.key for one in found.changed] == ["reader"]
    assert found.notes == ()


def test_declared_deterministic(two):
    fixed = {"deterministic": True}
    paths = two(metas=(fixed, fixed))
    with pytest.raises(Incomparable, match="both sides are declared deterministic"):
        repeats(*paths)
    assert repeats(paths[0]).notes == ("base.csv is declared deterministic, but its labels flip",)


def test_unequal_numbers_of_repeats_are_said(two):
    fewer = CANDIDATE.replace("q2,3,1,s8,b\n", "")
    assert any("flip rates do not compare" in note for note in repeats(*two(candidate=fewer)).notes)
