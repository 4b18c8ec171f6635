"""A hashing stand-in for tests. It knows nothing of meaning, and every run it touches says so."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memruler.embedding.base import Vectors
from memruler.embedding.code import code_digest
from memruler.model.system import EmbedderIdentity

__all__ = ["Toy"]

_DIMENSION = 64
_WORD = 2.0
_GRAM = 1.0
# Not a sum of the other weights, so that no text's features can cancel to a zero vector.
_WHOLE = 0.5


class Toy:
    """Hashed words and character trigrams; see `Embedder`. Its identity is always degraded."""

    def identity(self) -> EmbedderIdentity:
        """Both digests are those of this source file: it is the model and the tokenizer."""
        source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        return EmbedderIdentity(
            kind="toy",
            model="toy",
            model_sha256=source,
            tokenizer_sha256=source,
            pooling="sum",
            dimension=_DIMENSION,
            max_tokens=None,
            degraded=True,
            code_sha256=code_digest(__name__),
        )

    def runtime(self) -> str:
        """The same bits everywhere: whole and half numbers only."""
        return "toy"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                digest = hashlib.blake2b(feature.encode(), digest_size=2).digest()
                row[digest[0] % _DIMENSION] += weight if digest[1] % 2 else -weight
        return rows

    def truncated(self, texts: Sequence[str]) -> int:
        """None ever is."""
        del texts
        return 0


def _features(text: str) -> list[tuple[str, float]]:
    words = text.lower().split()
    line = f" {' '.join(words)} "
    grams = [line[at : at + 3] for at in range(len(line) - 2)]
    weighted = [(f"word {word}", _WORD) for word in words]
    return [*weighted, *((f"gram {gram}", _GRAM) for gram in grams), (f"whole {line}", _WHOLE)]
