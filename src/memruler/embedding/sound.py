"""What is a vector: a fault of the ruler must stop the run and not be scored as a miss."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.embedding.base import Vectors
from memruler.errors import InstrumentError
from memruler.model.system import EmbedderIdentity

__all__ = ["refuse_unsound"]

_HINT = "check the model and its server; nothing was scored"


def refuse_unsound(vectors: Vectors, texts: Sequence[str], identity: EmbedderIdentity) -> Vectors:
    """The vectors, if they are one a text, of the right width, finite and not zero.

    Args:
        vectors: What the embedder gave; may be anything.
        texts: What it was given.
        identity: Of the embedder.

    Raises:
        InstrumentError: They are not.
    """
    expected = (len(texts), identity.dimension)
    shape = getattr(vectors, "shape", None)
    if shape != expected or vectors.dtype != np.float32:
        raise InstrumentError(
            f"the embedder {identity.model} gave {_described(vectors)} where"
            f" {expected[0]} float32 vectors of {expected[1]} numbers were due",
            hint=_HINT,
        )
    finite: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(vectors), axis=1)
    sound = finite & vectors.any(axis=1)
    if not sound.all():
        at = int(np.argmin(sound))
        fault = "a zero vector" if finite[at] else "a vector with a number that is not finite"
        raise InstrumentError(
            f"the embedder {identity.model} gave {fault}",
            where=f"the text that begins {texts[at][:60]!r}",
            hint=_HINT,
        )
    return vectors


def _described(vectors: object) -> str:
    shape = getattr(vectors, "shape", None)
    if shape is None:
        return f"a {type(vectors).__name__}"
    return f"an array of {getattr(vectors, 'dtype', 'unknown')} of shape {tuple(shape)}"
