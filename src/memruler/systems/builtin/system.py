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
from memruler.systems.builtin.forms import Forms, as_given
from memruler.systems.builtin.memory import LexicalMemory, VectorMemory
from memruler.systems.builtin.settings import Settings, resolve
from memruler.systems.builtin.shelf import Shelf

if TYPE_CHECKING:  # a lexical memory loads no embedder
    from memruler.embedding.checked import CheckedEmbedder
    from memruler.embedding.usage import EmbedderUsage

__all__ = ["BuiltinSystem", "build", "embedder_for", "source_digest"]

_STORE = 2
"""Version of what the file of a namespace holds."""


class BuiltinSystem:
    """One preset with its settings; see `MemorySystem`.

    Args:
        preset: Its name.
        settings: In force.
        embedder: What makes vectors; None exactly where the settings are lexical.
        forms: What a session becomes before it is stored.
    """

    def __init__(
        self,
        preset: str,
        settings: Settings,
        embedder: "CheckedEmbedder | None",
        forms: Forms = as_given,
    ) -> None:
        if settings.dense != (embedder is not None):
            raise ValueError("an embedder is needed exactly where vectors are searched")
        self._preset = preset
        self._settings = settings
        self._embedder = embedder
        self._forms = forms
        self._digest = source_digest(__package__)
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
        identity = self.identity()
        embedder = identity.embedder
        made_with = [_STORE, identity.settings, embedder]
        form = msgspec.json.encode(made_with, order="sorted").decode()
        database = Database(namespace.folder, words=self._settings.lexical, form=form)
        try:
            shelf = Shelf(database, self._settings, embedder.dimension if embedder else None)
        except BaseException:
            database.close()
            raise
        if self._embedder is None:
            return LexicalMemory(shelf, self._settings, self._doubts, self._forms)
        return VectorMemory(shelf, self._settings, self._doubts, self._embedder, self._forms)

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
    return BuiltinSystem(preset, settings, embedder_for(settings)), chosen, defaulted


def embedder_for(settings: Settings) -> "CheckedEmbedder | None":
    """The embedder that the settings need; None where they search no vectors.

    Raises:
        UsageError: There is none of that name.
        InstrumentError: It cannot be loaded.
    """
    if not settings.dense:
        return None
    # Late: a lexical memory loads no embedder.
    from memruler.embedding.registry import open_embedder  # noqa: PLC0415

    return open_embedder(settings.embedder)


def source_digest(*packages: str) -> str:
    """SHA-256 over every source file of some packages, by name."""
    digest = hashlib.sha256()
    for package in packages:
        sources = {entry.name: entry for entry in files(package).iterdir()}
        for name in sorted(sources):
            if name.endswith(".py"):
                body = sources[name].read_bytes()
                digest.update(f"{name}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()
