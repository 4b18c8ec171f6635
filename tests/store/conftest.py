"""Records to fill a journal with."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime

import pytest

from memruler.model.corpus import Evidence, TurnRef
from memruler.model.run import (
    SCHEMA_VERSION,
    Attribution,
    Begin,
    End,
    ItemRecord,
    JournalRecord,
    Manifest,
    QueryRecord,
    TraceRecord,
)
from memruler.store.journal import Journal

Records = list[JournalRecord]


def make_records(
    instance: int,
    items: int = 3,
    queries: int = 2,
    took: float = 1.5,
    ways: tuple[Attribution, ...] = ("reported",),
    *,
    own: tuple[tuple[str | None, str | None], ...] = ((None, None),),
) -> Records:
    """A small instance; only `took` may differ between two that are otherwise the same.

    The items become known in `ways` in turn, and the searches have the answers, or their errors,
    of `own` in turn.
    """
    gold = Evidence(
        rule="strict",
        status="ok",
        turns=(TurnRef(0, 1), TurnRef(1, 0)),
        sessions=(0, 1),
        references=("D1:2", "D2:1", "D9:9"),
        unresolved=("D9:9",),
    )
    none = Evidence(rule="tolerant", status="none_by_design")
    asked: Records = [
        QueryRecord(
            instance=instance,
            query=query,
            id=f"q{query}",
            text=f'What "was" it?\n\0 ü \u202e {query}',
            category="single-hop",
            answer=None if query else "7",
            answer_raw=[1, {"b": None}] if query else 7,
            answerable=not query,
            family=None if query else "f",
            evidence=(gold, none) if query else (none,),
            excluded="unanswerable by design" if query else None,
            time=datetime(2023, 5, 1, 12, 30, 0, 250) if query else None,
        )
        for query in range(queries)
    ]
    stored: Records = [
        ItemRecord(
            item=item,
            id=f"i{item}",
            kind="turn",
            sessions=() if ways[item % len(ways)] == "unknown" else (item, item + 1),
            turns=((item, 0), (item + 1, 2)) if item and "unknown" not in ways else (),
            status="refused" if item == 1 else "stored",
            reason="near-duplicate" if item == 1 else None,
            text=None if item == 2 else f"text {instance}.{item}",
            attribution=ways[item % len(ways)],
        )
        for item in range(items)
    ]
    searched: Records = [
        TraceRecord(
            query=query,
            items=tuple(range(items))[::-1] if query else (),
            scores=(None, *(0.1 * item for item in range(items)))[:items] if query else (),
            context_chars=10 * query,
            latency_ms=took * (query + 1),
            error=None if query else "timed out",
            answer=own[query % len(own)][0],
            answer_error=own[query % len(own)][1],
        )
        for query in range(queries)
    ]
    end = End(
        instance=instance,
        items=items,
        queries=queries,
        traces=queries,
        sessions=2,
        turns=items,
        ingest_ms=took,
        batched=False,
    )
    return [Begin(instance=instance, key=f"key-{instance}"), *asked, *stored, *searched, end]


def make_manifest(stem: str, *, sealed: bool = False) -> Manifest:
    """A manifest in which nothing depends on the machine."""
    return Manifest(
        schema_version=SCHEMA_VERSION,
        stem=stem,
        state="sealed" if sealed else "running",
        fingerprint={"corpus": {"sha256": "00"}, "population": {"rule": "strict"}},
        chosen={"k": 20},
        defaulted={},
        tool={"version": "0"},
        machine={},
        packages={},
        clock=datetime(2024, 1, 1),
        started=datetime(2024, 1, 1),
    )


def add_instance(journal: Journal, records: Records) -> None:
    """Append and commit one instance."""
    for record in records:
        journal.append(record)
    journal.commit()


@pytest.fixture(scope="session")
def records() -> Callable[..., Records]:
    return make_records


@pytest.fixture(scope="session")
def manifest() -> Callable[..., Manifest]:
    return make_manifest


@pytest.fixture(scope="session")
def add() -> Callable[[Journal, Records], None]:
    return add_instance


@pytest.fixture(scope="session")
def size_limit() -> Callable[[int], AbstractContextManager[None]]:
    """A real limit of the operating system on the size of a file, in bytes."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limit(size: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit
