"""The public function: published rows, laws, and what is refused."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memruler.errors import Refusal, UsageError
from memruler.stats import paired_bootstrap, paired_bootstraps

PUBLISHED = [
    ((1, 59, 0), (1.7, 0.0, 5.0)),
    ((2, 26, 2), (0.0, -13.3, 13.3)),
    ((13, 138, 13), (0.0, -6.1, 6.1)),
    ((6, 52, 2), (6.7, -1.7, 16.7)),
    ((40, 440, 20), (4.0, 1.0, 7.0)),
]


def _row(wins, ties, losses):
    return [1] * wins + [0] * ties + [-1] * losses


def _points(found):
    return tuple(round(100 * value, 1) for value in (found.mean, found.low, found.high))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("row", "expected"), PUBLISHED)
def test_published_rows(row, expected, exact):
    found = paired_bootstrap(_row(*row), exact=exact)
    assert _points(found) == expected
    assert found.method == ("exact" if exact else "monte-carlo")
    assert found.clusters == found.n == sum(row)


def test_published_row_in_six_clusters():
    found = paired_bootstrap([1] * 8 + [-1] * 2 + [0] * 50, _tens(60))
    assert _points(found) == (10.0, 0.0, 30.0)
    assert found.clusters == 6
    assert not found.gain
    assert "6 clusters" in found.warnings[0]


def _tens(n):
    return [f"cluster {at // 10}" for at in range(n)]


def _sequential(deltas, codes, resamples):
    """A plain loop with another generator: what both paths must agree with."""
    rng = random.Random(11)
    number = max(codes) + 1
    sums, counts = [0.0] * number, [0] * number
    for delta, code in zip(deltas, codes, strict=True):
        sums[code] += delta
        counts[code] += 1
    means = []
    for _ in range(resamples):
        drawn = [rng.randrange(number) for _ in range(number)]
        means.append(sum(sums[c] for c in drawn) / sum(counts[c] for c in drawn))
    means.sort()
    return means[math.ceil(0.025 * resamples) - 1], means[-math.ceil(0.025 * resamples)]


@pytest.mark.parametrize("sizes", [[3] * 12, [1, 2, 3, 4, 5, 6, 7, 8]])
@pytest.mark.parametrize("values", [(-1, 0, 1), (-0.37, 0.0, 0.11, math.pi)])
def test_agrees_with_a_plain_loop(sizes, values):
    rng = random.Random(3)
    codes = [code for code, size in enumerate(sizes) for _ in range(size)]
    deltas = [rng.choice(values) for _ in codes]
    low, high = _sequential(deltas, codes, 20_000)
    for exact in (True, False):
        found = paired_bootstrap(deltas, codes, exact=exact, resamples=20_000)
        # Two samples differ by about 1.4 standard errors of one, and by a step on a lattice.
        near = max(6 * found.low_error, 6 * found.high_error, 1.001 / len(deltas))
        assert abs(found.low - low) <= near
        assert abs(found.high - high) <= near


binary = st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=60)
reals = st.lists(
    st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3)), min_size=2, max_size=40
)
grouped = binary.flatmap(
    lambda deltas: st.tuples(
        st.just(deltas),
        st.lists(st.integers(0, 5), min_size=len(deltas), max_size=len(deltas)).filter(
            lambda codes: len(set(codes)) > 1
        ),
    )
)
few = settings(max_examples=40, deadline=None)


def _ends(found):
    return [found.mean, found.low, found.high]


@few
@given(data=grouped, factor=st.floats(0.001, 1000), shift=st.floats(-50, 50))
def test_shift_and_scale(data, factor, shift):
    deltas, codes = np.array(data[0], float), data[1]
    for exact in (True, False):
        plain = paired_bootstrap(deltas, codes, exact=exact, resamples=1000)
        moved = paired_bootstrap(deltas * factor + shift, codes, exact=exact, resamples=1000)
        expected = [value * factor + shift for value in _ends(plain)]
        assert _ends(moved) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (factor + 50))
        assert moved.method == plain.method


@few
@given(data=grouped)
def test_a_loss_mirrors_a_gain(data):
    deltas, codes = np.array(data[0]), data[1]
    found, mirrored = paired_bootstrap(deltas, codes), paired_bootstrap(-deltas, codes)
    assert found.method == mirrored.method == "exact"
    assert [-mirrored.mean, -mirrored.high, -mirrored.low] == pytest.approx(_ends(found))


@few
@given(data=grouped, order=st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(data, order):
    places = list(range(len(data[0])))
    order.shuffle(places)
    for exact in (True, False):
        found = paired_bootstrap(*data, exact=exact, resamples=1000)
        shuffled = paired_bootstrap(
            [data[0][at] for at in places],
            [data[1][at] for at in places],
            exact=exact,
            resamples=1000,
        )
        assert shuffled == found


@few
@given(data=grouped)
def test_names_of_clusters_do_not_matter(data):
    numbers = paired_bootstrap(*data)
    assert paired_bootstrap(data[0], np.array(data[1])) == numbers
    assert paired_bootstrap(data[0], [f"family {code}" for code in data[1]]) == numbers


@few
@given(data=grouped)
def test_twice_the_clusters_are_never_less_sure(data):
    deltas, codes = data
    once = paired_bootstrap(deltas, codes)
    twice = paired_bootstrap([*deltas, *deltas], [*codes, *(code + 10 for code in codes)])
    assert twice.mean == pytest.approx(once.mean)
    assert twice.clusters == 2 * once.clusters
    step = 1 / len(deltas)
    assert twice.high - twice.low <= once.high - once.low + step + 1e-12


@few
@given(deltas=reals)
def test_the_mean_is_inside(deltas):
    for exact in (True, False):
        found = paired_bootstrap(deltas, exact=exact, resamples=1000)
        assert found.low <= found.mean + 1e-12
        assert found.mean <= found.high + 1e-12
        assert min(deltas) - 1e-12 <= found.low
        assert found.high <= max(deltas) + 1e-12
        assert found.low_error >= 0 <= found.high_error


@few
@given(deltas=binary, codes=st.lists(st.integers(0, 3), min_size=60, max_size=60))
def test_the_exact_distribution_by_enumeration(deltas, codes):
    deltas, codes = deltas[:7], codes[: len(deltas[:7])]
    assume(len(set(codes)) > 1)
    names = sorted(set(codes))
    sums = [sum(d for d, c in zip(deltas, codes, strict=True) if c == name) for name in names]
    counts = [codes.count(name) for name in names]
    places = np.indices((len(names),) * len(names)).reshape(len(names), -1)
    means = np.sort(np.array(sums)[places].sum(axis=0) / np.array(counts)[places].sum(axis=0))
    cut = math.ceil(0.025 * len(means) - 1e-6)
    found = paired_bootstrap(deltas, codes)
    assert found.method == "exact"
    assert found.low == pytest.approx(means[cut - 1])
    assert found.high == pytest.approx(means[-cut])


@pytest.mark.parametrize("value", [0, 1, -0.3])
def test_equal_differences_give_a_point_and_say_so(value):
    found = paired_bootstrap([value] * 40)
    assert _ends(found) == [pytest.approx(value)] * 3
    assert found.gain == (value > 0)
    assert any("point" in warning for warning in found.warnings)


def test_the_seed_decides_and_is_recorded():
    deltas = np.random.default_rng(5).normal(size=50)
    found = paired_bootstrap(deltas)
    assert found == paired_bootstrap(deltas, seed=7)
    assert (found.method, found.seed, found.resamples) == ("monte-carlo", 7, 10_000)
    other = paired_bootstrap(deltas, seed=8)
    assert other.low != found.low
    # Seeds differ by what the errors say: forty of them, and the error that one of them gives.
    lows = [paired_bootstrap(deltas, seed=seed).low for seed in range(40)]
    assert 0.5 < np.std(lows) / found.low_error < 2


def test_the_draws_are_the_raw_bits_of_the_seed():
    """Spelt out with whole numbers of Python: no release of numpy may change an interval."""
    deltas = [math.sqrt(at) for at in range(21)]
    words = np.random.PCG64(3).random_raw(21 * 1000 // 2).tolist()
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
    drawn = [half * 21 >> 32 for half in halves]
    means = sorted(
        math.fsum(deltas[at] for at in drawn[start : start + 21]) / 21
        for start in range(0, 21 * 1000, 21)
    )
    found = paired_bootstrap(deltas, seed=3, resamples=1000)
    assert [found.low, found.high] == pytest.approx([means[24], means[-25]], rel=1e-12)


def test_a_table_is_resampled_once_and_gives_what_its_columns_give():
    rng = np.random.default_rng(2)
    table = rng.normal(size=(60, 7))
    table[:, 3] = rng.integers(-1, 2, 60)
    codes = rng.integers(0, 12, 60)
    for clusters in (None, codes):
        together = paired_bootstraps(table, clusters)
        for at, found in enumerate(together):
            alone = paired_bootstrap(table[:, at], clusters)
            assert found.method == alone.method == ("exact" if at == 3 else "monte-carlo")
            assert _ends(found) == pytest.approx(_ends(alone), rel=1e-12, abs=1e-15)


def test_large_inputs_stay_small():
    import tracemalloc  # noqa: PLC0415 - only here

    n = 100_000
    deltas = np.random.default_rng(1).normal(size=n)
    tracemalloc.start()
    found = paired_bootstrap(deltas, resamples=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.clusters == n
    assert peak < 100 * 2**20
    assert found.high - found.low == pytest.approx(2 * 1.96 * deltas.std() / n**0.5, rel=0.2)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_by_its_place(bad):
    with pytest.raises(UsageError, match=r"not finite.*item 2"):
        paired_bootstrap([0, 1, bad, 0])


@pytest.mark.parametrize("bad", [[0, None, 1], ["a", "b"], [[1, 2], [3]], [[[1]]]])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(UsageError):
        paired_bootstrap(bad)


@pytest.mark.parametrize(
    ("deltas", "clusters"), [([], None), ([1.0], None), ([1, 0, 1], ["a"] * 3)]
)
def test_nothing_to_resample_is_refused(deltas, clusters):
    with pytest.raises(Refusal, match="at least two"):
        paired_bootstrap(deltas, clusters)


@pytest.mark.parametrize("clusters", [["a"], [None, "a", "b"], [math.nan, 1.0, 2.0], []])
def test_an_item_without_a_cluster_is_refused(clusters):
    with pytest.raises(UsageError, match="cluster"):
        paired_bootstrap([1, 0, 1], clusters)


@pytest.mark.parametrize("wrong", [{"resamples": 999}, {"resamples": 10**8}, {"seed": -1}])
def test_numbers_out_of_range(wrong):
    with pytest.raises(UsageError):
        paired_bootstrap([1, 0, 1], **wrong)


@pytest.mark.parametrize(
    ("n", "chance", "least"), [(30, 0.2, 0.88), (60, 0.2, 0.91), (500, 0.2, 0.93)]
)
def test_coverage_of_the_nominal_interval(n, chance, least):
    """By simulation; docs/statistics.md has the figures of many more draws."""
    rng = np.random.default_rng(17)
    runs, held = 400, 0
    for _ in range(runs):
        wins, losses = rng.random(n) < chance, rng.random(n) < chance / 2
        found = paired_bootstrap(wins.astype(int) - losses)
        held += found.low <= chance / 2 <= found.high
    assert least <= held / runs <= 0.985
