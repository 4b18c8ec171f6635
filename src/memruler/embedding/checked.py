"""What systems use: an embedder behind its checks and its cache.

A blank text is never sent. A vector that is missing, not finite, zero or of the wrong width stops
the run: it would be scored as a miss of the memory, and it is a fault of the ruler.
"""

import hashlib
import threading
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.embedding.base import Embedder, Vectors
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.sound import refuse_unsound
from memruler.embedding.usage import EmbedderUsage, sentences
from memruler.model.system import EmbedderIdentity

__all__ = ["CheckedEmbedder", "text_key"]

_BLOCK = 256
"""Texts that are embedded between two writes to the cache, so that a kill costs little."""
_WIRE = np.dtype("<f4")


class CheckedEmbedder:
    """An embedder that gives unit vectors or stops. It may be shared by threads.

    Args:
        embedder: The model.
        cache: Where its vectors are kept; None to keep none.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache | None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._identity = embedder.identity()
        self._usage = EmbedderUsage()
        self._lock = threading.Lock()

    def identity(self) -> EmbedderIdentity:
        """What makes the vectors, as it was read from the live object at the start."""
        return self._identity

    @property
    def usage(self) -> EmbedderUsage:
        """What was done so far; a new object each time, so that two can be compared."""
        usage, cache = self._usage, self._cache
        if cache is not None:
            usage = msgspec.structs.replace(usage, broken=cache.broken)
        told = (*(cache.warnings if cache else ()), *sentences(usage))
        return msgspec.structs.replace(usage, warnings=told)

    def vectors(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """Unit vectors, and which texts have one.

        Args:
            texts: Any; equal ones are embedded once.

        Returns:
            Rows of unit norm, one a text, in order; and whether the row is real: that of a blank
            text is all zeros and False.

        Raises:
            InstrumentError: The embedder failed, or gave something that is no vector.
        """
        with self._lock:
            slots = np.full(len(texts), -1)
            unique: dict[bytes, int] = {}
            distinct: list[str] = []
            repaired: set[bytes] = set()
            for at, text in enumerate(texts):
                if not text.strip():
                    continue
                whole, key, changed = text_key(text)
                slot = unique.setdefault(key, len(distinct))
                if slot == len(distinct):
                    distinct.append(whole)
                if changed:
                    repaired.add(key)
                slots[at] = slot
            real = slots >= 0
            self._count(blank=int((~real).sum()), repaired=len(repaired))
            rows = np.zeros((len(texts), self._identity.dimension), np.float32)
            if distinct:
                rows[real] = _unit(self._raw(list(unique), distinct))[slots[real]]
            return rows, real

    def close(self) -> None:
        """Let go of the cache file; optional, as it is also done at exit."""
        if self._cache is not None:
            self._cache.close()

    def _raw(self, keys: list[bytes], texts: list[str]) -> Vectors:
        """The model's own vectors of distinct texts, from the cache where it has them."""
        raw = np.empty((len(texts), self._identity.dimension), np.float32)
        cached = self._cache.get(keys) if self._cache else {}
        missing: list[int] = []
        known: list[bool | None] = []
        for at, key in enumerate(keys):
            row = cached.get(key)
            if row is None or len(row.vector) != raw[at].nbytes:
                missing.append(at)
            else:
                raw[at] = np.frombuffer(row.vector, _WIRE)
                known.append(row.truncated)
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            block_texts = [texts[at] for at in block]
            raw[block] = refuse_unsound(
                self._embedder.embed(block_texts), block_texts, self._identity
            )
            flags = [self._truncated(text) for text in block_texts]
            known += flags
            if self._cache:
                self._cache.put(
                    [
                        CachedVector(keys[at], raw[at].astype(_WIRE).tobytes(), flag)
                        for at, flag in zip(block, flags, strict=True)
                    ]
                )
        self._count(
            embedded=len(missing),
            from_cache=len(keys) - len(missing),
            truncated=None if None in known else sum(map(bool, known)),
        )
        return raw

    def _truncated(self, text: str) -> bool | None:
        count = self._embedder.truncated([text])
        return None if count is None else count > 0

    def _count(
        self,
        *,
        embedded: int = 0,
        from_cache: int = 0,
        blank: int = 0,
        truncated: int | None = 0,
        repaired: int = 0,
    ) -> None:
        before = self._usage
        unknown = before.truncated is None or truncated is None
        self._usage = EmbedderUsage(
            embedded=before.embedded + embedded,
            from_cache=before.from_cache + from_cache,
            blank=before.blank + blank,
            truncated=None if unknown else (before.truncated or 0) + (truncated or 0),
            repaired=before.repaired + repaired,
        )


def text_key(text: str) -> tuple[str, bytes, bool]:
    """The text as it is embedded, its SHA-256, and whether half a surrogate pair was replaced.

    JSON can hold half a pair; no tokenizer, server or UTF-8 file can.
    """
    try:
        return text, hashlib.sha256(text.encode()).digest(), False
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole, hashlib.sha256(whole.encode()).digest(), True


def _unit(raw: Vectors) -> Vectors:
    """Rows divided by their length; each by its own numbers alone."""
    unit = np.empty_like(raw)
    for start in range(0, len(raw), _BLOCK):  # float64 for a block only, for the memory's sake
        block = raw[start : start + _BLOCK].astype(np.float64)
        unit[start : start + _BLOCK] = block / np.sqrt((block * block).sum(axis=1, keepdims=True))
    return unit
