"""What an embedder is: the one protocol that every model here follows."""

import hashlib
from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.system import EmbedderIdentity

__all__ = ["Embedder", "Vectors", "embedder_digest"]

Vectors = NDArray[np.float32]
"""One row a text."""


class Embedder(Protocol):
    """Turns texts into vectors. A vector depends on its own text and on nothing else.

    Batch composition, order, threads and earlier calls must not change a single bit of it.
    """

    def identity(self) -> EmbedderIdentity:
        """What it is, read from the live object, never from a constant.

        Raises:
            InstrumentError: A part cannot be read; the embedder is then refused.
        """

    def runtime(self) -> str:
        """What it runs on, for instance `onnxruntime 1.32.0 x86_64`.

        Part of the cache key, since the last bits of a vector may depend on it, but not of the
        identity: two runs of one model on two machines compare.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors as the model gives them, one row a text, in order.

        Args:
            texts: Never blank, and free of lone surrogates.

        Raises:
            InstrumentError: The model failed or gave something that is no vector.
        """

    def truncated(self, texts: Sequence[str]) -> int | None:
        """How many of the texts exceed the model's `max_tokens`; None when not known."""


def embedder_digest(identity: EmbedderIdentity, runtime: str) -> str:
    """SHA-256 (64 hex digits) over the identity and what it runs on: the cache's first key."""
    return hashlib.sha256(msgspec.json.encode([identity, runtime])).hexdigest()
