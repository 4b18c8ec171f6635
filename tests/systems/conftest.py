"""A small embedder with known vectors, and memories that close themselves."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memruler.embedding.usage import EmbedderUsage
from memruler.model.system import (
    EmbedderIdentity,
    Memory,
    Namespace,
    SessionInput,
    TurnInput,
)
from memruler.systems.builtin.settings import resolve
from memruler.systems.builtin.system import BuiltinSystem

AT = datetime(2024, 1, 1)  # naive, as times on a run's timeline are


class FakeEmbedder:
    """Known vectors for known texts, hashed ones for others; the API of `CheckedEmbedder`."""

    def __init__(self, known: dict[str, Sequence[float]] | None = None, dimension: int = 24):
        self.known = known or {}
        self.dimension = len(next(iter(self.known.values()))) if self.known else dimension
        self.calls: list[list[str]] = []
        self.usage = EmbedderUsage()

    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(
            kind="fake",
            model="fake",
            model_sha256="0" * 64,
            tokenizer_sha256="0" * 64,
            pooling="none",
            dimension=self.dimension,
            max_tokens=None,
            degraded=True,
        )

    def vectors(self, texts: Sequence[str]) -> tuple[Any, Any]:
        self.calls.append(list(texts))
        rows = np.zeros((len(texts), self.dimension), np.float32)
        real = np.array([bool(text.strip()) for text in texts], np.bool_)
        for place, text in enumerate(texts):
            if real[place]:
                rows[place] = self._vector(text)
        return rows, real

    def _vector(self, text: str) -> Any:
        found = self.known.get(text)
        if found is None:
            seed = hashlib.blake2b(text.encode(), digest_size=8).digest()
            found = np.random.default_rng(int.from_bytes(seed)).standard_normal(self.dimension)
        vector = np.asarray(found, np.float32)
        return vector / np.linalg.norm(vector)


class Turns:
    """Makes sessions of turns out of short descriptions."""

    at = AT

    @staticmethod
    def days_ago(days: float) -> datetime:
        return AT - timedelta(days=days)

    @staticmethod
    def turn(text: str, key: str = "s0.t0", **facts: Any) -> TurnInput:
        return TurnInput(key=key, text=text, speaker="Ann", **facts)

    @classmethod
    def session(cls, *texts: str | tuple[str, dict[str, Any]], key: str = "s0") -> SessionInput:
        turns = []
        for place, entry in enumerate(texts):
            text, facts = (entry, {}) if isinstance(entry, str) else entry
            turns.append(cls.turn(text, f"{key}.t{place}", **facts))
        return SessionInput(key=key, turns=tuple(turns))


@pytest.fixture
def turns() -> type[Turns]:
    return Turns


@pytest.fixture
def fake() -> type[FakeEmbedder]:
    return FakeEmbedder


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Opens `preset` with settings as typed; closes what is still open afterwards."""
    opened: list[Memory] = []

    def open_one(
        preset: str,
        given: dict[str, str] | None = None,
        *,
        embedder: FakeEmbedder | None = None,
        folder: Path | None = None,
    ) -> Memory:
        settings, _, _ = resolve(preset, given or {})
        used: Any = (embedder or FakeEmbedder()) if settings.dense else None
        where = folder or tmp_path / f"namespace-{len(opened)}"
        memory = BuiltinSystem(preset, settings, used).open(Namespace("n", where))
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()
