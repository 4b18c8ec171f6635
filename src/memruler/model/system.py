"""What passes between memruler and a memory under test. No label is ever in here."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

__all__ = [
    "Answers",
    "CountsEmbedding",
    "CountsTruncated",
    "CutsTexts",
    "EmbedderCounts",
    "EmbedderIdentity",
    "Erases",
    "ExportsLineage",
    "Hit",
    "ItemStatus",
    "Memory",
    "MemoryItem",
    "MemorySystem",
    "Namespace",
    "Ranking",
    "RunsElsewhere",
    "SearchRequest",
    "SearchesMany",
    "SessionInput",
    "SystemIdentity",
    "TellsQuietReads",
    "TurnInput",
    "Warns",
]

ItemStatus = Literal["stored", "refused", "evicted"]


class TurnInput(msgspec.Struct, frozen=True, kw_only=True):
    """One unit to remember.

    Attributes:
        key: Opaque name (`s0003.t0012`, or `s0003` for a whole session). A system that keeps it
            and returns it with a hit gets its hits attributed.
        text: The text in the run's text form.
        speaker: Who spoke.
        time: When, on the run's timeline; None when unknown.
        tags: Tags a production caller would have set.
        importance: 0 to 1, or None when unknown.
    """

    key: str
    text: str
    speaker: str
    time: datetime | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None


class SessionInput(msgspec.Struct, frozen=True, kw_only=True):
    """One session to remember; `turns` is never empty."""

    key: str
    turns: tuple[TurnInput, ...]
    time: datetime | None = None


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One returned item. Its place in the ranking decides its rank; a score never re-sorts.

    Attributes:
        item: The system's own id of the item.
        score: As the system gives it; None when it gives none.
        sources: Keys of the units it came from; None when the system does not say.
        text: What an agent would be shown; None when it is the stored text of the lineage.
        kind: The item's kind; `unknown` when the system does not say.
        time: When what it holds was said, as it was written; None when the system does not say.
    """

    item: str
    score: float | None = None
    sources: tuple[str, ...] | None = None
    text: str | None = None
    kind: str = "unknown"
    time: datetime | None = None


class Ranking(msgspec.Struct, frozen=True):
    """What one search returned, best first."""

    hits: tuple[Hit, ...]


class MemoryItem(msgspec.Struct, frozen=True, kw_only=True):
    """One stored form and where it came from.

    Attributes:
        id: The system's own id; unique in its namespace.
        kind: `turn`, `session`, `fact`, `summary`, ... or `unknown`.
        sources: Keys of the units it came from; empty when unknown, never guessed.
        text: What is stored.
        status: `stored`, `refused` at ingest, or `evicted` later.
        reason: Why it was refused or evicted; None when stored.
    """

    id: str
    kind: str
    sources: tuple[str, ...]
    text: str
    status: ItemStatus = "stored"
    reason: str | None = None


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One search: the question, how many hits are wanted, and the time it is asked at."""

    text: str
    k: int
    at: datetime


class EmbedderIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What turned text into vectors, read from the live object.

    Attributes:
        kind: `onnx`, `openai`, `sentence-transformers` or `toy`.
        model: The model's name.
        model_sha256: Digest of the weights; None only where a remote endpoint hides them.
        tokenizer_sha256: Digest of the tokenizer; None likewise.
        pooling: `mean-masked`, `remote`, ...
        dimension: Length of a vector.
        max_tokens: Texts are truncated to this many tokens; None when not known.
        degraded: True for a stand-in that exists only for tests.
        code_sha256: Digest of memruler's own source that shapes a vector (tokens, pooling, repair
            of texts); None in runs made before it was recorded.
    """

    kind: str
    model: str
    model_sha256: str | None
    tokenizer_sha256: str | None
    pooling: str
    dimension: int
    max_tokens: int | None
    degraded: bool = False
    code_sha256: str | None = None


class SystemIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory under test is, read from the live object.

    Attributes:
        name: For instance `builtin:dense`.
        version: Its version.
        digest: SHA-256 of the code that ran.
        settings: Every setting with its value in force.
        embedder: The embedder, where the system uses one that memruler knows.
        degraded: Reasons why results must not be trusted (a toy embedder); empty when none.
    """

    name: str
    version: str
    digest: str
    settings: dict[str, Any] = {}
    embedder: EmbedderIdentity | None = None
    degraded: tuple[str, ...] = ()


class Namespace(msgspec.Struct, frozen=True):
    """Where one instance lives: a name for the system, and a private folder for its data."""

    name: str
    folder: Path


@runtime_checkable
class Memory(Protocol):
    """One opened namespace."""

    def ingest(self, session: SessionInput) -> None:
        """Remember a session; sessions come in order of time."""

    def settle(self) -> None:
        """Return once everything ingested can be found."""

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        """At most `k` hits for `text`, asked at time `at`. Must not change the memory."""

    def close(self) -> None:
        """Let go of files and connections; the data stays."""


@runtime_checkable
class MemorySystem(Protocol):
    """A system under test; the four methods of its memories are all it takes to be measured."""

    def identity(self) -> SystemIdentity:
        """What it is."""

    def open(self, namespace: Namespace) -> Memory:
        """Open a namespace; two never see each other's data."""


@runtime_checkable
class SearchesMany(Protocol):
    """A memory that answers known queries in one go, with the same rankings as one by one."""

    def search_many(self, requests: Sequence[SearchRequest]) -> list[Ranking]:
        """One ranking per request, in order."""


@runtime_checkable
class Answers(Protocol):
    """A memory that answers questions itself, out of what it remembers."""

    def answer(self, text: str, at: datetime) -> str | None:
        """What it says to `text`, asked at time `at`; None where it says nothing.

        Must not change the memory. That an answer is not known is said in words.
        """


@runtime_checkable
class ExportsLineage(Protocol):
    """A memory that tells what it stored, and what it refused or evicted."""

    def lineage(self) -> Iterable[MemoryItem]:
        """Every item ever offered, in order of ingest, with its state now."""


class EmbedderCounts(Protocol):
    """What an embedder did since it was opened."""

    @property
    def embedded(self) -> int:
        """Texts that the model read."""

    @property
    def from_cache(self) -> int:
        """Vectors that the cache held."""


@runtime_checkable
class CountsEmbedding(Protocol):
    """A system of which memruler knows how its vectors came about."""

    def embedder_usage(self) -> EmbedderCounts | None:
        """Counts since the system was made; None where it uses no embedder that is known."""


@runtime_checkable
class Warns(Protocol):
    """A system with something to say that must stand beside its results."""

    def warnings(self) -> Sequence[str]:
        """One sentence each; empty when all is well."""


@runtime_checkable
class TellsQuietReads(Protocol):
    """A system that may reinforce what is read, and can say how a measurement avoids it."""

    def quiet_reads(self) -> str | None:
        """How its searches are told not to reinforce; None where nothing tells them."""


@runtime_checkable
class CountsTruncated(Protocol):
    """A memory that knows how many of its texts were longer than its embedder reads."""

    def truncated(self) -> int | None:
        """Texts ingested so far that were cut before they were embedded; None if not known."""


@runtime_checkable
class CutsTexts(Protocol):
    """A memory on whose way some units lose their end, as a cap on excerpts makes them."""

    def cut_keys(self) -> frozenset[str]:
        """Keys of the units of which something was never sent."""


@runtime_checkable
class Erases(Protocol):
    """A memory that can remove its namespace: afterwards a search of it finds nothing."""

    def erase(self) -> None:
        """Remove everything that was written to this namespace; twice is no error."""


@runtime_checkable
class RunsElsewhere(Protocol):
    """A system with processes or connections of its own, which somebody must end."""

    def place(self, data: Path, logs: Path) -> None:
        """Told once, before anything else: empty folders for its data and for its logs."""

    def outlives(self) -> bool:
        """Whether what is written stays when these folders go: a server that others started."""

    def shut(self) -> None:
        """End every process and connection; twice is no error."""
