"""The built-in memory as a system under test."""

import hashlib
import sqlite3
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from memruler._version import __version__
from memruler.model.system import Memory, Namespace, SystemIdentity
from memruler.systems.builtin.database import Database
from memruler.systems.builtin.doubts import Doubts
from memruler.systems.builtin.memory import LexicalMemory, VectorMemory
from memruler.systems.builtin.settings import Settings, resolve
from memruler.systems.builtin.shelf import Shelf

if TYPE_CHECKING:  # a lexical memory loads no embedder
    from memruler.embedding.checked import CheckedEmbedder
    from memruler.embedding.usage import EmbedderUsage

__all__ = ["BuiltinSystem", "build"]


class BuiltinSystem:
    """One preset with its settings; see `MemorySystem`.

    Args:
        preset: Its name.
        settings: In force.
        embedder: What makes vectors; None exactly where the settings are lexical.
    """

    def __init__(self, preset: str, settings: Settings, embedder: "CheckedEmbedder | None") -> None:
        if settings.dense != (embedder is not None):
            raise ValueError("an embedder is needed exactly where vectors are searched")
        self._preset = preset
        self._settings = settings
        self._embedder = embedder
        self._digest = _source_digest()
        self._doubts = Doubts()

    def identity(self) -> SystemIdentity:
        """Code, settings, embedder, and SQLite's version where its BM25 ranks."""
        embedder = self._embedder.identity() if self._embedder else None
        sqlite = f" on SQLite {sqlite3.sqlite_version}" if self._settings.lexical else ""
        degraded = embedder is not None and embedder.degraded
        return SystemIdentity(
            name=f"builtin:{self._preset}",
            version=__version__ + sqlite,
            digest=self._digest,
            settings=msgspec.structs.asdict(self._settings),
            embedder=embedder,
            degraded=("the embedder is a stand-in that exists only for tests",) * degraded,
        )

    def open(self, namespace: Namespace) -> Memory:
        """Open the namespace's file, or make it.

        Raises:
            UsageError: It was made with other settings or another embedder.
            InstrumentError: It cannot be opened, or SQLite has no FTS5.
        """
        embedder = self._embedder.identity() if self._embedder else None
        form = msgspec.json.encode([1, self._settings, embedder], order="sorted").decode()
        database = Database(namespace.folder, words=self._settings.lexical, form=form)
        try:
            shelf = Shelf(database, self._settings, embedder.dimension if embedder else None)
        except BaseException:
            database.close()
            raise
        if self._embedder is None:
            return LexicalMemory(shelf, self._settings, self._doubts)
        return VectorMemory(shelf, self._settings, self._doubts, self._embedder)

    def warnings(self) -> tuple[str, ...]:
        """Sentences that belong beside the numbers, over all its memories so far."""
        return self._doubts.sentences(self.embedder_usage())

    def embedder_usage(self) -> "EmbedderUsage | None":
        """How many texts were embedded, came from the cache, and more; None without an embedder."""
        return None if self._embedder is None else self._embedder.usage


def build(
    preset: str, given: Mapping[str, str]
) -> tuple[BuiltinSystem, dict[str, Any], dict[str, Any]]:
    """A preset with a person's settings, and which of the settings were theirs.

    Raises:
        UsageError: An unknown preset, setting or embedder, or a value that is not allowed.
        InstrumentError: The embedder cannot be loaded.
    """
    settings, chosen, defaulted = resolve(preset, given)
    embedder = None
    if settings.dense:
        # Late: a lexical memory loads no embedder.
        from memruler.embedding.registry import open_embedder  # noqa: PLC0415

        embedder = open_embedder(settings.embedder)
    return BuiltinSystem(preset, settings, embedder), chosen, defaulted


def _source_digest() -> str:
    """SHA-256 over every source file of this package, by name."""
    digest = hashlib.sha256()
    sources = {entry.name: entry for entry in files(__package__).iterdir()}
    for name in sorted(sources):
        if name.endswith(".py"):
            body = sources[name].read_bytes()
            digest.update(f"{name}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()
