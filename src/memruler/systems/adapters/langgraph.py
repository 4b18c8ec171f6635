"""LangGraph's store, which LangMem keeps its memories in."""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Any

from memruler.errors import UsageError
from memruler.model.system import Hit, Memory, Namespace, Ranking, SessionInput, SystemIdentity
from memruler.systems.adapters.common import Embedding, adapter_identity, imported, read_time, units

__all__ = ["LangGraph"]

_STORES = ("memory", "sqlite")


class LangGraph:
    """See `MemorySystem`.

    Args:
        store: `memory` (InMemoryStore) or `sqlite` (SqliteStore; needs SQLite extensions).
        text_fields: Embed the text alone. SqliteStore ignores its documented `fields` and embeds
            the whole JSON value without it; what is embedded is part of the identity.
        embedder: Which of memruler's embedders makes the vectors.
    """

    def __init__(
        self, store: str = "memory", text_fields: bool = True, embedder: str = "minilm"
    ) -> None:
        if store not in _STORES:
            raise UsageError(f"store is {' or '.join(_STORES)}", where=store)
        self._store, self._fields = store, text_fields
        name = "langgraph.store." + ("memory" if store == "memory" else "sqlite")
        self._module = imported(name, "langgraph")
        self._embedding = Embedding(embedder)

    def identity(self) -> SystemIdentity:
        """What it is."""
        packages = ["langgraph", "langgraph-checkpoint"]
        packages += ["langgraph-checkpoint-sqlite"] if self._store == "sqlite" else []
        return adapter_identity(
            "langgraph", packages, {"embeds": self._index()["what"]}, self._embedding.identity()
        )

    def open(self, namespace: Namespace) -> Memory:
        """A store of its own for the namespace."""
        index = {key: value for key, value in self._index().items() if key != "what"}
        if self._store == "memory":
            return _Store(self._module.InMemoryStore(index=index), namespace.name, lambda: None)
        connection = sqlite3.connect(
            namespace.folder / "store.db", check_same_thread=False, isolation_level=None
        )
        if not hasattr(connection, "enable_load_extension"):
            connection.close()
            raise UsageError(
                "this Python's SQLite cannot load extensions, which SqliteStore needs",
                hint="use store=memory, or a Python built with loadable SQLite extensions",
            )
        store = self._module.SqliteStore(connection, index=index)
        store.setup()
        return _Store(store, namespace.name, connection.close)

    def _index(self) -> dict[str, Any]:
        index: dict[str, Any] = {
            "dims": self._embedding.dimension,
            "embed": self._embedding,
            "fields": ["text"],
            "what": "text",
        }
        if self._store == "sqlite":
            index["what"] = "text" if self._fields else "the whole value as JSON"
            index |= {"text_fields": ["text"]} if self._fields else {}
        return index


class _Store:
    def __init__(self, store: Any, namespace: str, end: Callable[[], None]) -> None:
        self._store, self._space, self._end = store, ("memories", namespace), end

    def ingest(self, session: SessionInput) -> None:
        for turn in units(session.turns):
            stamp = turn.time.isoformat() if turn.time else None
            value = {"text": turn.text, "speaker": turn.speaker, "time": stamp}
            self._store.put(self._space, turn.key, value)

    def settle(self) -> None:
        pass  # a write is in the index when it returns

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        del at
        found = self._store.search(self._space, query=text, limit=k)
        return Ranking(
            tuple(
                Hit(
                    item=item.key,
                    sources=(item.key,),
                    text=item.value["text"],
                    score=None if item.score is None else float(item.score),
                    time=read_time(item.value.get("time")),
                )
                for item in found
            )
        )

    def close(self) -> None:
        self._end()
