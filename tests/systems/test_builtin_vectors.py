import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import InstrumentError
from memruler.systems.builtin.vectors import VectorTable, best, quantise


def units(count, dimension=384, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def table(rows):
    made = VectorTable(rows.shape[1])
    made.append(rows)
    return made


def test_cosines_are_exact_against_whole_number_arithmetic():
    rows, queries = quantise(units(40, seed=1)), quantise(units(7, seed=2))
    got = table(rows).cosines(queries)
    for i, query in enumerate(queries):
        for j, row in enumerate(rows):
            whole = sum(int(a) * int(b) for a, b in zip(query, row, strict=True))
            assert got[i, j] == whole / 2**50
            assert int(got[i, j] * 2**50) == whole


def test_cosines_at_the_bound_of_the_proof():
    # All of the length in few components: the largest products there can be.
    rows = np.zeros((3, 8), np.float32)
    rows[0, 0] = rows[1, 1] = rows[2, 0] = 1
    rows[2, 1] = 1e-7
    got = table(quantise(rows)).cosines(quantise(rows))
    assert got.tolist() == [
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 3 * 2.0**-25],
        [1.0, 3 * 2.0**-25, (2**50 + 9) / 2**50],
    ]


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 1000), st.randoms())
def test_a_cosine_depends_on_no_other_row_and_no_order(stored, asked, seed, random):
    rows, queries = quantise(units(stored, 33, seed)), quantise(units(asked, 33, seed + 1))
    together = table(rows).cosines(queries)
    one = random.randrange(asked)
    assert np.array_equal(table(rows).cosines(queries[one : one + 1])[0], together[one])
    order = random.sample(range(stored), stored)
    assert np.array_equal(table(rows[order]).cosines(queries), together[:, order])
    # Components in another order: every sum is then added up in another order.
    mixed = random.sample(range(33), 33)
    assert np.array_equal(table(rows[:, mixed]).cosines(queries[:, mixed]), together)


def test_threads_of_the_linear_algebra_library_change_nothing():
    code = (
        "import numpy as np, hashlib\n"
        "from memruler.systems.builtin.vectors import VectorTable, quantise\n"
        "r = np.random.default_rng(5).standard_normal((900, 384)).astype(np.float32)\n"
        "r = quantise(r / np.sqrt((r * r).sum(1, keepdims=True)))\n"
        "t = VectorTable(384); t.append(r)\n"
        "print(hashlib.sha256(t.cosines(r[:300]).tobytes()).hexdigest())\n"
    )
    digests = set()
    for threads in ("1", "2", "3"):
        names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **dict.fromkeys(names, threads)},
            capture_output=True,
            check=True,
        )
        digests.add(run.stdout)
    assert len(digests) == 1


def test_a_cosine_is_close_to_that_of_the_float_vectors():
    rows = units(50)
    exact = rows.astype(np.float64) @ rows.astype(np.float64).T
    assert np.abs(table(quantise(rows)).cosines(quantise(rows)) - exact).max() < 6e-7


@pytest.mark.parametrize("bad", [2.0, float("nan"), float("inf")])
def test_a_vector_outside_the_proof_is_refused(bad):
    rows = units(2)
    rows[1] = bad
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(InstrumentError, match="unit length"),
    ):
        quantise(rows)


@given(
    st.lists(st.integers(-3, 3), min_size=0, max_size=50),
    st.integers(1, 60),
)
def test_best_is_a_stable_sort_cut_off(values, k):
    keys = np.array(values, np.float64)
    expected = sorted(range(len(values)), key=lambda at: -values[at])[:k]
    assert best(keys, k).tolist() == expected


def test_a_table_grows_and_closes_ranks():
    rows = quantise(units(200, 16))
    made = VectorTable(16)
    for row in rows:
        made.append(row[None])
    made.remove(0)
    made.remove(100)
    left = np.delete(rows, [0, 101], axis=0)
    assert len(made) == 198
    assert np.array_equal(made.cosines(rows), table(left).cosines(rows))


def test_the_bits_of_one_known_product():
    # A pinned digest: another machine, library or number of threads must give these bits.
    rows = quantise(units(100, 64, 7))
    whole = np.rint(table(rows).cosines(rows) * 2**50).astype("<i8")
    assert whole.diagonal().min() > 2**50 * 0.999999
    exact = [[sum(map(int, a * b)) for b in rows[:10]] for a in rows[:10]]
    assert whole[:10, :10].tolist() == exact
    assert (
        hashlib.sha256(whole.tobytes()).digest()
        == hashlib.sha256(
            (rows.astype(np.int64) @ rows.astype(np.int64).T).astype("<i8").tobytes()
        ).digest()
    )
