"""What the adapters share: the embedder, the versions, and the words for what is missing."""

import importlib
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memruler.errors import UsageError
from memruler.model.system import EmbedderIdentity, SystemIdentity, TurnInput

__all__ = ["Embedding", "adapter_identity", "imported", "read_time", "units"]


def imported(module: str, extra: str) -> Any:
    """A module of the adapted library.

    Raises:
        UsageError: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{module} cannot be imported: {error}",
            hint=f"pip install 'memruler[{extra}]'",
        ) from error


def adapter_identity(
    name: str,
    packages: Sequence[str],
    settings: dict[str, Any],
    embedder: EmbedderIdentity | None,
) -> SystemIdentity:
    """An identity with the version of every package that shapes a ranking, read where it runs.

    Raises:
        UsageError: One of them is not installed; `name` is the extra that brings it.
    """
    try:
        versions = {package: version(package) for package in packages}
    except PackageNotFoundError as error:
        raise UsageError(
            f"{error.name} is not installed", hint=f"pip install 'memruler[{name}]'"
        ) from error
    return SystemIdentity(
        name=name,
        version=versions[packages[0]],
        digest="",  # of the adapter's file, which whoever opens it puts in
        settings={**settings, "packages": versions},
        embedder=embedder,
    )


def units(turns: Sequence[TurnInput]) -> list[TurnInput]:
    """The units that hold something; a blank one has no vector, and is left out."""
    return [turn for turn in turns if turn.text.strip()]


def read_time(stored: object) -> datetime | None:
    """A time out of metadata, where it was written as ISO 8601; None where nothing was."""
    return datetime.fromisoformat(stored) if isinstance(stored, str) and stored else None


class Embedding:
    """memruler's embedder as plain lists of floats, which is what vector stores take.

    Args:
        name: As `--set embedder=` takes it; `minilm` or another.
    """

    def __init__(self, name: str) -> None:
        from memruler.embedding.registry import open_embedder  # noqa: PLC0415 - needs numpy

        self._embedder = open_embedder(name)

    def identity(self) -> EmbedderIdentity:
        """What turns texts into vectors."""
        return self._embedder.identity()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.identity().dimension

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 a text; of a blank text all zeros."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        vectors, _ = self._embedder.vectors(clean)
        found: list[list[float]] = vectors.tolist()
        return found
