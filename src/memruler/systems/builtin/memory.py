"""The two memories: one searches words, the other vectors (and, fused, words)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.model.system import Hit, MemoryItem, Ranking, SearchRequest, SessionInput
from memruler.systems.builtin import ranking
from memruler.systems.builtin.catalog import micros
from memruler.systems.builtin.doubts import Doubts
from memruler.systems.builtin.forms import Forms, as_given
from memruler.systems.builtin.settings import MOST_HITS, Settings
from memruler.systems.builtin.shelf import Shelf
from memruler.systems.builtin.vectors import Floats, best, quantise
from memruler.systems.builtin.words import (
    MOST_WORDS,
    Tokenizer,
    match_expression,
    query_words,
    storable,
)

if TYPE_CHECKING:  # a lexical memory loads no embedder
    from memruler.embedding.checked import CheckedEmbedder

__all__ = ["LexicalMemory", "VectorMemory"]

Positions = NDArray[np.intp]
_NOTHING = Ranking(())


class _Base:
    """What both memories share."""

    def __init__(
        self, shelf: Shelf, settings: Settings, doubts: Doubts, forms: Forms = as_given
    ) -> None:
        self._shelf = shelf
        self._forms = forms
        self._doubts = doubts
        self._settings = settings
        self._tokenizer = Tokenizer()

    def settle(self) -> None:
        """Everything ingested can be found already; the index is only made faster to read."""
        self._shelf.database.merge()

    def lineage(self) -> Iterable[MemoryItem]:
        """Every item ever offered, with its state now; see `docs/systems.md` for the reasons."""
        return self._shelf.database.lineage()

    def truncated(self) -> int | None:
        """Texts ingested that were longer than the embedder reads; None if not known."""
        return 0

    def close(self) -> None:
        """Close the file; it can be opened again."""
        self._tokenizer.close()
        self._shelf.database.close()

    def _matches(self, text: str, limit: int | None) -> list[tuple[int, float]]:
        tokens = self._tokenizer.tokens(text)
        words = query_words(tokens, stop_words=self._settings.stop_words)
        self._doubts.long_questions += len(words) > MOST_WORDS
        expression = match_expression(words)
        return self._shelf.database.match(expression, limit) if expression else []

    def _ranked(
        self, positions: Positions, relevance: Floats, k: int, at: datetime
    ) -> tuple[Positions, Floats]:
        """The best `k` of some items, and their scores.

        Args:
            positions: Of the items, ascending: earlier inserted comes first among equals.
            relevance: Of each.
            k: At least 1.
            at: When the question is asked.
        """
        settings, columns = self._settings, self._shelf.catalog.columns()
        scores = keys = relevance
        if settings.production:
            weight, factor = np.ones_like(relevance), np.ones_like(relevance)
            relative = np.zeros_like(relevance)
            if settings.importance:
                weight = ranking.importance_weight(columns.importance[positions])
            if settings.decay:
                factor, relative = ranking.decay(
                    micros(at) - columns.times[positions],
                    columns.dated[positions],
                    columns.rates[positions],
                    settings.decay_floor,
                    settings.decay_cap,
                )
            scores = relevance * weight * factor
            keys = ranking.order_key(relevance, weight, relative)
            if settings.round_digits is not None:
                scores = keys = ranking.rounded(scores, settings.round_digits)
        order = best(keys, k)
        return positions[order], scores[order]

    def _hits(self, positions: Positions, scores: Floats) -> Ranking:
        labels = self._shelf.catalog.labels
        ids = self._shelf.catalog.columns().ids[positions].tolist()
        return Ranking(
            tuple(
                [
                    Hit(item=item, score=score, sources=sources, kind=kind)
                    for (item, sources, kind), score in zip(
                        map(labels.__getitem__, ids), scores.tolist(), strict=True
                    )
                ]
            )
        )


class LexicalMemory(_Base):
    """BM25 over FTS5. Known queries gain nothing from a batch, so none is offered."""

    def ingest(self, session: SessionInput) -> None:
        """Store a session; see `memruler.model.system.Memory`."""
        self._shelf.add(self._forms(session), None)

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        """The best `k` items for a question; the score is BM25, higher is better.

        Raises:
            UsageError: `k` is below 1 or above `MOST_HITS`.
        """
        _check(k)
        if self._settings.production:
            return self._reranked(text, k, at)
        labels = self._shelf.catalog.labels
        return Ranking(
            tuple(
                [
                    Hit(item=item, score=-rank, sources=sources, kind=kind)
                    for row, rank in self._matches(storable(text), k)
                    for item, sources, kind in (labels[row],)
                ]
            )
        )

    def _reranked(self, text: str, k: int, at: datetime) -> Ranking:
        found = sorted(self._matches(storable(text), None))
        ids = np.array([row for row, _ in found], np.int64)
        relevance = np.array([-rank for _, rank in found], np.float64)
        positions = np.searchsorted(self._shelf.catalog.columns().ids, ids)
        return self._hits(*self._ranked(positions, relevance, k, at))


class VectorMemory(_Base):
    """Exact cosine, alone or fused with BM25."""

    def __init__(
        self,
        shelf: Shelf,
        settings: Settings,
        doubts: Doubts,
        embedder: "CheckedEmbedder",
        forms: Forms = as_given,
    ) -> None:
        super().__init__(shelf, settings, doubts, forms)
        self._embedder = embedder
        self._truncated: int | None = 0

    def truncated(self) -> int | None:
        """Texts ingested that were longer than the embedder reads; None if not known."""
        return self._truncated

    def ingest(self, session: SessionInput) -> None:
        """Store a session; see `memruler.model.system.Memory`."""
        before = self._embedder.usage.truncated
        forms = self._forms(session)
        vectors, _ = self._embedder.vectors([storable(form.text) for form in forms])
        after = self._embedder.usage.truncated
        if before is None or after is None or self._truncated is None:
            self._truncated = None
        else:
            self._truncated += after - before
        self._shelf.add(forms, vectors)

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        """The best `k` items for a question.

        Raises:
            UsageError: `k` is below 1 or above `MOST_HITS`.
        """
        return self.search_many([SearchRequest(text=text, k=k, at=at)])[0]

    def search_many(self, requests: Sequence[SearchRequest]) -> list[Ranking]:
        """One ranking a request, bit for bit as `search` gives it: the cosines are exact.

        Raises:
            UsageError: A `k` is below 1 or above `MOST_HITS`.
        """
        for request in requests:
            _check(request.k)
        if not requests:
            return []
        vectors, real = self._embedder.vectors([storable(request.text) for request in requests])
        whole = quantise(vectors)
        step = self._shelf.vectors.batch()
        rankings: list[Ranking] = []
        for start in range(0, len(requests), step):
            block = slice(start, start + step)
            rankings += [
                self._rank(request, cosines) if known else _NOTHING
                for request, cosines, known in zip(
                    requests[block],
                    self._shelf.vectors.cosines(whole[block]),
                    real[block],
                    strict=True,
                )
            ]
        return rankings

    def _rank(self, request: SearchRequest, cosines: Floats) -> Ranking:
        positions, relevance = np.arange(cosines.size), cosines
        if self._settings.lexical:
            positions, relevance = self._fused(request.text, cosines)
        window, scores = self._ranked(positions, relevance, request.k, request.at)
        if self._settings.mmr:
            ids = self._shelf.catalog.columns().ids[window].tolist()
            words = [self._shelf.words(item) for item in ids]
            order = ranking.mmr(cosines[window].tolist(), words, self._settings.mmr_lambda)
            window, scores = window[order], scores[order]
        return self._hits(window, scores)

    def _fused(self, text: str, cosines: Floats) -> tuple[Positions, Floats]:
        depth = self._settings.rrf_depth
        matches = self._matches(storable(text), depth)
        ids = np.array([row for row, _ in matches], np.int64)
        lexical = np.searchsorted(self._shelf.catalog.columns().ids, ids)
        dense = best(cosines, depth or max(cosines.size, 1))
        return ranking.fuse((dense, lexical), cosines.size, self._settings.rrf_k, depth)


def _check(k: int) -> None:
    if not 1 <= k <= MOST_HITS:
        raise UsageError(f"a search asks for 1 to {MOST_HITS} hits", where=f"k={k}")
