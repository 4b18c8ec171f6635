"""Chroma: one collection a namespace, in files of its own."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memruler.model.system import Hit, Memory, Namespace, Ranking, SessionInput, SystemIdentity
from memruler.systems.adapters.common import Embedding, adapter_identity, imported, read_time, units

__all__ = ["Chroma"]


class Chroma:
    """See `MemorySystem`.

    Args:
        embedder: Which of memruler's embedders makes the vectors.
        batch: Units that are written in one call.
    """

    def __init__(self, embedder: str = "minilm", batch: int = 256) -> None:
        self._chroma = imported("chromadb", "chroma")
        self._embedding = Embedding(embedder)
        self._batch = batch

    def identity(self) -> SystemIdentity:
        """What it is."""
        return adapter_identity(
            "chroma", ["chromadb"], {"space": "cosine"}, self._embedding.identity()
        )

    def open(self, namespace: Namespace) -> Memory:
        """A client on the namespace's folder, and its one collection."""
        quiet = self._chroma.config.Settings(anonymized_telemetry=False)
        client = self._chroma.PersistentClient(path=str(namespace.folder), settings=quiet)
        collection = client.get_or_create_collection(
            "memory", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        return _Collection(client, collection, self._embedding, self._batch)


class _Collection:
    def __init__(self, client: Any, collection: Any, embedding: Embedding, batch: int) -> None:
        self._client, self._collection = client, collection
        self._embedding, self._batch = embedding, batch

    def ingest(self, session: SessionInput) -> None:
        turns = units(session.turns)
        for start in range(0, len(turns), self._batch):
            some = turns[start : start + self._batch]
            texts = [turn.text for turn in some]
            self._collection.add(
                ids=[turn.key for turn in some],
                documents=texts,
                embeddings=self._embedding(texts),
                metadatas=[
                    {"speaker": t.speaker, "time": t.time.isoformat() if t.time else ""}
                    for t in some
                ],
            )

    def settle(self) -> None:
        pass  # a write is in the index when it returns

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del at
        found = self._collection.query(
            query_embeddings=self._embedding([text]),
            n_results=k,
            include=["documents", "distances", "metadatas"],
        )
        columns = ("ids", "documents", "distances", "metadatas")
        return Ranking(tuple(_hits(*(found[column][0] for column in columns))))

    def close(self) -> None:
        self._client.close()


def _hits(
    ids: Sequence[str],
    texts: Sequence[str],
    distances: Sequence[float],
    notes: Sequence[Mapping[str, Any]],
) -> list[Hit]:
    return [
        Hit(
            item=key,
            sources=(key,),
            text=text,
            score=1 - float(distance),
            time=read_time(note.get("time")),
        )
        for key, text, distance, note in zip(ids, texts, distances, notes, strict=True)
    ]
