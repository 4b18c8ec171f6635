"""Fixtures that every room's tests share: outside data, a tiny corpus, a scripted memory."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from memruler.model.corpus import (
    CorpusInfo,
    Evidence,
    Instance,
    Population,
    Query,
    Session,
    Turn,
    TurnRef,
)
from memruler.model.system import (
    Hit,
    Namespace,
    Ranking,
    SearchRequest,
    SessionInput,
    SystemIdentity,
)

# A busy machine is no failure: no test judges time.
settings.register_profile("memruler", deadline=None)
settings.load_profile("memruler")

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def _shared(relative: str) -> Path:
    path = _SHARED / relative
    if not path.exists():
        pytest.skip(f"needs ../shared/{relative}, which is not on this machine")
    return path


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep a person's cache out of the tests, those that start programs included."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMRULER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def shared_samples() -> Path:
    """Invented files in the formats of the public data sets."""
    return _shared("samples")


@pytest.fixture(scope="session")
def locomo_path() -> Path:
    """The public LoCoMo file (not part of the project: its licence is non-commercial)."""
    return _shared("data/locomo10.json")


START = datetime(2023, 5, 1)
POPULATION = Population(name="answerable", rule="labels", members="answerable", description="All.")


class ListCorpus:
    """A corpus held in a list."""

    def __init__(self, instances: list[Instance]) -> None:
        self.instances = instances
        self.info = CorpusInfo(
            name="tiny",
            version="1",
            licence="CC0-1.0",
            sha256="0" * 64,
            tier="local-file",
            populations=(POPULATION,),
        )

    def __iter__(self) -> Iterator[Instance]:
        return iter(self.instances)


class WordMemory:
    """Ranks by shared words, then by order of ingest."""

    def __init__(self, system: "WordSystem", namespace: Namespace) -> None:
        self.system, self.namespace = system, namespace
        self.kept: list[tuple[str, set[str]]] = []
        system.opened.append(namespace)

    def ingest(self, session: SessionInput) -> None:
        self.system.on_ingest(session)
        for turn in session.turns:
            self.kept.append((turn.key, set(turn.text.lower().split())))

    def settle(self) -> None:
        (self.namespace.folder / "settled").write_text("yes", encoding="utf-8")

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        self.system.on_search(SearchRequest(text=text, k=k, at=at))
        words = set(text.lower().split())
        order = sorted(range(len(self.kept)), key=lambda i: -len(words & self.kept[i][1]))
        return Ranking(
            tuple(
                Hit(
                    item=f"id-{i}",
                    score=float(len(words & self.kept[i][1])),
                    sources=(self.kept[i][0],),
                    kind="turn",
                    text=" ".join(sorted(self.kept[i][1])),
                )
                for i in order[: k + self.system.extra]
            )
        )

    def close(self) -> None:
        self.system.closed += 1


class WordSystem:
    """Opens `WordMemory`; `on_ingest` and `on_search` inject faults."""

    def __init__(self) -> None:
        self.opened: list[Namespace] = []
        self.closed = 0
        self.extra = 0
        self.on_ingest: Callable[[SessionInput], None] = lambda _: None
        self.on_search: Callable[[SearchRequest], None] = lambda _: None

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name="words", version="1", digest="d" * 64)

    def open(self, namespace: Namespace) -> WordMemory:
        return WordMemory(self, namespace)


def instance(position: int, sessions: int = 4, queries: int = 3) -> Instance:
    """Session s says `word<s>` in its only turn; query q asks for `word<q>`."""
    return Instance(
        position=position,
        key=f"inst-{position}",
        sessions=tuple(
            Session(
                position=s,
                time=START + timedelta(days=s),
                turns=(Turn(position=0, speaker="Ann", text=f"word{s} filler{position}"),),
            )
            for s in range(sessions)
        ),
        queries=tuple(
            Query(
                position=q,
                text=f"word{q}",
                category="even" if q % 2 == 0 else "odd",
                evidence=(
                    Evidence(rule="labels", status="ok", turns=(TurnRef(q, 0),), sessions=(q,)),
                ),
            )
            for q in range(queries)
        ),
    )


@pytest.fixture
def word_system() -> WordSystem:
    return WordSystem()


@pytest.fixture
def make_instance() -> Callable[..., Instance]:
    return instance


@pytest.fixture
def make_plan() -> Callable[..., Any]:
    # Late: most tests need no plan, and it pulls in every loader.
    from memruler.replay.plan import Plan  # noqa: PLC0415
    from memruler.replay.settings import RunSettings  # noqa: PLC0415

    def build(system: Any, corpus: list[Instance], **settings: Any) -> Plan:
        return Plan(
            corpus=ListCorpus(corpus),
            system=system,
            settings=RunSettings(population=POPULATION, **settings),
            chosen={},
            defaulted={},
        )

    return build
