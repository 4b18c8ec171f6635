"""The items of one namespace: who is let in, who has to leave, and what is kept of both."""

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from memruler.errors import InstrumentError
from memruler.systems.builtin.catalog import Catalog, micros
from memruler.systems.builtin.database import Database, Row
from memruler.systems.builtin.forms import Form
from memruler.systems.builtin.settings import Settings
from memruler.systems.builtin.vectors import Floats, VectorTable, quantise
from memruler.systems.builtin.words import storable, word_set

__all__ = ["Shelf"]

_UNDATED = -(1 << 62)
"""An undated item counts as older than every dated one."""


class Shelf:
    """What is stored, on disk and in memory; the two never differ.

    Args:
        database: The namespace's file; the shelf closes it.
        settings: Which rules of admission and eviction are on.
        dimension: Length of a vector; None where no vectors are kept.

    Attributes:
        catalog: The stored items, in order of insertion.
        vectors: Their vectors, in the same order; empty where none are kept.
    """

    def __init__(self, database: Database, settings: Settings, dimension: int | None) -> None:
        self.database = database
        self._settings = settings
        self._dimension = dimension
        self._load()

    def _load(self) -> None:
        self.catalog = Catalog(self._settings)
        self.vectors = VectorTable(self._dimension or 0)
        self._prefixes: set[str] = set()
        self._queue: list[tuple[float, int, int]] = []
        self._words: dict[int, frozenset[str]] = {}
        blobs = []
        for row in self.database.stored():
            self._shelve(row)
            blobs.append(row.vector or b"")
        if self._dimension is not None:
            if any(len(blob) != 4 * self._dimension for blob in blobs):
                raise InstrumentError("a stored vector is damaged", where=self.database.path)
            stacked = np.frombuffer(b"".join(blobs), "<f4")
            self.vectors.append(quantise(stacked.reshape(len(blobs), self._dimension)))

    def add(self, forms: Sequence[Form], vectors: NDArray[np.float32] | None) -> None:
        """Offer the forms of a session, in order; all of them are written, or none.

        Args:
            forms: What the session became.
            vectors: One unit vector a form, zeros for a blank text; None where none are kept.
        """
        whole = None if vectors is None else quantise(vectors)
        try:
            with self.database.transaction():
                for place, form in enumerate(forms):
                    if vectors is None or whole is None:
                        self._offer(_row(form, None), None)
                    else:
                        blob = vectors[place].astype("<f4").tobytes()
                        self._offer(_row(form, blob), whole[place : place + 1])
        except BaseException:
            self._load()  # what was rolled back on disk must not stay in memory
            raise

    def _offer(self, row: Row, vector: Floats | None) -> None:
        reason = self._refusal(row.text, vector)
        if reason is not None:
            self.database.insert(row._replace(vector=None), "refused", reason)
            return
        self._shelve(row._replace(id=self.database.insert(row, "stored", None)))
        if vector is not None:
            self.vectors.append(vector)
        capacity = self._settings.capacity
        while capacity is not None and len(self.catalog.labels) > capacity:
            self._evict(heappop(self._queue)[-1], "capacity")

    def _refusal(self, text: str, vector: Floats | None) -> str | None:
        if not text.strip():
            return "blank"
        if self._settings.dedup_prefix and self._prefix(text) in self._prefixes:
            return "prefix_duplicate"
        threshold = self._settings.dedup_cosine
        if threshold is not None and vector is not None and len(self.vectors):
            nearest = self.vectors.cosines(vector).max()
            return "near_duplicate" if nearest >= threshold else None
        return None

    def _shelve(self, row: Row) -> None:
        """Remember in memory what is stored on disk."""
        self.catalog.add(row)
        if self._settings.dedup_prefix:
            self._prefixes.add(self._prefix(row.text))
        if self._settings.capacity is not None:
            time = _UNDATED if row.time is None else row.time
            heappush(self._queue, (self.catalog.importance(row), time, row.id))

    def _evict(self, item: int, reason: str) -> None:
        if self._settings.dedup_prefix:
            self._prefixes.discard(self._prefix(self.database.text(item)))
        self.database.evict(item, reason)
        position = self.catalog.remove(item)
        self._words.pop(item, None)
        if self._dimension is not None:
            self.vectors.remove(position)

    def _prefix(self, text: str) -> str:
        return text[: self._settings.dedup_prefix_chars].lower()

    def words(self, item: int) -> frozenset[str]:
        """The distinct words of a stored item; read once, then kept."""
        found = self._words.get(item)
        if found is None:
            found = self._words[item] = word_set(self.database.text(item))
        return found


def _row(form: Form, vector: bytes | None) -> Row:
    return Row(
        id=0,
        sources=form.sources,
        kind=form.kind,
        text=storable(form.text),
        time=None if form.time is None else micros(form.time),
        importance=form.importance,
        tags=form.tags,
        vector=vector,
    )
