"""mem0 in verbatim mode with a local vector store, or with a model that extracts facts."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from memruler.errors import UsageError
from memruler.model.system import Hit, Memory, Namespace, Ranking, SessionInput, SystemIdentity
from memruler.systems.adapters.common import Embedding, adapter_identity, imported, read_time, units

__all__ = ["Mem0"]

_STORES = ("faiss", "qdrant", "chroma")
_KEY = "OPENAI_API_KEY"


class Mem0:
    """See `MemorySystem`.

    Args:
        store: Local vector store: `faiss`, `qdrant` or `chroma`.
        infer: Let a model extract facts from each turn; without it turns are kept as they are.
        model: That model's name, at an OpenAI-compatible endpoint.
        base_url: The endpoint; OpenAI's own without it.
        embedder: Which of memruler's embedders makes the vectors.
    """

    def __init__(
        self,
        store: str = "faiss",
        infer: bool = False,
        model: str = "",
        base_url: str = "",
        embedder: str = "minilm",
    ) -> None:
        if store not in _STORES:
            raise UsageError(f"store is one of {', '.join(_STORES)}", where=store)
        if infer and not model:
            raise UsageError("infer=true needs a model", hint="--set model=NAME")
        # Read when the package is imported: it would call home otherwise.
        os.environ["MEM0_TELEMETRY"] = "False"
        self._store, self._infer, self._model, self._url = store, infer, model, base_url
        self._embedding = Embedding(embedder)

    def identity(self) -> SystemIdentity:
        """What it is."""
        stores = {"faiss": "faiss-cpu", "qdrant": "qdrant-client", "chroma": "chromadb"}
        return adapter_identity(
            "mem0",
            ["mem0ai", stores[self._store]],
            {"mode": "extracted facts" if self._infer else "verbatim"},
            self._embedding.identity(),
        )

    def open(self, namespace: Namespace) -> Memory:
        """A memory whose every file lies in the namespace's folder."""
        os.environ["MEM0_DIR"] = str(namespace.folder / "home")
        imported("mem0", "mem0")
        main = imported("mem0.memory.main", "mem0")
        # A key must be there to construct; verbatim mode never uses it.
        key = os.environ.get(_KEY) or "unused"
        llm = {"api_key": key, **({"model": self._model} if self._model else {})}
        llm |= {"openai_base_url": self._url} if self._url else {}
        config = {
            "vector_store": {"provider": self._store, "config": self._where(namespace.folder)},
            "embedder": {"provider": "openai", "config": {"api_key": key}},
            "llm": {"provider": "openai", "config": llm},
            "history_db_path": str(namespace.folder / "history.db"),
        }
        memory = main.Memory.from_config(config)
        memory.embedding_model = _Embedder(self._embedding)
        return _Mem0Memory(memory, namespace.name, self._infer)

    def _where(self, folder: Path) -> dict[str, Any]:
        place = {"collection_name": "memory", "path": str(folder / self._store)}
        if self._store == "chroma":
            return place
        dims = {"embedding_model_dims": self._embedding.dimension}
        if self._store == "faiss":
            return {**place, **dims, "distance_strategy": "cosine"}
        return {**place, **dims, "on_disk": True}


class _Embedder:
    """memruler's embedder with mem0's methods."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self.config = None

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        return self._embedding([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        del memory_action
        return self._embedding(texts)


class _Mem0Memory:
    def __init__(self, memory: Any, user: str, infer: bool) -> None:
        self._memory, self._user, self._infer = memory, user, infer

    def ingest(self, session: SessionInput) -> None:
        for turn in units(session.turns):
            self._memory.add(
                [{"role": "user", "content": turn.text}],
                user_id=self._user,
                infer=self._infer,
                metadata={"key": turn.key, "time": turn.time.isoformat() if turn.time else ""},
            )

    def settle(self) -> None:
        pass  # a write is in the index when it returns

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del at
        found = self._memory.search(text, top_k=k, filters={"user_id": self._user}, threshold=0.0)
        return Ranking(tuple(self._hit(one) for one in found["results"]))

    def close(self) -> None:
        close = getattr(self._memory, "close", None)
        if close is not None:
            close()

    def _hit(self, one: dict[str, Any]) -> Hit:
        key = (one.get("metadata") or {}).get("key")
        score = one.get("score")
        return Hit(
            item=str(one["id"]),
            sources=(key,) if isinstance(key, str) else None,
            text=one.get("memory"),
            score=None if score is None else float(score),
            kind="fact" if self._infer else "turn",
            time=read_time((one.get("metadata") or {}).get("time")),
        )
