"""The signed-rank test: a published case, brute force, scipy, laws, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import PermutationMethod, wilcoxon

from memruler.errors import UsageError
from memruler.stats.wilcoxon import signed_ranks, task_means, wilcoxon_signed_rank

# Hollander and Wolfe (1973), p. 29: the depression scores in the help page of R's `wilcox.test`.
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

# Whole numbers, so that ties and zeros are common.
COARSE = st.lists(st.integers(-4, 4), min_size=1, max_size=10)


def test_published_case():
    found = wilcoxon_signed_rank(np.subtract(FIRST, SECOND))
    assert (found.plus, found.minus, found.method) == (40, 5, "exact")
    assert found.p == 0.0390625
    assert found.warnings == ()


def _brute_force(deltas, zeros):
    """Every assignment of signs, one by one."""
    ranks = signed_ranks(np.asarray(deltas, float), zeros)
    sums = [
        sum(r for r, positive in zip(ranks.doubled, signs, strict=True) if positive)
        for signs in itertools.product([False, True], repeat=len(ranks.doubled))
    ]
    seen = ranks.doubled[ranks.signs > 0].sum()
    low = sum(s <= seen for s in sums)
    high = sum(s >= seen for s in sums)
    return min(1.0, 2 * min(low, high) / len(sums))


@given(COARSE, st.sampled_from(["pratt", "wilcoxon"]))
def test_exact_with_ties_and_zeros_is_brute_force(deltas, zeros):
    found = wilcoxon_signed_rank(deltas, zeros=zeros)
    assert found.method == "exact"
    assert found.p == pytest.approx(_brute_force(deltas, zeros), abs=1e-14)


@given(COARSE)
def test_ranks_are_the_means_of_ties(deltas):
    size = np.abs(deltas)
    expected = [(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size]
    found = signed_ranks(np.asarray(deltas, float), "pratt")
    assert (found.doubled / 2).tolist() == [e for e, s in zip(expected, size, strict=True) if s]


def test_scipy_agrees_without_ties():
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 20, 50, 100):
        deltas = rng.normal(0.2, 1, n)
        theirs = wilcoxon(deltas, method="exact")
        ours = wilcoxon_signed_rank(deltas)
        assert min(ours.plus, ours.minus) == theirs.statistic
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("zeros", ["pratt", "wilcoxon"])
def test_scipy_agrees_with_ties_and_zeros(zeros):
    rng = np.random.default_rng(2)
    for _ in range(5):
        deltas = rng.integers(-3, 5, 9)
        every = PermutationMethod(n_resamples=2**9 + 1)
        theirs = wilcoxon(
            deltas, zero_method="wilcox" if zeros == "wilcoxon" else zeros, method=every
        )
        assert wilcoxon_signed_rank(deltas, zeros=zeros).p == pytest.approx(
            theirs.pvalue, rel=1e-12
        )


@pytest.mark.parametrize("zeros", ["pratt", "wilcoxon"])
def test_scipy_agrees_on_many(zeros):
    deltas = np.rint(np.random.default_rng(3).normal(3, 60, 2000))
    theirs = wilcoxon(
        deltas,
        zero_method="wilcox" if zeros == "wilcoxon" else zeros,
        method="asymptotic",
        correction=False,
    )
    found = wilcoxon_signed_rank(deltas, zeros=zeros)
    assert found.method == "normal"
    assert found.zeros == (deltas == 0).sum() > 0
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_normal_is_near_exact_where_both_are_possible():
    rng = np.random.default_rng(4)
    deltas = rng.normal(0.15, 1, 240)
    exact = wilcoxon_signed_rank(deltas)
    near = wilcoxon(deltas, method="asymptotic", correction=False)
    assert exact.method == "exact"
    assert exact.p == pytest.approx(near.pvalue, abs=2e-4)


def test_wins_and_losses_alone_give_the_sign_test():
    found = wilcoxon_signed_rank([1] * 40 + [-1] * 20 + [0] * 5000)
    assert found.method == "exact"
    from memruler.stats.mcnemar import mcnemar  # noqa: PLC0415 - the other test

    assert found.p == pytest.approx(mcnemar(40, 20).p, rel=1e-12)


def test_many_zeros_are_no_burden():
    found = wilcoxon_signed_rank(np.concatenate((np.arange(1.0, 51), np.zeros(200_000))))
    assert found.zeros == 200_000
    assert found.p < 1e-6


def test_rounding_makes_no_ranks():
    noisy = [0.1 + 0.2, 0.3, -(0.9 / 3), 0.6 - 0.3, 1e-17]
    plain = [3, 3, -3, 3, 0]
    assert wilcoxon_signed_rank(noisy).p == wilcoxon_signed_rank(plain).p
    assert wilcoxon_signed_rank(noisy).plus == wilcoxon_signed_rank(plain).plus


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms())
def test_sign_order_and_scale(deltas, random):
    found = wilcoxon_signed_rank(deltas)
    flipped = wilcoxon_signed_rank([-d for d in deltas])
    assert 0 < found.p <= 1
    assert (flipped.plus, flipped.minus, flipped.p) == (found.minus, found.plus, found.p)
    shuffled = random.sample(deltas, len(deltas))
    assert wilcoxon_signed_rank(shuffled) == found
    assert wilcoxon_signed_rank([4 * d for d in deltas]) == found


@pytest.mark.parametrize("zeros", ["pratt", "wilcoxon"])
def test_nothing_moved(zeros):
    found = wilcoxon_signed_rank([0, 0, 0], zeros=zeros)
    assert (found.p, found.plus, found.minus, found.zeros) == (1.0, 0, 0, 3)
    assert "nothing to test" in found.warnings[0]


def test_error_rate_is_kept():
    rng = np.random.default_rng(5)
    ps = [wilcoxon_signed_rank(rng.normal(size=12)).p for _ in range(2000)]
    assert 0.03 < np.mean(np.array(ps) <= 0.05) <= 0.062


@pytest.mark.parametrize("wrong", [[], [float("nan")], ["a"], [[1, 2], [3, 4]], [None]])
def test_bad_differences(wrong):
    with pytest.raises(UsageError):
        wilcoxon_signed_rank(wrong)


def test_unknown_zeros():
    with pytest.raises(UsageError, match="no way to treat zeros"):
        wilcoxon_signed_rank([1], zeros="drop")


def test_task_means():
    assert task_means([1, 0, 0, 1, -1], ["b", "a", "b", "b", "a"]) == {"b": 2 / 3, "a": -0.5}
    assert list(task_means([1, 2], np.array([7, 5]))) == [7, 5]


def test_task_mean_that_cancels_is_zero():
    deltas = [0.1, 0.2, -0.3]
    assert sum(deltas) != 0
    assert task_means(deltas, ["a"] * 3) == {"a": 0.0}


@given(st.lists(st.tuples(st.integers(-5, 5), st.sampled_from("abc")), min_size=1))
def test_task_means_are_means(pairs):
    found = task_means([d for d, _ in pairs], [t for _, t in pairs])
    for task, mean in found.items():
        own = [d for d, t in pairs if t == task]
        assert mean == pytest.approx(sum(own) / len(own))
    assert set(found) == {t for _, t in pairs}


@pytest.mark.parametrize(("deltas", "tasks"), [([1, 2], ["a"]), ([1], [None]), ([np.inf], ["a"])])
def test_bad_tasks(deltas, tasks):
    with pytest.raises(UsageError):
        task_means(deltas, tasks)
