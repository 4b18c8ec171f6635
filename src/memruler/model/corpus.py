"""What a corpus is made of: instances, sessions, turns, queries and their evidence.

Everything is keyed by position, because ids and question texts repeat in real data. Times are
naive datetimes in UTC (a data set that names no zone is taken as written).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

__all__ = [
    "Corpus",
    "CorpusInfo",
    "Derived",
    "Evidence",
    "GoldStatus",
    "Instance",
    "Population",
    "Query",
    "Session",
    "Tier",
    "Turn",
    "TurnRef",
]

GoldStatus = Literal["ok", "partial", "unresolved", "none_by_design"]
Tier = Literal["pinned-upstream", "pinned-on-first-fetch", "bundled", "local-file"]


class TurnRef(NamedTuple):
    """A turn by position: the session's position in its instance, the turn's in its session."""

    session: int
    turn: int


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One utterance.

    Attributes:
        position: 0-based place in its session.
        speaker: Who spoke, as the data set names them (a name, or `user`/`assistant`).
        text: What was said, unchanged.
        id: The data set's own name of the turn. It may carry labels: no system ever sees it.
        caption: The data set's caption of a shared image, if any.
        tags: Tags that a production caller would have set; empty for the public data sets.
        importance: 0 to 1, as a production caller would have set it; None when unknown.
    """

    position: int
    speaker: str
    text: str
    id: str | None = None
    caption: str | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that the data set itself publishes beside a session, made from its dialogue.

    Attributes:
        kind: `fact` or `summary`.
        text: What it says, unchanged.
        turns: Positions in its session of the turns that it was made from, ascending, without
            duplicates; empty for the session as a whole; None when not known.
        speaker: Whom it is about, as the data set names them; empty for a whole session.
        id: A name made from its place in the file: no system ever sees it.
    """

    kind: str
    text: str
    turns: tuple[int, ...] | None
    speaker: str = ""
    id: str | None = None


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation of a haystack; its key is its position, since ids repeat.

    Attributes:
        position: 0-based place in the instance's file order.
        id: The data set's own name. It may carry labels: no system ever sees it.
        time: When it took place; None when the data set does not say.
        turns: In order; may be empty.
        derived: The data set's own memories of it; a system is given them only where a run asks
            for it.
    """

    position: int
    turns: tuple[Turn, ...]
    id: str | None = None
    time: datetime | None = None
    derived: tuple[Derived, ...] = ()


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Where a query's answer is, under one rule of reading the data set's labels.

    Attributes:
        rule: Name of the reading rule (LoCoMo: `strict`, `tolerant`; others see their loader).
        status: `ok` every reference resolves; `partial` some do; `unresolved` none does (or none
            is given); `none_by_design` the query is meant to be unanswerable.
        turns: Gold turns, in order of first mention, without duplicates. Empty under
            `unresolved` and `none_by_design`, and where only sessions are labelled.
        sessions: Gold sessions by position, ascending, without duplicates.
        references: The references exactly as the data set writes them.
        unresolved: Those that name no turn or session.
    """

    rule: str
    status: GoldStatus
    turns: tuple[TurnRef, ...] = ()
    sessions: tuple[int, ...] = ()
    references: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its category and evidence; its key is its position, never its text.

    Attributes:
        position: 0-based place in its instance.
        text: The question.
        category: The category's name.
        evidence: One reading per rule of the corpus, the default rule first.
        answerable: False when the data set says that no answer exists.
        id: The data set's own id, or one made from position.
        answer: The answer as text; None when missing.
        answer_raw: The answer exactly as in the file (an int, a list, None when missing).
        time: When it is asked; None when the data set does not say.
        family: Key of the evidence family, for clustering; None when not known.
    """

    position: int
    text: str
    category: str
    evidence: tuple[Evidence, ...]
    answerable: bool = True
    id: str | None = None
    answer: str | None = None
    answer_raw: Any = None
    time: datetime | None = None
    family: str | None = None

    def reading(self, rule: str) -> Evidence:
        """The evidence under `rule`.

        Raises:
            KeyError: The corpus has no such rule.
        """
        for evidence in self.evidence:
            if evidence.rule == rule:
                return evidence
        raise KeyError(rule)


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One isolated haystack with its queries: one namespace in the system under test.

    Attributes:
        position: 0-based place in the corpus.
        key: A name unique in the corpus, for people and file names; not shown to a system.
        sessions: In file order.
        queries: In file order.
    """

    position: int
    key: str
    sessions: tuple[Session, ...]
    queries: tuple[Query, ...]


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of queries that a mean is over.

    Attributes:
        name: For instance `strict-answerable`.
        rule: The evidence rule that decides gold.
        members: `answerable`: queries with gold under the rule; `all`: every query. A mean of
            recall leaves out queries without gold in both, and counts them by reason.
        description: One sentence.
    """

    name: str
    rule: str
    members: Literal["answerable", "all"]
    description: str


class CorpusInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a corpus is, as it stands in manifests and reports.

    Attributes:
        name: Registry name, for instance `locomo`.
        version: Version or revision of the data; `unknown` for a person's own file.
        licence: SPDX id or `unknown`.
        sha256: Hex digest of the file's bytes (of the sorted members' digests for a folder).
        tier: How the bytes were pinned.
        populations: The default first.
        notes: Sentences that every report must carry (for instance that it is synthetic).
        retrieval_variant: The variant to use where this one cannot measure retrieval.
        derived: Kinds of `Derived` that its sessions come with, sorted.
    """

    name: str
    version: str
    licence: str
    sha256: str
    tier: Tier
    populations: tuple[Population, ...]
    notes: tuple[str, ...] = ()
    retrieval_variant: str | None = None
    derived: tuple[str, ...] = ()


class Corpus(Protocol):
    """A pinned data set that yields instances one by one, so that size never meets memory."""

    @property
    def info(self) -> CorpusInfo:
        """What it is."""

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in file order; each call starts anew.

        Raises:
            CorpusError: The data cannot be read, with file, place and what to do.
        """
