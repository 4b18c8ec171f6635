"""Means over the queries that count in both runs, held against those that count silence."""

from fractions import Fraction
from functools import partial
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memruler.compare.exact import compare
from memruler.compare.refusal import Incomparable
from memruler.errors import UsageError

CHANGE = {"system.settings.decay_rate": 0.0}
METRICS = ("recall_all", "recall_any", "recall_micro", "precision", "mrr", "ndcg")
CELLS = [(level, k) for level in ("session", "turn") for k in (1, 3, 5)]
SAME = ("deltas", "macro", "headline", "verdict", "queries", "omitted", "clusters", "changed")


def with_sessions(queries, *sessions):
    """The same queries with other rankings at the session level; the last counts nowhere."""
    pairs = zip(queries[:4], sessions, strict=True)
    return (*(q._replace(session=session) for q, session in pairs), queries[4])


@pytest.fixture
def shared(make_run, queries_a):
    """Compare two rankings, a string a query, over shared queries."""
    stems = (f"run-{number}" for number in count())

    def build(base, candidate, **options):
        return compare(
            make_run(next(stems), with_sessions(queries_a, *base)),
            make_run(next(stems), with_sessions(queries_a, *candidate), changes=CHANGE),
            **{"changed": ["decay_rate"], "shared": True, **options},
        )

    return build


# Gold: one each, but two for the third. The second gains a rank and loses its list at 3 and 5.
BASE = (".x...", ".....", "x..x.", ".....")
CANDIDATE = (".x...", "x.", "x..x.", "x....")


def pick(found, metric, level, k, name="all"):
    (delta,) = [
        d for d in found.deltas if (d.metric, d.level, d.k, d.slice) == (metric, level, k, name)
    ]
    return delta


def counts(row):
    return row.base_counted, row.candidate_counted, row.counted


def test_both_means_are_over_the_queries_that_count_in_both(shared):
    found = shared(BASE, CANDIDATE)
    assert found.shared_only
    assert found.verdict == "better"
    head = found.headline
    assert (head.metric, head.level, head.k) == ("recall_all", "session", 5)
    assert (head.base, head.candidate, head.delta) == (2 / 3, 1.0, 1 / 3)
    assert (counts(head), head.of, head.wins, head.losses) == ((4, 3, 3), 4, 1, 0)
    everyone = pick(found, "recall_all", "session", 1)
    assert (everyone.base, everyone.candidate, counts(everyone)) == (0.0, 0.5, (4, 4, 4))


def test_categories_and_their_macro_mean_count_alike(shared):
    found = shared(BASE, CANDIDATE)
    single = pick(found, "recall_all", "session", 5, "single")
    multi = pick(found, "recall_all", "session", 5, "multi")
    assert (single.base, single.candidate, counts(single), single.of) == (1, 1, (2, 1, 1), 2)
    assert (multi.base, multi.candidate, counts(multi), multi.of) == (0.5, 1, (2, 2, 2), 2)
    (macro,) = [m for m in found.macro if (m.metric, m.level, m.k) == ("recall_all", "session", 5)]
    assert (macro.base, macro.candidate, macro.delta) == (0.75, 1.0, 0.25)
    assert (macro.categories, counts(macro)) == (2, (4, 3, 3))


def test_the_floor_counts_a_missing_list_as_a_miss(shared):
    found = shared(BASE, CANDIDATE)
    assert (found.floor.base, found.floor.candidate, found.floor.delta) == (0.5, 0.75, 0.25)
    assert (found.floor.counted, found.floor.of) == (4, 4)
    assert (found.floor.base_counted, found.floor.candidate_counted) == (4, 3)
    text = "\n".join(found.notes)
    assert "short lists on hard questions" in text
    assert "4 of 4 queries count in the base, 3 in the candidate, 3 in both" in text
    assert "0.7500" not in text  # it has a line of its own


def test_padded_lists_keep_what_they_found(shared):
    found = shared(BASE, CANDIDATE)
    # The candidate's second list has its gold on top and ends before 5.
    assert (found.padded.base, found.padded.candidate, found.padded.delta) == (0.5, 1.0, 0.5)
    assert found.padded.of == 4


def test_a_verdict_that_padded_lists_turn_is_refused(shared):
    # Over both lists and with short ones scored 0 the candidate wins; its own list found nothing,
    # and the base's two short ones found everything.
    base, candidate = (".....", "x.", "x.x.", "....."), ("x....", ".....", ".....", ".....")
    with pytest.raises(Incomparable) as caught:
        shared(base, candidate)
    (reason,) = caught.value.record.reasons
    assert reason.code == "shared_and_floor_disagree"
    assert (
        "by +0.25 over all 4 measured queries where a list shorter than 5 scores 0" in reason.what
    )
    assert "by -0.25 over all 4 with missing ranks counted as misses (padded)" in reason.what


def test_searches_that_failed_in_both_runs_are_misses(make_run, queries_a):
    failed = (*queries_a[:3], queries_a[3]._replace(excluded="search_failed"), queries_a[4])
    gained = (failed[0]._replace(session="....x"), *failed[1:])
    found = compare(
        make_run("base", (failed[0]._replace(session="....."), *failed[1:])),
        make_run("cand", gained, changes=CHANGE),
        changed=["decay_rate"],
        shared=True,
    )
    assert (found.floor.counted, found.floor.of, found.padded.of) == (4, 4, 4)


def test_a_query_without_a_value_in_one_run_did_not_move(shared):
    found = shared(BASE, CANDIDATE)
    assert [(q.instance, q.query, q.headline) for q in found.queries] == [
        ("conv-1", 1, None),  # at k=1, where it still counts
        ("conv-2", 0, "up"),
    ]
    assert set(found.queries[0].changes["session"]) == {f"{m}@1" for m in METRICS}


@pytest.mark.parametrize(
    ("base", "candidate", "over_shared", "over_all"),
    [
        # Gave up on a question it used to answer, and answers one more: no gain at all.
        ((".x...", "x....", "x..x.", "....."), (".x...", "x.", "x..x.", "x...."), "+0.333", "0"),
        # Gave up on two and answers one more: a loss.
        ((".x...", "x....", "x..x.", "....."), (".x.", "x.", "x..x.", "x...."), "+0.5", "-0.25"),
        # Only gave up: the shared mean does not move.
        ((".x...", "x....", "x..x.", "....."), (".x...", "x.", "x..x.", "....."), "0", "-0.25"),
        # Answers one that the base gave up on, and loses one.
        ((".x...", "x.", "x..x.", "x...."), (".x...", "x....", "x..x.", "....."), "-0.333", "0"),
    ],
)
def test_a_verdict_that_hangs_on_silence_is_refused(shared, base, candidate, over_shared, over_all):
    with pytest.raises(Incomparable) as caught:
        shared(base, candidate)
    assert caught.value.exit_code == 4
    (reason,) = caught.value.record.reasons
    assert reason.code == "shared_and_floor_disagree"
    assert f"differs by {over_shared} over the" in reason.what
    assert f"by {over_all} over all 4 measured queries where a list shorter than 5" in reason.what
    assert "--metric" in reason.hint


def test_another_cut_off_or_level_can_decide_instead(shared):
    base, candidate = (".x...", "x....", "x..x.", "....."), (".x...", "x.", "x..x.", "x....")
    assert shared(base, candidate, cutoffs=[1]).verdict == "better"
    assert shared(base, candidate, metric="recall_all@1").verdict == "better"
    assert shared(base, candidate, levels=["turn"]).verdict == "unchanged"


def test_other_differences_that_turn_are_named(shared):
    base, candidate = (".x...", "x....", "x..x.", "....."), (".x...", "x.", "x..x.", "x....")
    found = shared(base, candidate, metric="recall_all@1")
    (note,) = [n for n in found.notes if "turn their sign" in n and "scored 0" in n]
    assert "session recall_all@5" in note
    assert "@1" not in note
    assert "turn " not in note.partition(": ")[2]
    # mrr: one of rank 1 lost with its list, one of rank 1 gained.
    assert "session mrr@5" in note


def test_silence_on_what_was_missed_anyway_wins_nothing(shared):
    lists = (".x...", ".....", "x..x.", ".....")
    # The candidate's own mean at 5 rises from 2/4 to 2/3 with its last list gone.
    found = shared(lists, (*lists[:3], ".."))
    assert found.verdict == "unchanged"
    assert (found.headline.base, found.headline.candidate) == (2 / 3, 2 / 3)
    assert (found.floor.base, found.floor.candidate) == (0.5, 0.5)


def test_a_cut_off_that_no_query_shares_is_left_out(shared):
    found = shared((".x...", "x....", "x.", ".."), ("..", "x.", "x..x.", "....."))
    gone = {(o.level, o.k): o.reason for o in found.omitted}
    assert set(gone) == {("session", 3), ("session", 5)}
    assert "2 of 4 in the base, 2 of 4 in the candidate, 0 in both" in gone["session", 5]
    assert (found.headline.level, found.headline.k) == ("session", 1)


def test_a_category_that_no_query_shares_is_left_out(shared):
    base, candidate = (".x...", ".....", "x..x.", ".."), (".x...", ".....", "x.", ".....")
    found = shared(base, candidate, cutoffs=[1, 5], metric="recall_all@1")
    (gone,) = found.omitted
    assert (gone.level, gone.k) == ("session", 5)
    assert "category multi" in gone.reason
    assert "1 in the base, 1 in the candidate" in gone.reason
    assert {m.categories for m in found.macro if (m.level, m.k) == ("session", 5)} == {1}


def test_nothing_shared_at_all_is_nothing_left(shared):
    with pytest.raises(Incomparable) as caught:
        shared(("x....", "x....", "", ""), ("", "", "x....", "x...."), levels=["session"])
    assert {reason.code for reason in caught.value.record.reasons} == {"nothing-left"}
    assert "0 in both" in caught.value.record.reasons[0].what


def test_other_reasons_to_refuse_remain(make_run, queries_a):
    left = make_run("base")
    short = (*queries_a[:3], queries_a[3]._replace(session=".."), queries_a[4])
    right = make_run("cand", short, changes={"corpus.sha256": "0" * 64, "system.name": "x"})
    with pytest.raises(Incomparable) as caught:
        compare(left, right, shared=True, cutoffs=[5, 7])
    codes = [reason.code for reason in caught.value.record.reasons]
    assert codes == ["corpus", "undeclared", "cutoff"]


def test_common_and_shared_contradict(shared):
    with pytest.raises(UsageError, match="-k common"):
        shared(BASE, CANDIDATE, cutoffs="common")


def test_the_floor_leaves_out_what_was_never_measured(make_run, queries_a):
    failed = (queries_a[0]._replace(excluded="search failed"), *queries_a[1:])
    short = (*failed[:3], failed[3]._replace(session=".."), failed[4])
    found = compare(
        make_run("base", failed),
        make_run("cand", short, changes=CHANGE),
        changed=["decay_rate"],
        shared=True,
    )
    assert (found.headline.of, found.floor.counted, found.floor.base) == (3, 3, 2 / 3)


LIST = st.text(".x", max_size=6).map(lambda ranks: ranks.replace("x", ".", ranks.count("x") - 1))
LISTS = st.tuples(LIST, LIST, LIST, LIST)
FOLDERS = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def padded(ranks, other):
    """`ranks` cut or filled to the length of `other`."""
    return ranks[: len(other)].ljust(len(other), ".")


@FOLDERS
@given(base=LISTS, candidate=LISTS)
def test_with_equal_members_it_is_the_plain_comparison(shared, base, candidate):
    base = ("x....", *base[1:])  # something always counts
    candidate = tuple(map(padded, candidate, base))
    plain = shared(base, candidate, shared=False)
    found = shared(base, candidate)
    assert not plain.shared_only
    assert plain.floor is None
    for name in SAME:
        assert getattr(found, name) == getattr(plain, name), name
    assert set(found.notes) >= set(plain.notes)


def padded_total(value_of, sides, metric, level, k):
    """The exact sum of differences over padded lists."""
    pairs = [pair for pair in zip(*sides, strict=True) if pair[0].excluded is None]
    values = [[Fraction(value_of(metric, q, level, k)) for q in pair] for pair in pairs]
    return sum(candidate - base for base, candidate in values)


@FOLDERS
@given(lists=st.tuples(LISTS, LISTS))
def test_every_number_is_that_of_exact_fractions(  # noqa: C901 - one oracle for all
    shared, queries_a, value_of, padded_value_of, lists
):
    base, candidate = lists
    sides = [with_sessions(queries_a, *lists) for lists in (base, candidate)]

    def values(metric, level, k, name):
        return [
            (value_of(metric, left, level, k), value_of(metric, right, level, k))
            for left, right in zip(*sides, strict=True)
            if left.excluded is None and name in {"all", left.category}
        ]

    def sign(number):
        # Thirds and logarithms come as floats: what cancels on paper is zero.
        return 0 if abs(number) < 1e-12 else (1 if number > 0 else -1)

    def over_all(rows):
        return sum(Fraction(c or 0) - Fraction(b or 0) for b, c in rows)

    def over_both(rows):
        return [(Fraction(b), Fraction(c)) for b, c in rows if b is not None and c is not None]

    over_padded = partial(padded_total, padded_value_of, sides)

    try:
        found = shared(base, candidate)
    except Incomparable as refusal:
        (reason,) = refusal.record.reasons
        assert reason.code == "shared_and_floor_disagree"
        metric, _, k = reason.what.partition(" ")[0].partition("@")
        rows = values(metric, "session", int(k), "all")
        own = sign(sum(c - b for b, c in over_both(rows)))
        assert {sign(over_all(rows)), sign(over_padded(metric, "session", int(k)))} != {own}
        return
    head = found.headline
    rows = values(head.metric, head.level, head.k, "all")
    assert sign(head.delta) == sign(over_all(rows)) == sign(found.floor.delta)
    if counts(head) != (head.counted,) * 3:
        assert sign(head.delta) == sign(found.padded.delta)
    assert found.padded.delta * 4 == pytest.approx(
        float(over_padded(head.metric, head.level, head.k)), abs=1e-12
    )
    seen = {(d.metric, d.level, d.k, d.slice): d for d in found.deltas}
    for metric in METRICS:
        for level, k in CELLS:
            for name in ("all", "single", "multi"):
                rows = values(metric, level, k, name)
                both = over_both(rows)
                delta = seen.pop((metric, level, k, name), None)
                assert (delta is None) == (not both)
                if delta is not None:
                    assert delta.base == pytest.approx(float(sum(b for b, _ in both) / len(both)))
                    assert delta.delta == pytest.approx(
                        float(sum(c - b for b, c in both) / len(both)), abs=1e-12
                    )
                    assert counts(delta) == (
                        sum(b is not None for b, _ in rows),
                        sum(c is not None for _, c in rows),
                        len(both),
                    )
    assert not seen
