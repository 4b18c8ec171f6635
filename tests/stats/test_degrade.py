import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats.degrade import choose, degrade_rankings, degrade_scores, steps

HITS = np.array([[4, 5, 6, -1], [7, 8, 9, 4], [5, -1, -1, -1]])
GOLD = np.array([[True, False, True, False], [False] * 4, [True, False, False, False]])


def test_gold_gives_way_and_lists_keep_their_lengths():
    worse = degrade_rankings(HITS, GOLD, [0], 99)
    assert worse.tolist() == [[99, 5, 99, -1], [7, 8, 9, 4], [5, -1, -1, -1]]
    assert HITS[0, 0] == 4


def test_a_query_without_a_gold_hit_has_nothing_to_lose():
    with pytest.raises(UsageError, match=r"cannot be made worse.*row 1"):
        degrade_rankings(HITS, GOLD, [0, 1], 99)
    with pytest.raises(UsageError, match="one flag a hit"):
        degrade_rankings(HITS, GOLD[:2], [0], 99)


def test_scores():
    assert degrade_scores([1, 0.5, 0], [1]).tolist() == [1, 0, 0]
    with pytest.raises(UsageError, match="score of 0"):
        degrade_scores([1, 0.5, 0], [2])


@given(st.sets(st.integers(0, 1000), min_size=1, max_size=50), st.integers(0, 2**40))
def test_a_choice_is_seeded_nested_and_without_repeats(rows, seed):
    rows = sorted(rows)
    before: set[int] = set()
    for number in range(1, len(rows) + 1):
        chosen = choose(rows, number, seed).tolist()
        assert chosen == sorted(set(chosen)) == choose(rows, number, seed).tolist()
        assert len(chosen) == number
        assert before < set(chosen) <= set(rows)
        before = set(chosen)


def test_seeds_choose_differently():
    assert len({tuple(choose(range(100), 5, seed)) for seed in range(20)}) == 20


def test_a_choice_from_nothing_is_refused():
    with pytest.raises(Refusal, match="nothing can be made worse"):
        choose([], 1)
    with pytest.raises(UsageError, match="3 of 2 candidates"):
        choose([4, 5], 3)


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (8, (1, 2, 4, 8)), (9, (1, 2, 4, 8, 9))],
)
def test_steps(most, expected):
    assert steps(most) == expected
