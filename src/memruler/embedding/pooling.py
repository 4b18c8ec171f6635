"""From one vector a token to one vector a text, and a check of what a live embedder really does."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memruler.embedding.base import Vectors

__all__ = ["masked_mean", "pooling_name"]

_TOLERANCE = 1e-4
"""Share of the largest number that two ways to one vector may differ by; padding costs 1e-7."""

_Hidden = NDArray[np.float64]
# What there is to tell apart, written out here independently of `masked_mean`: the hidden states
# of one padded text, and how many of its tokens are real.
_POOLINGS: dict[str, Callable[[_Hidden, int], _Hidden]] = {
    "mean-masked": lambda hidden, real: np.stack(list(hidden[:real])).sum(axis=0) / real,
    "mean-unmasked": lambda hidden, _: hidden.mean(axis=0),
    "cls": lambda hidden, _: hidden[0],
    "last": lambda hidden, real: hidden[real - 1],
    "max": lambda hidden, real: hidden[:real].max(axis=0),
}


def masked_mean(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> Vectors:
    """Mean over the real tokens of each text; padding does not count.

    Args:
        hidden: The model's last hidden state, shape (texts, tokens, dimension).
        mask: 1 for a token, 0 for padding, shape (texts, tokens); at least one 1 in each row.
    """
    weights = mask[:, :, None].astype(np.float64)
    # float64, so that the order of summation cannot reach the float32 result's visible digits.
    means: Vectors = ((hidden * weights).sum(axis=1) / weights.sum(axis=1)).astype(np.float32)
    return means


def pooling_name(vector: Vectors, hidden: NDArray[np.float32], real: int) -> str | None:
    """How `vector` was pooled, found by trying; None for no way that is known here.

    Args:
        vector: What the embedder made of a text, shape (dimension,).
        hidden: The last hidden state of that text with padding, shape (tokens, dimension).
        real: How many of its tokens are real, from 1 to one less than all.
    """
    states = hidden.astype(np.float64)
    for name, pooled in _POOLINGS.items():
        expected = pooled(states, real)
        if np.abs(vector - expected).max() <= _TOLERANCE * np.abs(expected).max():
            return name
    return None
