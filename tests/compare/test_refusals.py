"""Every reason to refuse, each alone, and then several at once."""

import pytest

from memruler.compare.exact import compare
from memruler.compare.refusal import Incomparable
from memruler.errors import UsageError
from memruler.model.run import Determinism

CHANGE = {"system.settings.decay_rate": 0.0}


def refused(base, candidate, **options):
    options.setdefault("changed", ["decay_rate"])
    with pytest.raises(Incomparable) as caught:
        compare(base, candidate, **options)
    assert caught.value.exit_code == 4
    assert all(reason.hint for reason in caught.value.record.reasons)
    return caught.value.record.reasons


def codes(reasons):
    return {reason.code for reason in reasons}


@pytest.fixture
def base(make_run):
    return make_run("base")


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("corpus.sha256", "0" * 64, "corpus"),
        ("corpus.instances", 3, "corpus"),
        ("corpus.queries", 3, "corpus"),
        ("corpus.name", "other", "corpus"),
        ("population.name", "all", "population"),
        ("population.rule", "tolerant", "population"),
        ("population.digest", "0" * 64, "population"),
        ("ruler.version", "2", "ruler"),
        ("ingest.granularity", "session", "undeclared"),
        ("ingest.timeline", "now", "undeclared"),
        ("ingest.text.date", True, "undeclared"),
        ("retrieval.limit", 50, "undeclared"),
        ("system.name", "builtin:hybrid", "undeclared"),
        ("system.digest", "0" * 64, "undeclared"),
        ("system.settings.mmr", True, "undeclared"),
        ("embedder.model_sha256", "0" * 64, "undeclared"),
        ("embedder", None, "undeclared"),
    ],
)
def test_a_difference_that_was_not_declared(make_run, base, key, value, code):
    reasons = refused(base, make_run("cand", changes={**CHANGE, key: value}))
    assert [reason.code for reason in reasons] == [code]
    assert key in reasons[0].what
    if code == "undeclared":
        assert f"--changed {key}" in reasons[0].hint


@pytest.mark.parametrize("key", ["corpus.sha256", "population.digest", "ruler.version"])
def test_other_questions_or_another_ruler_cannot_be_declared(make_run, base, key):
    candidate = make_run("cand", changes={key: "0" * 64})
    reasons = refused(base, candidate, changed=[key])
    assert [reason.code for reason in reasons] == [key.partition(".")[0]]


def test_many_undeclared_differences_name_their_parts(make_run, base):
    keys = ("system.name", "system.version", "system.digest", "system.settings.mmr")
    reasons = refused(base, make_run("cand", changes=dict.fromkeys(keys, "x")), changed=())
    assert {reason.what.partition(" ")[0] for reason in reasons} == set(keys)
    assert reasons[0].hint.endswith("declare it: --changed system")


def test_nothing_changed_although_declared(make_run, base):
    (reason,) = refused(base, make_run("cand"))
    assert reason.code == "nothing-changed"
    assert "system.settings.decay_rate" in reason.what


@pytest.mark.parametrize(
    ("ours", "theirs"), [((), ("toy",)), (("toy",), ()), (("toy",), ("toy", "stub"))]
)
def test_a_run_that_is_degraded_in_its_own_way(make_run, ours, theirs):
    base = make_run("base", fields={"degraded": ours})
    candidate = make_run("cand", changes=CHANGE, fields={"degraded": theirs})
    assert codes(refused(base, candidate)) == {"degraded"}


@pytest.mark.parametrize(
    "measured",
    [
        None,
        Determinism(instances=1, queries=9, identical=8, of=9, other_process=True),
        Determinism(instances=1, queries=0, identical=0, of=9, other_process=True),
    ],
)
@pytest.mark.parametrize("side", ["base", "candidate"])
def test_a_run_that_is_not_known_to_be_deterministic(make_run, measured, side):
    fields = {"determinism": measured}
    base = make_run("base", fields=fields if side == "base" else {})
    candidate = make_run("cand", changes=CHANGE, fields=fields if side != "base" else {})
    (reason,) = refused(base, candidate)
    assert reason.code == "determinism"
    assert side in reason.what


def test_a_cut_off_that_counts_other_queries(make_run, base, queries_a):
    short = (queries_a[0]._replace(session=".x."), *queries_a[1:])
    reasons = refused(base, make_run("cand", short, changes=CHANGE))
    assert [reason.code for reason in reasons] == ["members"]
    assert "session level, k=5" in reasons[0].what
    assert "4 of 4 in the base, 3 of 4 in the candidate" in reasons[0].what
    assert "-k common" in reasons[0].hint
    assert "--shared" in reasons[0].hint


def test_as_many_but_other_queries_are_still_other_queries(make_run, queries_a):
    left = (queries_a[0]._replace(session=".x."), *queries_a[1:])
    right = (queries_a[0], queries_a[1]._replace(session="x.."), *queries_a[2:])
    reasons = refused(make_run("base", left), make_run("cand", right, changes=CHANGE))
    assert [reason.code for reason in reasons] == ["members"]
    assert "3 of 4 in the base, 3 of 4 in the candidate" in reasons[0].what


def test_a_cut_off_that_only_one_run_reaches(make_run, base, queries_a):
    short = tuple(q._replace(session=q.session[:3]) for q in queries_a)
    reasons = refused(base, make_run("cand", short, changes=CHANGE))
    assert [reason.code for reason in reasons] == ["members"]
    assert "no list is so long" in reasons[0].what
    assert "--shared" not in reasons[0].hint  # nothing is shared


def test_a_category_that_counts_other_queries(make_run, base, queries_a):
    # The same queries overall, sorted into other categories: the texts differ first of all.
    moved = (queries_a[0]._replace(category="multi"), *queries_a[1:])
    reasons = refused(base, make_run("cand", moved, changes=CHANGE))
    assert codes(reasons) == {"queries", "members"}


def test_searches_that_failed_in_one_run_only(make_run, base, queries_a):
    failed = (queries_a[0]._replace(excluded="search failed"), *queries_a[1:])
    reasons = refused(base, make_run("cand", failed, changes=CHANGE))
    first = next(reason for reason in reasons if reason.code == "queries")
    assert "1 left out of the candidate: search failed" in first.what


def test_queries_that_are_not_the_same(make_run, base, queries_a):
    other = (queries_a[0]._replace(text="Something else?"), *queries_a[1:])
    (reason,) = refused(base, make_run("cand", other, changes=CHANGE))
    assert reason.code == "queries"
    assert "1 queries" in reason.what


def test_another_target(make_run, base):
    (reason,) = refused(base, make_run("cand", changes=CHANGE, summary={"target": "source"}))
    assert reason.code == "ruler"


def test_a_cut_off_that_was_scored_nowhere(make_run, base):
    reasons = refused(base, make_run("cand", changes=CHANGE), cutoffs=[1, 7])
    assert [reason.code for reason in reasons] == ["cutoff"]
    assert "k=7" in reasons[0].what
    assert "1,3,5" in reasons[0].hint


def test_a_headline_that_is_not_compared(make_run, base):
    reasons = refused(base, make_run("cand", changes=CHANGE), cutoffs=[1, 3], metric="ndcg@5")
    assert [reason.code for reason in reasons] == ["metric"]


def test_nothing_left(make_run):
    base = make_run("base", cutoffs=(1, 3))
    candidate = make_run("cand", changes=CHANGE, cutoffs=(5,))
    assert codes(refused(base, candidate)) == {"nothing-left"}


def test_nothing_left_at_a_level_that_one_run_does_not_have(make_run, base):
    candidate = make_run("cand", changes={"ingest.granularity": "session"}, levels=("session",))
    reasons = refused(base, candidate, changed=["granularity"], levels=["turn"])
    assert codes(reasons) == {"nothing-left"}
    assert "one item a session" in reasons[0].what


def test_nothing_left_where_no_list_reaches_anything(make_run, queries_a):
    empty = tuple(q._replace(session="", turn="") for q in queries_a)
    reasons = refused(make_run("base", empty), make_run("cand", empty, changes=CHANGE))
    assert codes(reasons) == {"nothing-left"}
    (reason,) = reasons
    assert reason.what == (
        "nothing is left to compare: session level: in neither run: no list is so long, at k=1, "
        "k=3, k=5; turn level: in neither run: no list is so long, at k=1, k=3, k=5"
    )
    assert "--shared" not in reason.hint


def test_nothing_left_in_common(make_run, base, queries_a):
    short = (queries_a[0]._replace(session="", turn=""), *queries_a[1:])
    reasons = refused(base, make_run("cand", short, changes=CHANGE), cutoffs="common")
    (reason,) = reasons
    assert reason.code == "nothing-left"
    assert reason.what.count("not the same ones") == 2  # once a level
    assert "k=5 (4 of 4 in the base, 3 of 4 in the candidate, 3 in both)" in reason.what
    assert "--shared" in reason.hint


def test_scores_that_differ_without_any_cause_on_record(make_run, base, queries_a):
    other = (queries_a[0]._replace(session="x...."), *queries_a[1:])
    (reason,) = refused(base, make_run("cand", other), changed=())
    assert reason.code == "unexplained"
    assert "1 queries" in reason.what


@pytest.mark.parametrize("options", [{"cutoffs": "common"}, {"cutoffs": [1]}, {"shared": True}])
def test_other_queries_that_count_without_any_cause_on_record(make_run, base, queries_a, options):
    short = (*queries_a[:3], queries_a[3]._replace(session=".."), queries_a[4])
    (reason,) = refused(base, make_run("cand", short), changed=(), **options)
    assert reason.code == "unexplained"
    assert "1 queries" in reason.what


@pytest.mark.parametrize("code", [{}, {"source_sha256": "0" * 64, "dirty": True}])
def test_what_is_unexplained_names_the_query_and_other_code_of_memruler(
    make_run, base, queries_a, code
):
    tool = {"version": "0.1.0", "source_sha256": "a" * 64, "commit": "b" * 40, "dirty": False}
    other = (queries_a[0]._replace(session="x...."), *queries_a[1:])
    candidate = make_run("cand", other, fields={"tool": {**tool, **code}})
    (reason,) = refused(base, candidate, changed=())
    assert reason.what.startswith("1 queries scored differently (the first: conv-1 #0)")
    assert "QueryKey" not in reason.what
    assert "nothing differs" not in reason.what
    assert ("the code of memruler is not (dirty, source_sha256 differ)" in reason.what) is bool(
        code
    )
    assert ("same code of memruler" in reason.hint) is bool(code)


def test_other_packages_are_a_cause_on_record(make_run, base, queries_a):
    other = (queries_a[0]._replace(session="x...."), *queries_a[1:])
    candidate = make_run("cand", other, fields={"packages": {"python": "3.13.0"}})
    found = compare(base, candidate)
    assert found.verdict == "unchanged"
    assert any("python 3.11.7 -> 3.13.0" in note for note in found.notes)


def test_all_reasons_come_at_once(make_run, base, queries_a):
    short = (queries_a[0]._replace(session=".x."), *queries_a[1:])
    changes = {"corpus.sha256": "0" * 64, "ingest.timeline": "now", "population.digest": "0" * 64}
    candidate = make_run(
        "cand", short, changes=changes, fields={"degraded": ("toy",), "determinism": None}
    )
    reasons = refused(base, candidate, cutoffs=[5, 9])
    assert [reason.code for reason in reasons] == [
        "corpus",
        "undeclared",
        "nothing-changed",
        "degraded",
        "determinism",
        "cutoff",
    ]
    del changes["corpus.sha256"]
    same_corpus = make_run("same", short, changes=changes)
    assert codes(refused(base, same_corpus)) == {
        "population",
        "undeclared",
        "nothing-changed",
        "members",
    }


def test_another_corpus_is_one_reason_and_what_follows_is_left_unsaid(make_run, base, query):
    other = (query("x..", "x..", text="Else?", instance="else"),)
    changes = {"corpus.name": "else", "corpus.sha256": "0" * 64, "population.digest": "0" * 64}
    for options in ({}, {"cutoffs": "common"}, {"shared": True}):
        stem = "-".join(["cand", *options])
        (reason,) = refused(base, make_run(stem, other, changes=changes), changed=(), **options)
        assert reason.code == "corpus"
        assert 'corpus.name differs ("tiny" -> "else"), corpus.sha256 differs' in reason.what


def test_a_run_that_is_not_deterministic_is_told_the_likely_cause(make_run, base):
    measured = Determinism(instances=1, queries=24, identical=21, of=40, other_process=True)
    candidate = make_run("cand", changes=CHANGE, fields={"determinism": measured})
    (reason,) = refused(base, candidate)
    assert "3 of 24 queries ranked differently" in reason.what
    assert "another process" in reason.what
    assert "order of a Python set of strings" in reason.hint
    assert "docs/systems.md" in reason.hint


def test_a_run_is_not_compared_with_itself(base):
    with pytest.raises(UsageError, match="itself"):
        compare(base, base / ".." / base.name)
