"""Kappas and pairwise agreement: published cases, referees, a plain loop, laws, refusals."""

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
)

# A worked example that is widely taught: 50 grant proposals, two readers. Kappa is 0.4.
PROPOSALS = ["yy"] * 20 + ["yn"] * 5 + ["ny"] * 10 + ["nn"] * 15

# Another: ten subjects, fourteen raters, five labels; how many chose each. Kappa is 0.210.
SUBJECTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

LABELS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=40)
FUNCTIONS = [
    lambda table, **settings: cohen_kappa(*zip(*table, strict=True), **settings),
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
]


def _expand(counts):
    return [[label for label, times in enumerate(row) for _ in range(times)] for row in counts]


def _columns(pairs):
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def test_cohen_published():
    found = cohen_kappa(*_columns(PROPOSALS))
    assert found.value == pytest.approx(0.4)
    assert (found.n, found.left_out, found.raters, found.labels) == (50, 0, 2, 2)
    assert found.reason is None
    assert found.warnings == ()


def test_cohen_interval_is_near_the_large_sample_one():
    """Fleiss, Cohen and Everitt (1969): a standard error of 0.1270 for this table."""
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="a referee only")
    theirs = inter_rater.cohens_kappa([[20, 5], [10, 15]])
    found = cohen_kappa(*_columns(PROPOSALS))
    assert found.value == pytest.approx(theirs.kappa)
    assert found.low == pytest.approx(theirs.kappa_low, abs=0.03)
    assert found.high == pytest.approx(theirs.kappa_upp, abs=0.03)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(pairs=LABELS)
@settings(max_examples=40)
def test_statsmodels_agrees(weights, pairs):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="a referee only")
    assume(len({label for pair in pairs for label in pair}) > 1)
    table = np.zeros((4, 4))
    for one, other in pairs:
        table[one - 1, other - 1] += 1
    theirs = inter_rater.cohens_kappa(table, wt=weights, return_results=False)
    for given_in_advance in (None, [1, 2, 3, 4]):
        found = cohen_kappa(
            *_columns(pairs), weights=weights, categories=given_in_advance, resamples=1000
        )
        assert found.value == pytest.approx(theirs)


def test_weights_by_hand():
    # o: |2-1| + |3-1| = 3. Chance, of 3 items: rows 1,1,1; columns 2 of "1", 1 of "3".
    # Sum of |i - j| r_i c_j / 3 = (2 (0 + 1 + 2) + (2 + 1 + 0)) / 3 = 3.
    assert cohen_kappa([1, 2, 3], [1, 3, 1], weights="linear").value == pytest.approx(0.0)
    words = cohen_kappa(
        ["bad", "fair", "good"],
        ["bad", "good", "bad"],
        weights="linear",
        categories=["bad", "fair", "good"],
    )
    assert words.value == pytest.approx(0.0)
    assert words.statistic == "cohen-kappa-linear"


def test_numbers_keep_their_distance_without_categories():
    """A 3 that nobody gave must not bring 2 and 4 together."""
    first, second = [1, 2, 4, 5, 1], [1, 4, 4, 5, 2]
    alone = cohen_kappa(first, second, weights="quadratic")
    full = cohen_kappa(first, second, weights="quadratic", categories=[1, 2, 3, 4, 5])
    assert alone.value == pytest.approx(full.value)


def test_fleiss_published():
    found = fleiss_kappa(_expand(SUBJECTS))
    assert round(found.value, 3) == 0.210
    assert (found.n, found.raters, found.labels) == (10, 14, 5)


def test_fleiss_statsmodels_agrees():
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", reason="a referee only")
    table = np.random.default_rng(1).multinomial(5, [0.5, 0.3, 0.2], 60)
    theirs = inter_rater.fleiss_kappa(table)
    assert fleiss_kappa(_expand(table)).value == pytest.approx(theirs)


def test_pairwise_by_hand():
    # One of one, one of three, none of one; the lone rating says nothing.
    table = [["a", "a", None], ["a", "b", "b"], ["a", None, "c"], ["a", None, None]]
    found = pairwise_agreement(table)
    assert found.value == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert (found.n, found.left_out, found.resamples) == (3, 1, None)


def test_pairwise_is_the_observed_agreement_of_fleiss():
    counts = np.array(SUBJECTS)
    shares = ((counts**2).sum(axis=1) - 14) / (14 * 13)
    assert pairwise_agreement(_expand(SUBJECTS)).value == pytest.approx(shares.mean())


def _kappa(pairs):
    n = len(pairs)
    seen = sum(a == b for a, b in pairs) / n
    labels = {label for pair in pairs for label in pair}
    chance = (
        sum(sum(p[0] == x for p in pairs) * sum(p[1] == x for p in pairs) for x in labels) / n**2
    )
    return None if chance == 1 else (seen - chance) / (1 - chance)


def test_interval_against_a_plain_loop_over_clusters():
    rng = random.Random(4)
    pairs = [(x, x if rng.random() < 0.7 else rng.choice("abc")) for x in rng.choices("abc", k=120)]
    names = [f"talk {at % 40}" for at in range(120)]
    groups = [[p for p, name in zip(pairs, names, strict=True) if name == g] for g in set(names)]
    drawn = [_kappa([p for g in rng.choices(groups, k=40) for p in g]) for _ in range(3000)]
    found = cohen_kappa(*_columns(pairs), clusters=names)
    assert found.clusters == 40
    assert found.value == pytest.approx(_kappa(pairs))
    assert (found.low, found.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.02)


def test_resamples_without_value_are_counted():
    """One dissenting item: it is in no resample with probability (19/20)^20."""
    found = cohen_kappa(["y"] * 20, ["y"] * 19 + ["n"], resamples=20_000)
    assert found.undefined == pytest.approx((19 / 20) ** 20, abs=0.01)
    assert "resamples have no value" in found.warnings[1]
    assert found.value == 0


@pytest.mark.parametrize("function", FUNCTIONS[:3])
def test_one_label_has_no_value(function):
    found = function([("y", "y")] * 40)
    assert found.value is found.low is found.high is found.low_error is None
    assert "every rating is 'y'" in found.reason
    assert found.undefined == 1
    assert found.warnings == ()


def test_two_raters_who_never_meet_have_one():
    assert cohen_kappa("yyyy", "nnnn").value == 0


@pytest.mark.parametrize("function", FUNCTIONS)
@given(pairs=LABELS, seed=st.randoms())
@settings(max_examples=25)
def test_laws(function, pairs, seed):
    assume(len({label for pair in pairs for label in pair}) > 1)
    found = function(pairs, resamples=1000)
    assert found.low <= found.high
    assert found.value <= 1
    # Swapping the raters, renaming the labels, doubling the clusters' names: the same.
    assert function([(b, a) for a, b in pairs], resamples=1000).value == pytest.approx(found.value)
    renamed = [(f"label {5 - a}", f"label {5 - b}") for a, b in pairs]
    assert function(renamed, resamples=1000).value == pytest.approx(found.value)
    # The order of whole items, each in its cluster, changes nothing.
    order = seed.sample(range(len(pairs)), len(pairs))
    grouped = function(pairs, clusters=list(range(len(pairs))), resamples=1000)
    moved = function([pairs[at] for at in order], clusters=order, resamples=1000)
    assert (moved.low, moved.high) == pytest.approx((grouped.low, grouped.high))
    assert (grouped.low, grouped.high) == pytest.approx((found.low, found.high))
    full = function([(a, a) for a, _ in pairs] + [(9, 9)] * 2, resamples=1000)
    assert full.value == 1


@pytest.mark.parametrize("function", FUNCTIONS)
def test_deterministic_by_seed(function):
    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, (60, 2))
    assert function(table, seed=3) == function(table, seed=3)
    assert function(table) == function(table.tolist())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_missing_ratings_are_left_out_and_counted(function):
    table = [("a", "a"), ("b", "a"), ("b", "b"), (None, "a"), ("b", None), (None, None)]
    found, plain = function(table, clusters=list("uvwxyz")), function(table[:3])
    assert (found.n, found.left_out, found.clusters) == (3, 3, 3)
    assert found.value == plain.value
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.parametrize("function", FUNCTIONS[1:])
@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [["a"], ["b"]],
        [["a", "b"], ["a"]],
        [["a", float("nan")], ["a", "b"]],
        [[["a"], ["b"]], [["a"], ["b"]]],
        [1, 2],
        3,
        [[at, at + 1] for at in range(400)],
    ],
)
def test_no_table_of_labels(function, wrong):
    with pytest.raises(UsageError):
        function(wrong)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("few", [[("a", "b")], [("a", None), ("a", "b")], [(None, None)] * 3])
def test_too_few_items(function, few):
    with pytest.raises(Refusal, match="resampling needs at least two"):
        function(few)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("clusters", [["u"], ["u", None], ["u", float("nan")]])
def test_bad_clusters(function, clusters):
    with pytest.raises(UsageError, match="cluster"):
        function([("a", "b"), ("a", "a")], clusters=clusters)


@pytest.mark.parametrize("wrong", [{"resamples": 10}, {"seed": -1}])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_draws_out_of_range(function, wrong):
    with pytest.raises(UsageError):
        function([("a", "b"), ("a", "a")], **wrong)


def test_bad_cohen():
    with pytest.raises(UsageError, match="the first rater has 2 labels, the second 1"):
        cohen_kappa("ab", "a")
    with pytest.raises(UsageError, match="'a' is no number"):
        cohen_kappa("ab", "ab", weights="linear")
    with pytest.raises(UsageError, match="no weights"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")
    with pytest.raises(UsageError, match="'c' is not among them"):
        cohen_kappa("abc", "abc", categories="ab")
    with pytest.raises(UsageError, match="not distinct"):
        cohen_kappa("ab", "ab", categories="aab")


def test_fleiss_wants_as_many_each():
    with pytest.raises(UsageError, match="some items have 2 ratings, some 3"):
        fleiss_kappa([["a", "b", None], ["a", "b", "a"]])
