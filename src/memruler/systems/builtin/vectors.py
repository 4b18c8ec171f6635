"""Exact cosine: one bit pattern per pair of vectors, whatever computes it.

A floating-point dot product depends on the order of its additions, hence on the shape of the
batch, the BLAS library, its threads and the processor. Here it cannot:

1. A unit vector `v` of dimension `d` is held as `q = rint(v * 2**25)`: whole numbers in float64.
   `|q| <= 2**25 * |v| + sqrt(d) / 2` (Euclidean lengths), so for `d <= 2**20` and `|v|` within
   1e-3 of 1, `|q| < 2**25.5`. `quantise` checks that bound on every row.
2. Any partial sum of the products of two such rows runs over a subset S of the components. By
   Cauchy-Schwarz on S, `|sum over S of a_i * b_i| <= |a| * |b| < 2**51`. The same bound holds for
   one product (S of one element).
3. Every product and every partial sum is thus a whole number below `2**53`, which float64 holds
   exactly. No addition or fused multiply-add ever rounds, in any order and on any machine, as
   long as the product is computed by multiplying and adding components, as every BLAS does.

The cosine is that whole number times `2**-50`, an exact scaling. It differs from the cosine of
the float32 vectors by less than `sqrt(d) * 2**-25` (6e-7 at d = 384; about 1e-8 in practice).
"""

import numpy as np
from numpy.typing import NDArray

from memruler.errors import InstrumentError

__all__ = ["Floats", "VectorTable", "best", "quantise"]

Floats = NDArray[np.float64]

_SCALE = 2.0**25
_COSINE = 2.0**-50
_LONGEST_SQUARED = 2.0**51
_LARGEST_DIMENSION = 2**20
_BLOCK = 2**22
"""Scores held at once by a batch (32 MiB)."""


def quantise(vectors: NDArray[np.float32]) -> Floats:
    """Unit vectors as whole numbers, scaled by 2**25.

    Args:
        vectors: One unit vector (or zeros) a row.

    Raises:
        InstrumentError: A row is too long for the proof above, or not finite.
    """
    whole = np.rint(vectors.astype(np.float64) * _SCALE)
    squared = np.einsum("ij,ij->i", whole, whole)
    if vectors.shape[1] > _LARGEST_DIMENSION or not np.all(squared < _LONGEST_SQUARED):
        raise InstrumentError("the embedder gave a vector longer than unit length, or not finite")
    return whole


def best(keys: Floats, k: int) -> NDArray[np.intp]:
    """Positions of the `k` largest keys, largest first, the earlier position first among equals.

    Args:
        keys: Free of NaN.
        k: At least 1; may exceed the number of keys.
    """
    if k < keys.size:
        # Everything that ties with the k-th stays in, so that position alone decides among equals.
        candidates = np.flatnonzero(keys >= np.partition(keys, keys.size - k)[keys.size - k])
        return candidates[np.argsort(-keys[candidates], kind="stable")[:k]]
    return np.argsort(-keys, kind="stable")


class VectorTable:
    """The quantised vectors of the stored items, in order of insertion.

    Args:
        dimension: Length of a vector.
    """

    def __init__(self, dimension: int) -> None:
        self._rows = np.zeros((64, dimension), np.float64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def append(self, rows: Floats) -> None:
        """Add quantised vectors behind the others."""
        needed = self._used + len(rows)
        if needed > len(self._rows):
            grown = np.zeros((max(needed, 2 * len(self._rows)), self._rows.shape[1]), np.float64)
            grown[: self._used] = self._rows[: self._used]
            self._rows = grown
        self._rows[self._used : needed] = rows
        self._used = needed

    def remove(self, position: int) -> None:
        """Take one vector out; those behind it move up."""
        self._rows[position : self._used - 1] = self._rows[position + 1 : self._used]
        self._used -= 1

    def cosines(self, queries: Floats) -> Floats:
        """The cosine of every query (row) to every stored vector (column)."""
        scores: Floats = queries @ self._rows[: self._used].T
        scores *= _COSINE
        scores += 0.0  # makes -0.0, which hangs on the order of additions, plain 0.0
        return scores

    def batch(self) -> int:
        """How many queries may be scored at once within bounded memory; at least 1."""
        return max(1, _BLOCK // max(self._used, 1))
