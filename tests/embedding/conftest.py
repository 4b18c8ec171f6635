"""What the tests of this room share: a cache folder of their own, and embedders with a script."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from memruler.embedding.base import Vectors
from memruler.embedding.toy import Toy
from memruler.model.system import EmbedderIdentity


class Scripted:
    """Asks the toy, notes what it was asked, and lets a test spoil the answer."""

    def __init__(self, spoil: Callable[[Vectors], object] = lambda vectors: vectors) -> None:
        self.asked: list[str] = []
        self.spoil = spoil
        self.limit: int | None = 1000
        self.model = "scripted"

    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(
            kind="toy",
            model=self.model,
            model_sha256="0" * 64,
            tokenizer_sha256="0" * 64,
            pooling="sum",
            dimension=64,
            max_tokens=self.limit,
        )

    def runtime(self) -> str:
        return "test"

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self.spoil(Toy().embed(texts))  # type: ignore[return-value]

    def truncated(self, texts: Sequence[str]) -> int | None:
        return None if self.limit is None else sum(len(text) > self.limit for text in texts)


@pytest.fixture(autouse=True)
def cache_home(tmp_path, monkeypatch):
    """No test touches the cache of the person who runs it."""
    home = tmp_path / "cache-home"
    monkeypatch.setenv("MEMRULER_CACHE", str(home))
    monkeypatch.delenv("MEMRULER_CACHE_MAX", raising=False)
    return home


@pytest.fixture
def scripted():
    return Scripted


@pytest.fixture
def same_bits():
    """Whether two arrays are equal bit for bit."""

    def same(one: Vectors, other: Vectors) -> bool:
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and (np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes())
        )

    return same
