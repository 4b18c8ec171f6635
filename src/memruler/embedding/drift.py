"""Are the cached vectors still those that this embedder makes?

The cache's key says what the embedder was made of, as far as that can be read. What cannot be read
shows here: a few probes are embedded anew at every start and held against the cache. A local model
must give the same bits. A remote one hides its weights, so its identity is a name, and a name can
be given to another model; its last bits are not its own, so a cosine decides.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from memruler.embedding.base import Embedder
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.embedding.probes import PROBE, PROBES
from memruler.embedding.sound import refuse_unsound
from memruler.errors import InstrumentError
from memruler.model.system import EmbedderIdentity

__all__ = ["hold_against_cache"]

_SAME = 0.9999
"""Least cosine of two vectors of one model: above the noise of a GPU (about 0.999999), below two
quantisations of one model (about 0.9995)."""
_TRIES = 2
_FOREIGN = "its vectors are not those that the embedder makes now"
_UNPROVEN = "nothing in it tells whether its vectors are the embedder's"


def hold_against_cache(embedder: Embedder, cache: VectorCache) -> None:
    """Leave `cache` with vectors of this embedder only; the first probes are stored.

    A file with vectors that a local model does not make any more, or without any probe, is set
    aside with a warning, and the next one is begun.

    Raises:
        InstrumentError: The cached vectors are another remote model's, or the embedder failed.
    """
    identity = embedder.identity()
    remote = identity.model_sha256 is None
    fresh = _rows(embedder, identity, (PROBE,) if remote else PROBES)
    for _ in range(_TRIES):
        # Asked first: another process writes the probes before it writes anything else.
        empty = cache.empty()
        found = cache.get([row.key for row in fresh])
        if empty is None or empty:
            cache.keep_proof(fresh, exact=not remote)
            cache.put(())
            return
        if remote and found:
            _refuse_another(fresh[0], found[fresh[0].key], identity)
        elif not found or not _agree(fresh, found):
            cache.set_aside(_FOREIGN if found else _UNPROVEN)
            continue
        cache.keep_proof([found.get(row.key, row) for row in fresh], exact=not remote)
        if len(found) < len(fresh):  # broken; replaced now, or the next start would say it again
            cache.put(())
        return
    cache.give_up("its vectors change from one process to the next")


def _rows(
    embedder: Embedder, identity: EmbedderIdentity, probes: Sequence[str]
) -> list[CachedVector]:
    vectors = refuse_unsound(embedder.embed(probes), probes, identity)
    rows = []
    for text, vector in zip(probes, vectors, strict=True):
        cut = embedder.truncated([text])
        flag = None if cut is None else cut > 0
        rows.append(CachedVector(text_key(text)[1], vector.astype("<f4").tobytes(), flag))
    return rows


def _agree(fresh: Sequence[CachedVector], found: Mapping[bytes, CachedVector]) -> bool:
    """Whether all probes that were found are the fresh ones, bit for bit."""
    return all(found.get(row.key, row) == row for row in fresh)


def _refuse_another(fresh: CachedVector, cached: CachedVector, identity: EmbedderIdentity) -> None:
    new = np.frombuffer(fresh.vector, "<f4").astype(np.float64)
    old = np.frombuffer(cached.vector, "<f4").astype(np.float64)
    cosine = float("nan")
    if new.shape == old.shape:
        cosine = float(new @ old / np.sqrt((new @ new) * (old @ old)))
    if not cosine >= _SAME:
        raise InstrumentError(
            f"the model served as {identity.model} is not the one whose vectors are"
            f" cached (cosine {cosine:.4f} for the same text)",
            hint="serve the model that was used, or run `memruler cache clear` and start anew",
        )
