"""The explorer shows what the run folders hold: every number is read anew here, another way."""

import subprocess
import sys
from math import fsum

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memruler.compare.exact import compare
from memruler.errors import FormatError, UsageError
from memruler.model.failures import STAGES
from memruler.report.explore.columns import NOT_HERE
from memruler.report.explore.explorer import LARGEST_PAGE, Explorer
from memruler.report.explore.record import CUT, Filter
from memruler.scoring.failures import counts_of, file_failures
from memruler.scoring.from_run import traced_from_run
from memruler.store.folder import RunFolder
from memruler.targets.forms import NAMED


def scores_of(path, level, metric):
    """Instance and query to value and reason, as any reader of Parquet sees them."""
    return {
        (row["instance"], row["query"]): (row[metric], row["excluded"])
        for row in pq.read_table(path / "scores.parquet").to_pylist()
        if row["level"] == level
    }


def rows_of(path):
    """Instance and query of every query, in the order of the run."""
    table = pq.read_table(path / "queries.parquet", columns=["instance", "query"])
    return [(row["instance"], row["query"]) for row in table.to_pylist()]


def agrees(explorer, paths, comparison):
    """Everything that is counted or listed is what the other files and verbs say."""
    overview, index = explorer.overview(), explorer.index()
    for at, (path, head) in enumerate(zip(paths, overview.runs, strict=True)):
        told, where = scores_of(path, head.level, head.metric), rows_of(path)
        assert index.value[at] == tuple(told[key][0] for key in where)
        there = [told[key][0] for key in where if told[key][0] is not None]
        assert (head.counted, head.of) == (len(there), len(where))
        assert head.mean == fsum(there) / len(there)
        for row, key in enumerate(where):
            value, reason = told[key]
            assert (index.reason[at][row] is None) == (value is not None)
            assert reason is None or index.reason[at][row] == reason
        filed = file_failures(path)
        assert {stage: index.stage[at].count(stage) for stage in STAGES} == counts_of(filed).stages
    if comparison is not None:
        moved = {(q.instance, q.query): q.headline or "other" for q in comparison.queries}
        keys = pq.read_table(paths[0] / "queries.parquet").to_pylist()
        said = [moved.get((row["instance_key"], row["query"])) for row in keys]
        assert list(index.changed) == said
        assert overview.changed == {way: said.count(way) for way in ("up", "down", "other")}
        head = comparison.headline
        assert overview.changed["up"] == head.wins
        assert overview.changed["down"] == head.losses


def test_numbers_are_those_of_the_scores_and_of_the_comparison(base, candidate):
    found = compare(base, candidate, changed=["knob"], cutoffs="common")
    explorer = Explorer.open([base, candidate], found)
    agrees(explorer, [base, candidate], found)
    assert explorer.overview().changed["other"] > 0
    agrees(Explorer.open([base]), [base], None)


def test_the_headline_of_a_comparison_is_the_one_of_the_explorer(base, candidate):
    found = compare(base, candidate, changed=["knob"], levels=["turn"], metric="recall_all@1")
    explorer = Explorer.open([base, candidate], found)
    agrees(explorer, [base, candidate], found)
    # At the turn level and k = 1: colour rises, animal has nothing at 1 in both (its hit is a
    # summary of two turns), and of two gold turns one place cannot hold both.
    assert [explorer.index().changed[row] for row in range(3)] == ["up", "other", "other"]
    assert explorer.index().value == ((0.0, 0.0, 0.0, None, 1.0), (1.0, 0.0, 0.0, None, 1.0))


def test_runs_that_do_not_compare_stand_side_by_side_and_say_why(base, candidate):
    explorer = Explorer.open([base, candidate])
    overview = explorer.overview()
    assert overview.changed is None
    assert any("knob" in reason for reason in overview.why)
    assert set(explorer.index().changed) == {None}
    agrees(explorer, [base, candidate], None)
    with pytest.raises(UsageError, match="do not compare"):
        explorer.find(Filter(changed="up"))


def test_evidence_credit_and_moves_by_hand(base, candidate):
    explorer = Explorer.open(
        [base, candidate], compare(base, candidate, changed=["knob"], cutoffs="common")
    )
    colour, animal, both, nothing, tea = (explorer.detail(row) for row in range(5))
    left, right = colour.runs
    assert [hit.item for hit in left.hits] == ["t1", "f0", "t0"]
    assert [hit.moved for hit in left.hits] == [-1, None, 2]
    assert [hit.moved for hit in right.hits] == [2, -1, None]
    everything = ("turn", "session")
    assert [hit.credit for hit in left.hits] == [
        {"raw": ("session",), "source": ("session",)},
        {"source": everything, "canonical": everything},
        {"raw": everything, "source": everything},
    ]
    assert [(e.session, e.turn, e.rank, e.stage) for e in colour.evidence] == [
        (0, 0, (2, 1), (None, None))
    ]
    assert colour.evidence[0].text.text == "Ann: a blue car"
    assert animal.evidence[0].rank == (1, None)
    assert animal.evidence[0].stage == (None, "ranking")
    assert [run.stage for run in animal.runs] == [None, "ranking"]
    assert [e.rank for e in both.evidence] == [(2, 1), (None, 2)]
    assert (nothing.answerable, nothing.evidence, nothing.gold.text) == (False, (), None)
    assert all(value.reason for run in nothing.runs for value in run.values)
    assert (len(tea.question.text), tea.question.length) == (CUT, 5_000)
    assert tea.runs[0].hits[0].sources == ((0, 2),)
    assert [hit.score for hit in tea.runs[0].hits] == [9.0, 8.0, 7.0]
    assert explorer.index().rank == ((2, 1, 2, None, 1), (1, None, 1, None, 1))


def test_credit_is_what_rescoring_under_targets_counts(base, candidate):
    for path in (base, candidate):
        explorer = Explorer.open([path])
        for level in ("turn", "session"):
            targets = [NAMED[name] for name in ("raw", "source", "canonical")]
            traced = traced_from_run(path, targets, level)
            for name, supports in traced.supports.items():
                pairs = set(
                    zip(supports.query_of_support().tolist(), supports.items.tolist(), strict=True)
                )
                for row in range(5):
                    hits = traced.hits[row]
                    wanted = [(row, int(item)) in pairs for item in hits[hits >= 0]]
                    shown = explorer.detail(row).runs[0].hits
                    assert [level in hit.credit.get(name, ()) for hit in shown] == wanted


def test_a_store_that_does_not_tell_has_no_canonical_credit(make_scored_run):
    rankings = {"Which colour?": ["f0", "t0"], "Which animal?": ["t1"]}
    path = make_scored_run(rankings, 1, exports=False)
    explorer = Explorer.open([path])
    told = explorer.overview().runs[0].targets
    assert told["raw"] is None
    assert "does not tell" in told["canonical"]
    assert "canonical" not in explorer.detail(0).runs[0].hits[0].credit


FILTERS = st.builds(
    Filter,
    category=st.sampled_from([None, "one", "two", "none", "absent"]),
    stage=st.sampled_from([None, "ranking", "ingest", "no stage"]),
    changed=st.sampled_from([None, "up", "down", "other", "any"]),
    excluded=st.sampled_from([None, True, False]),
    missed=st.sampled_from([None, True, False]),
    text=st.sampled_from([None, "", "CAR", "which", "Q0-3", "conv-0", "q" * CUT, "q" * 4_001]),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_find_gives_the_rows_that_the_index_lets_through(base, candidate, data):
    if not hasattr(test_find_gives_the_rows_that_the_index_lets_through, "kept"):
        found = compare(base, candidate, changed=["knob"], cutoffs="common")
        explorer = Explorer.open([base, candidate], found)
        test_find_gives_the_rows_that_the_index_lets_through.kept = explorer
    explorer = test_find_gives_the_rows_that_the_index_lets_through.kept
    index = explorer.index()
    wanted = data.draw(FILTERS)
    offset, limit = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6))

    def passes(row):
        values = [column[row] for column in index.value]
        question = explorer.detail(row).question.text
        places = (question, index.id[row], index.key[row])
        text = wanted.text or ""
        return (
            wanted.category in {None, index.category[row]}
            and (wanted.stage is None or wanted.stage in [column[row] for column in index.stage])
            and (
                wanted.changed in {None, index.changed[row]}
                or (wanted.changed == "any" and index.changed[row] is not None)
            )
            and wanted.excluded in {None, None in values}
            and wanted.missed in {None, any(v is not None and v < 1 for v in values)}
            and any(text.lower() in place.lower() for place in places)
        )

    rows = [row for row in range(5) if passes(row)]
    page = explorer.find(wanted, offset, limit)
    assert page.total == len(rows)
    assert [of.row for of in page.rows] == rows[offset : offset + limit]
    for of in page.rows:
        assert (of.id, of.key) == (index.id[of.row], index.key[of.row])
        assert of.value == tuple(column[of.row] for column in index.value)
        assert of.rank == tuple(column[of.row] for column in index.rank)


def test_queries_that_only_one_run_has_stand_behind_with_their_reason(make_scored_run, base):
    queries = [
        ("Which colour?", "blue", (0,), "one"),
        ("Quite another one?", "dog", (1,), "other"),
    ]
    rankings = {query[0]: ["t0", "t1"] for query in queries}
    other = make_scored_run(rankings, 2, queries=queries)
    explorer = Explorer.open([base, other])
    index = explorer.index()
    assert len(index.id) == 6
    assert [row for row in range(6) if index.reason[1][row] == NOT_HERE] == [1, 2, 3, 4]
    assert [row for row in range(6) if index.reason[0][row] == NOT_HERE] == [5]
    last = explorer.detail(5)
    assert last.question.text == "Quite another one?"
    assert last.runs[0] is None
    assert [hit.moved for hit in last.runs[1].hits] == [None, None]
    assert explorer.find(Filter(text="another")).total == 1
    assert explorer.find(Filter(category="other")).rows[0].row == 5


def test_answers_and_grades_come_along_and_broken_ones_say_so(failure_runs, base):
    said = {"Which colour?": "blue", "Which animal?": None}
    failure_runs.answer(base, said, name="good")
    failure_runs.grade(base, {"Which colour?": 1.0}, answers="good", name="g")
    failure_runs.answer(base, said, name="bad")
    (base / "answers" / "bad" / "answers.parquet").write_bytes(b"no table")
    explorer = Explorer.open([base])
    head = explorer.overview().runs[0]
    assert head.answers == ("good",)
    assert any("answers bad are not shown" in note for note in head.notes)
    first, second = explorer.detail(0).runs[0].answers[0], explorer.detail(1).runs[0].answers[0]
    assert (first.text.text, first.grades[0].name, first.grades[0].value) == ("blue", "g", 1.0)
    assert (second.text.text, second.text.why) == (None, "it broke")
    assert (second.grades[0].value, second.grades[0].reason) == (None, "it broke")


def test_what_cannot_be_asked_is_refused(base, candidate, make_run):
    explorer = Explorer.open([base])
    for row in (-1, 5):
        with pytest.raises(UsageError, match="there is no row"):
            explorer.detail(row)
    for offset, limit in ((-1, 5), (0, -1), (0, LARGEST_PAGE + 1)):
        with pytest.raises(UsageError, match="a page has"):
            explorer.find(Filter(), offset, limit)
    for paths in ([], [base] * 3, [base, base]):
        with pytest.raises(UsageError):
            Explorer.open(paths)
    found = compare(base, candidate, changed=["knob"], cutoffs="common")
    (candidate / "scores.parquet").write_bytes((base / "scores.parquet").read_bytes())
    with pytest.raises(FormatError, match="not the table that summary"):
        Explorer.open([candidate])
    (base / "summary.json").unlink()
    with pytest.raises(FormatError, match="not scored"):
        Explorer.open([base])
    del found, make_run


def test_a_comparison_of_other_runs_is_refused(make_scored_run, base, candidate):
    found = compare(base, candidate, changed=["knob"], cutoffs="common")
    queries = [("Another?", "blue", (0,), "one")]
    runs = [make_scored_run({"Another?": [f"t{n}"]}, n, queries=queries) for n in (0, 1)]
    with pytest.raises(FormatError, match="of other runs"):
        Explorer.open(runs, found)


def test_a_table_that_changed_since_it_was_opened_ends_in_one_line(base):
    explorer = Explorer.open([base])
    (base / "queries.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match="cannot be read"):
        explorer.detail(0)


@pytest.mark.slow
def test_on_locomo_numbers_are_those_of_the_scores_and_of_the_comparison(tmp_path, locomo_path):
    for stem, words in (("with", "true"), ("without", "false")):
        subprocess.run(
            [
                *(sys.executable, "-m", "memruler", "retrieval", "locomo", "--path", locomo_path),
                *("--system", "builtin:lexical", "--set", f"stop_words={words}", "--stem", stem),
            ],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )
    paths = [tmp_path / "runs" / "with", tmp_path / "runs" / "without"]
    found = compare(*paths, changed=["stop_words"], shared=True)
    explorer = Explorer.open(paths, found)
    agrees(explorer, paths, found)
    # Turn by turn, the first evidence is where the reciprocal rank says.
    ranks, told = explorer.index().rank[0], scores_of(paths[0], "turn", "mrr@20")
    compared = 0
    for rank, key in zip(ranks, rows_of(paths[0]), strict=True):
        if told[key][0] is not None:
            assert told[key][0] == (0.0 if rank is None else 1 / rank)
            compared += 1
    assert compared > 500
    folder = RunFolder.open(paths[0])
    assert np.isin(ranks, [None]).sum() < len(ranks)
    assert folder.has("scores.parquet")
