import shutil

import msgspec
import pyarrow as pa
import pytest

from memruler.compare.exact import compare
from memruler.errors import FormatError
from memruler.model.summary import Summary
from memruler.store.binding import file_sha256
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table, write_table

CHANGE = {"system.settings.decay_rate": 0.0}


@pytest.fixture
def base(make_run):
    return make_run("base")


@pytest.fixture
def better(queries_a):
    """One query gains everything, one loses rank only."""
    return (
        queries_a[0]._replace(session="..x.."),
        *queries_a[1:3],
        queries_a[3]._replace(session="x....", turn="x...."),
        queries_a[4],
    )


def pick(found, metric, level, k, name="all"):
    (delta,) = [
        d for d in found.deltas if (d.metric, d.level, d.k, d.slice) == (metric, level, k, name)
    ]
    return delta


def test_better(make_run, base, better):
    found = compare(base, make_run("cand", better, changes=CHANGE), changed=["decay_rate"])
    assert found.verdict == "better"
    head = found.headline
    assert (head.metric, head.level, head.k, head.slice) == ("recall_all", "session", 5, "all")
    assert (head.base, head.candidate, head.delta) == (0.75, 1.0, 0.25)
    assert (head.counted, head.of, head.wins, head.losses) == (4, 4, 1, 0)
    assert [d.key for d in found.changed] == ["system.settings.decay_rate"]
    assert pick(found, "mrr", "session", 5).delta == ((1 / 3 - 1 / 2) + 1) / 4
    assert pick(found, "recall_all", "session", 5, "multi").delta == 0.5
    assert pick(found, "recall_all", "session", 5, "single").delta == 0


def test_worse_is_better_the_other_way_round(make_run, base, better):
    other = make_run("cand", better, changes=CHANGE)
    there = compare(base, other, changed=["decay_rate"])
    back = compare(other, base, changed=["decay_rate"])
    assert back.verdict == "worse"
    assert [-d.delta for d in back.deltas] == [d.delta for d in there.deltas]
    assert [(d.losses, d.wins) for d in back.deltas] == [(d.wins, d.losses) for d in there.deltas]


def test_unchanged_can_hide_moves_and_says_how_many(make_run, base, queries_a):
    swapped = (
        *queries_a[:2],
        queries_a[2]._replace(session="....."),
        queries_a[3]._replace(session="x...."),
        queries_a[4],
    )
    found = compare(base, make_run("cand", swapped, changes=CHANGE), changed=["decay_rate"])
    assert found.verdict == "unchanged"
    assert (found.headline.wins, found.headline.losses, found.headline.delta) == (1, 1, 0)


def test_every_metric_level_cut_off_and_category_is_there(make_run, base):
    found = compare(base, make_run("cand", changes=CHANGE), changed=["decay_rate"])
    assert len(found.deltas) == 6 * 2 * 3 * 3
    assert len(found.macro) == 6 * 2 * 3
    assert not found.queries
    assert all(d.delta == 0 for d in found.deltas)


def test_the_queries_that_changed(make_run, base, better):
    found = compare(base, make_run("cand", better, changes=CHANGE), changed=["decay_rate"])
    assert [(q.instance, q.query, q.headline) for q in found.queries] == [
        ("conv-1", 0, None),
        ("conv-2", 0, "up"),
    ]
    lost_rank, gained = found.queries
    assert gained.id == "conv-2/0"
    assert gained.category == "multi"
    assert gained.changes["session"]["recall_all@5"] == (0.0, 1.0)
    assert gained.changes["turn"]["mrr@1"] == (0.0, 1.0)
    assert lost_rank.changes["session"]["mrr@5"] == (1 / 2, 1 / 3)
    assert "recall_all@5" not in lost_rank.changes["session"]


def test_another_metric_can_decide(make_run, base, queries_a):
    lower = (queries_a[0]._replace(session="..x.."), *queries_a[1:])
    other = make_run("cand", lower, changes=CHANGE)
    assert compare(base, other, changed=["decay_rate"]).verdict == "unchanged"
    found = compare(base, other, changed=["decay_rate"], metric="mrr@3")
    assert found.verdict == "worse"
    assert [query.headline for query in found.queries] == ["down"]


def test_common_leaves_out_what_does_not_compare_and_says_why(make_run, base, queries_a):
    short = (queries_a[0]._replace(session=".x."), *queries_a[1:])
    other = make_run("cand", short, changes=CHANGE)
    found = compare(base, other, changed=["decay_rate"], cutoffs="common")
    assert {(d.level, d.k) for d in found.deltas} == {
        ("session", 1),
        ("session", 3),
        ("turn", 1),
        ("turn", 3),
        ("turn", 5),
    }
    assert [(o.level, o.k) for o in found.omitted] == [("session", 5)]
    assert "not the same ones" in found.omitted[0].reason
    assert (found.headline.level, found.headline.k) == ("session", 3)
    assert any("recall_all@5 at the session level is not compared" in n for n in found.notes)


def test_levels_and_cut_offs_can_be_chosen(make_run, base):
    other = make_run("cand", changes=CHANGE)
    found = compare(base, other, changed=["decay_rate"], cutoffs=[3], levels=["turn"])
    assert {(d.level, d.k) for d in found.deltas} == {("turn", 3)}
    assert (found.headline.level, found.headline.k) == ("turn", 3)


def test_asking_twice_gives_one_answer(make_run, base):
    other = make_run("cand", changes=CHANGE)
    once = compare(base, other, changed=["decay_rate"], cutoffs=[3], levels=["turn"])
    twice = compare(
        base, other, changed=["decay_rate"] * 2, cutoffs=[3, 3], levels=["turn", "turn"]
    )
    assert once == twice


def test_a_cut_off_that_only_one_run_scored_is_left_out(make_run, base):
    other = make_run("cand", changes=CHANGE, cutoffs=(1, 5))
    found = compare(base, other, changed=["decay_rate"])
    assert [(o.level, o.k, o.reason) for o in found.omitted] == [
        ("session", 3, "not in the candidate: it was not scored"),
        ("turn", 3, "not in the candidate: it was not scored"),
    ]


def test_a_level_that_one_run_does_not_have_is_left_out(make_run, base):
    other = make_run("cand", changes={"ingest.granularity": "session"}, levels=("session",))
    found = compare(base, other, changed=["granularity"])
    assert {d.level for d in found.deltas} == {"session"}
    (gone,) = found.omitted
    assert (gone.level, gone.k) == ("turn", None)
    assert "one item a session" in gone.reason


def test_a_category_without_a_list_so_long_is_named(make_run, queries_a):
    short = tuple(
        q._replace(session=q.session[:1]) if q.category == "single" else q for q in queries_a
    )
    found = compare(
        make_run("base", short), make_run("cand", short, changes=CHANGE), changed=["decay_rate"]
    )
    assert {(o.level, o.k) for o in found.omitted} == {("session", 3), ("session", 5)}
    assert all("category single" in o.reason for o in found.omitted)
    macro = [m for m in found.macro if (m.level, m.k) == ("session", 5)]
    assert {m.categories for m in macro} == {1}


def test_a_category_named_all_is_a_slice_of_its_own(make_run, queries_a):
    names = ("all", "all", "category all", "category all", "all")
    named = tuple(q._replace(category=n) for q, n in zip(queries_a, names, strict=True))
    gained = (*named[:3], named[3]._replace(session="x...."), named[4])
    found = compare(
        make_run("base", named), make_run("cand", gained, changes=CHANGE), changed=["decay_rate"]
    )
    assert found.headline.delta == 0.25
    assert pick(found, "recall_all", "session", 5, "category all").delta == 0
    assert pick(found, "recall_all", "session", 5, "category category all").delta == 0.5
    assert [query.category for query in found.queries] == ["category all"]
    assert {m.categories for m in found.macro} == {2}


def test_a_summary_that_names_a_slice_twice_is_a_fault(make_run, base):
    other = make_run("cand", changes=CHANGE)
    text = (other / "summary.json").read_text()
    (other / "summary.json").write_text(text.replace('"name":"multi"', '"name":"all"'))
    with pytest.raises(FormatError, match="names a slice twice"):
        compare(base, other, changed=["decay_rate"])


def test_runs_degraded_the_same_way_compare_under_their_mark(make_run):
    fields = {"degraded": ("toy embedder",)}
    base = make_run("base", fields=fields)
    found = compare(base, make_run("cand", changes=CHANGE, fields=fields), changed=["decay_rate"])
    assert found.degraded == ("toy embedder",)


def test_searches_that_failed_in_both_alike_compare(make_run, queries_a):
    failed = (queries_a[0]._replace(excluded="search failed"), *queries_a[1:])
    found = compare(
        make_run("base", failed), make_run("cand", failed, changes=CHANGE), changed=["decay_rate"]
    )
    assert found.headline.counted == 3
    assert found.population.excluded["search failed"] == 1


def test_two_declared_differences_carry_a_note(make_run, base):
    other = make_run("cand", changes={**CHANGE, "retrieval.limit": 50})
    found = compare(base, other, changed=["decay_rate", "retrieval"])
    assert any("cannot be attributed to one" in note for note in found.notes)


def test_nothing_different_carries_a_note(make_run, base):
    found = compare(base, make_run("cand"))
    assert found.verdict == "unchanged"
    assert any("no change was under test" in note for note in found.notes)


def test_labels_surroundings_and_warnings_become_notes(make_run, base):
    fields = {
        "tool": {"version": "9", "source_sha256": "a" * 64, "commit": "b" * 40, "dirty": True},
        "machine": {"system": "Plan 9"},
        "warnings": ("decay is neutral",),
    }
    changes = {**CHANGE, "corpus.tier": "pinned-upstream"}
    found = compare(base, make_run("cand", changes=changes, fields=fields), changed=["decay_rate"])
    text = "\n".join(found.notes)
    assert "version, dirty differ" in text
    assert "candidate was made from a tree with uncommitted changes" in text
    assert "machines differ" in text
    assert 'corpus.tier: "local-file" -> "pinned-upstream"' in text
    assert "candidate: decay is neutral" in text


def edit_scores(path, name, change):
    with RunFolder.claim(path.parent, path.name) as folder:
        table = read_table(folder, "scores")
        column = table.column(name).to_pylist()
        at = table.column_names.index(name)
        kind = table.schema.field(name)
        changed = pa.array(change(column), kind.type)
        write_table(folder, "scores", table.set_column(at, kind, changed))
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
        summary.tables["scores"] = file_sha256(folder, "scores.parquet")
        folder.write("summary.json", msgspec.json.encode(summary))


@pytest.mark.parametrize("name", ["recall_all@5", "ndcg@1"])
def test_scores_that_do_not_add_up_to_the_summary_are_a_fault(make_run, base, name):
    other = make_run("cand", changes=CHANGE)
    edit_scores(other, name, lambda column: [1 - column[0], *column[1:]])
    with pytest.raises(FormatError, match="run cand disagree"):
        compare(base, other, changed=["decay_rate"])


def test_a_value_that_vanished_is_a_fault(make_run, base):
    other = make_run("cand", changes=CHANGE)
    edit_scores(other, "mrr@5", lambda column: [None, *column[1:]])
    with pytest.raises(FormatError, match="disagree"):
        compare(base, other, changed=["decay_rate"])


def test_a_row_twice_is_a_fault(make_run, base):
    other = make_run("cand", changes=CHANGE)
    edit_scores(other, "query", lambda column: [1, *column[1:]])
    with pytest.raises(FormatError, match="one row per query and level"):
        compare(base, other, changed=["decay_rate"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("queries.parquet", "not the table that this run sealed"),
        ("scores.parquet", "not the table that summary.json was made with"),
        ("summary.json", "made from the tables of another run"),
    ],
)
def test_a_file_of_another_run_is_a_fault(make_run, base, better, name, message):
    other = make_run("cand", tuple(q._replace(text="else") for q in better), changes=CHANGE)
    shutil.copy(other / name, base / name)
    with pytest.raises(FormatError, match=message):
        compare(base, other, changed=["decay_rate"])


@pytest.mark.parametrize("name", ["summary.json", "scores.parquet"])
def test_a_run_that_was_not_scored(make_run, base, name):
    other = make_run("cand", changes=CHANGE)
    (other / name).unlink()
    with pytest.raises(FormatError, match="was not scored"):
        compare(base, other, changed=["decay_rate"])


@pytest.mark.parametrize("damage", [b"{", b"\xff", b'{"slices": []}'])
def test_a_damaged_summary(make_run, base, damage):
    other = make_run("cand", changes=CHANGE)
    (other / "summary.json").write_bytes(damage)
    with pytest.raises(FormatError, match=r"summary\.json"):
        compare(base, other, changed=["decay_rate"])


def test_a_manifest_without_a_corpus(make_run, base):
    other = make_run("cand", changes={"corpus": None})
    with pytest.raises(FormatError, match="which corpus"):
        compare(base, other)


def test_a_folder_that_is_no_run(base, tmp_path):
    with pytest.raises(FormatError):
        compare(base, tmp_path / "nothing")


@pytest.mark.parametrize(
    ("typed", "noted"),
    [
        (["system"], None),
        (["system", "decay_rate"], None),
        (["system", "embedder"], "2 declared changes differ (system, embedder)"),
    ],
)
def test_changes_are_counted_as_typed(make_run, base, typed, noted):
    changes = {"system.name": "x", "system.version": "2", **CHANGE}
    if "embedder" in typed:
        changes |= {"embedder": None}
    found = compare(base, make_run("cand", changes=changes), changed=typed)
    notes = [note for note in found.notes if "attributed" in note and "delta" in note]
    assert [note.partition(":")[0] for note in notes] == ([noted] if noted else [])


def test_padded_lists_stand_beside_a_plain_comparison(make_run, queries_a):
    left = (*queries_a[:3], queries_a[3]._replace(session=".."), queries_a[4])
    right = (left[0]._replace(session="....."), *left[1:3], left[3]._replace(session="x."), left[4])
    found = compare(
        make_run("left", left), make_run("right", right, changes=CHANGE), changed=["decay_rate"]
    )
    # One lost at 5, one gained in a list that ends before: the verdict is over the former only.
    assert found.verdict == "worse"
    assert (found.padded.base, found.padded.candidate, found.padded.delta) == (0.75, 0.75, 0)
    assert found.floor is None
    assert found.notes[0].startswith(
        "the padded headline has another sign than the verdict: 0 over"
    )
