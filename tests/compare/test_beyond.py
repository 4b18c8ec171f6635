import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.beyond import moved, paired_test, slice_rows
from memruler.stats import holm, mcnemar, wilcoxon_signed_rank

DELTAS = [1.0, 1.0, 0.0, -1.0, 1.0, 0.0, 1.0, 1.0]
TALKS = ["a", "a", "b", "b", "c", "c", "d", "d"]


def test_labels_that_stand_alone_go_to_mcnemar():
    found = paired_test(DELTAS, None, resamples=1000, seed=7)
    assert (found.test, found.n) == ("mcnemar", 8)
    assert found.p == mcnemar(5, 1).p == pytest.approx(2 * 7 / 64)
    assert found.net_win_rate.mean == 0.5


def test_clusters_go_to_wilcoxon_over_their_means():
    found = paired_test(DELTAS, TALKS, resamples=1000, seed=7)
    assert (found.test, found.n) == ("wilcoxon", 4)
    assert found.p == wilcoxon_signed_rank([1.0, -0.5, 0.5, 1.0]).p
    assert found.net_win_rate.clusters == 4


def test_other_numbers_go_to_wilcoxon():
    assert paired_test([0.5, -0.25, 0.1], None, resamples=1000, seed=7).test == "wilcoxon"


def test_slices_are_corrected_for_their_number():
    deltas = [1.0] * 8 + [0.0] * 8 + [1.0, -1.0] * 4
    rows = slice_rows(deltas, None, ["one"] * 8 + ["two"] * 8 + ["three"] * 8, exact=False)
    assert [row.name for row in rows] == ["one", "three", "two"]
    assert [(row.n, row.wins, row.losses, row.delta) for row in rows] == [
        (8, 8, 0, 1.0),
        (8, 4, 4, 0.0),
        (8, 0, 0, 0.0),
    ]
    ps = {row.name: row.p for row in rows}
    assert ps["one"] == pytest.approx(2 / 256)
    assert {row.name: row.adjusted for row in rows} == {
        row.name: row.adjusted for row in holm(ps).rows
    }
    assert rows[0].adjusted == pytest.approx(6 / 256)


def test_a_slice_of_one_cluster_is_not_tested():
    slices = ["one"] * 2 + ["two"] * 6
    one, two = slice_rows(DELTAS, TALKS, slices, exact=False)
    assert (one.test, one.p, one.adjusted) == (None, None, None)
    assert two.adjusted == two.p


def test_facts_are_not_tested():
    rows = slice_rows([1.0, 0.0], None, ["one", "two"], exact=True)
    assert {(row.test, row.p, row.adjusted) for row in rows} == {(None, None, None)}


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), max_size=30))
def test_who_moved(deltas):
    ids = [f"q{at}" for at in range(len(deltas))]
    found = moved(ids, deltas)
    assert len(found) == sum(delta != 0 for delta in deltas)
    assert [item.delta for item in found] == sorted(delta for delta in deltas if delta)
    assert {(item.id, item.delta) for item in found} <= set(zip(ids, deltas, strict=True))
