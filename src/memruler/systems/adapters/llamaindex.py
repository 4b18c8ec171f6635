"""LlamaIndex: a vector index over text nodes."""

from datetime import datetime
from typing import Any

from memruler.model.system import (
    Hit,
    Memory,
    Namespace,
    Ranking,
    SessionInput,
    SystemIdentity,
    TurnInput,
)
from memruler.systems.adapters.common import Embedding, adapter_identity, imported, units

__all__ = ["LlamaIndex"]


class LlamaIndex:
    """See `MemorySystem`.

    Args:
        embedder: Which of memruler's embedders makes the vectors.
    """

    def __init__(self, embedder: str = "minilm") -> None:
        self._core = imported("llama_index.core", "llamaindex")
        self._schema = imported("llama_index.core.schema", "llamaindex")
        self._stores = imported("llama_index.core.vector_stores", "llamaindex")
        self._embedding = Embedding(embedder)

    def identity(self) -> SystemIdentity:
        """What it is."""
        return adapter_identity("llamaindex", ["llama-index-core"], {}, self._embedding.identity())

    def open(self, namespace: Namespace) -> Memory:
        """An index of its own; it lives in memory."""
        del namespace
        store = self._stores.SimpleVectorStore()
        return _Index(store, self._schema.TextNode, self._stores.VectorStoreQuery, self._embedding)


class _Index:
    def __init__(self, store: Any, node: Any, query: Any, embedding: Embedding) -> None:
        self._store, self._node, self._query, self._embedding = store, node, query, embedding
        self._turns: dict[str, TurnInput] = {}  # as a document store holds them

    def ingest(self, session: SessionInput) -> None:
        turns = units(session.turns)
        if not turns:
            return
        vectors = self._embedding([turn.text for turn in turns])
        self._store.add(
            [
                self._node(id_=turn.key, text=turn.text, embedding=vector)
                for turn, vector in zip(turns, vectors, strict=True)
            ]
        )
        self._turns |= {turn.key: turn for turn in turns}

    def settle(self) -> None:
        pass  # a write is in the index when it returns

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del at
        query = self._query(query_embedding=self._embedding([text])[0], similarity_top_k=k)
        found = self._store.query(query)
        return Ranking(
            tuple(
                Hit(
                    item=key,
                    sources=(key,),
                    text=self._turns[key].text,
                    score=float(score),
                    time=self._turns[key].time,
                )
                for key, score in zip(found.ids, found.similarities, strict=True)
            )
        )

    def close(self) -> None:
        self._turns.clear()
