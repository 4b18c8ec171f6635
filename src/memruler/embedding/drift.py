"""Has a served model changed behind its name since its vectors were cached?

A remote endpoint hides its weights, so its identity is a name, and a name can be given to another
model. One probe text is embedded anew at every start and held against the cache.
"""

from typing import Final

import numpy as np

from memruler.embedding.base import Embedder
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.errors import InstrumentError

__all__ = ["PROBE", "refuse_drift"]

PROBE: Final = "memruler probe: the quick brown fox jumps over the lazy dog"
"""The text that is sent to a remote model to learn what it is."""

_SAME = 0.9999
"""Least cosine of two vectors of one model: above the noise of a GPU (about 0.999999), below two
quantisations of one model (about 0.9995)."""


def refuse_drift(embedder: Embedder, cache: VectorCache) -> None:
    """Refuse a remote model whose probe is not the cached one; the first probe is stored.

    Raises:
        InstrumentError: The cached vectors are another model's.
    """
    _, key, _ = text_key(PROBE)
    fresh = embedder.embed([PROBE])[0].astype(np.float64)
    row = cache.get([key]).get(key)
    if row is None:
        cache.put([CachedVector(key, fresh.astype("<f4").tobytes(), None)])
        return
    old = np.frombuffer(row.vector, "<f4").astype(np.float64)
    cosine = float(fresh @ old / np.sqrt((fresh @ fresh) * (old @ old)))
    if not cosine >= _SAME:
        raise InstrumentError(
            f"the model served as {embedder.identity().model} is not the one whose vectors are"
            f" cached (cosine {cosine:.4f} for the same text)",
            hint="serve the model that was used, or run `memruler cache clear` and start anew",
        )
