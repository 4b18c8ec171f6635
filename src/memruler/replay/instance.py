"""Drives one instance through a system: ingest, settle, search, and what came of it."""

import math
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter

import msgspec

from memruler.errors import MemrulerError, SystemUnderTestError
from memruler.model.corpus import Instance, Query
from memruler.model.run import ItemRecord, TraceRecord
from memruler.model.system import (
    CountsEmbedding,
    CountsTruncated,
    CutsTexts,
    ExportsLineage,
    Hit,
    Memory,
    MemorySystem,
    Namespace,
    SearchRequest,
)
from memruler.replay.inputs import InstanceInputs, instance_inputs
from memruler.replay.lineage import LineageBook
from memruler.replay.namespaces import erase
from memruler.replay.own_answers import OwnAnswer, own_answers, require_answers
from memruler.replay.searches import Answer, Failed, Tick, search_all
from memruler.replay.settings import RunSettings
from memruler.replay.steps import Pause, Steps, to_end
from memruler.replay.timeline import InstanceClock

__all__ = ["EmbedderUse", "Failed", "InstanceResult", "Tick", "replay_instance", "replay_steps"]


def _tolerated(error: str, searched: int) -> None:
    del error, searched


class EmbedderUse(msgspec.Struct, frozen=True, kw_only=True):
    """How many texts were embedded, and how many vectors came from the cache; None: not known."""

    embedded: int | None = None
    cached: int | None = None

    def since(self, before: "EmbedderUse") -> "EmbedderUse":
        """What was added since an earlier count."""
        pairs = ((self.embedded, before.embedded), (self.cached, before.cached))
        done, cached = (None if now is None or then is None else now - then for now, then in pairs)
        return EmbedderUse(embedded=done, cached=cached)


class InstanceResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one instance gave.

    Attributes:
        items: Its lineage, in row order.
        traces: One per query, in query order.
        sessions, turns: Sessions that were given, and the turns in them, whatever the granularity;
            derived memories count as turns.
        ingest_ms: Wall time until everything could be found.
        batched: Whether the queries were searched in one go.
        exported: Whether the system told its lineage.
        truncated: Texts that were cut before they were embedded; None when not known.
        attribution: Way to the number of items, as in `memruler.model.run.End`.
        ingest_use, search_use: What was embedded while writing and while searching.
        cut: Units that were sent only in part; None where the system does not say.
        out_of_reach: Queries with evidence in one of them.
        left: Why it cannot be said that the namespace is gone; None where it is, or is kept.
    """

    items: tuple[ItemRecord, ...]
    traces: tuple[TraceRecord, ...]
    sessions: int
    turns: int
    ingest_ms: float
    batched: bool
    exported: bool
    truncated: int | None
    attribution: dict[str, int]
    ingest_use: EmbedderUse
    search_use: EmbedderUse
    cut: int | None = None
    out_of_reach: int = 0
    left: str | None = None


def _finite(score: float | None) -> float | None:
    # An infinite or NaN score is no score; the rank stands whatever the score says.
    return score if score is not None and math.isfinite(score) else None


def _use(system: MemorySystem) -> EmbedderUse:
    usage = system.embedder_usage() if isinstance(system, CountsEmbedding) else None
    if usage is None:
        return EmbedderUse()
    return EmbedderUse(embedded=usage.embedded, cached=usage.from_cache)


def _chars(hits: Sequence[Hit], rows: Sequence[int], book: LineageBook) -> int | None:
    """Characters of all hits together; None when the text of one is not known."""
    total = 0
    for hit, row in zip(hits, rows, strict=True):
        chars = book.chars(row) if hit.text is None else len(hit.text)
        if chars is None:
            return None
        total += chars
    return total


def _trace(
    query: Query, answer: Answer, own: OwnAnswer, limit: int, book: LineageBook
) -> TraceRecord:
    hits = answer.ranking.hits
    if len(hits) > limit:
        raise SystemUnderTestError(
            f"the system returned {len(hits)} hits where at most {limit} were asked for",
            where=f"query {query.id or query.position}",
            hint="a search must honour k",
        )
    rows = tuple(map(book.row, hits))
    return TraceRecord(
        query=query.position,
        items=rows,
        scores=tuple([_finite(hit.score) for hit in hits]),
        context_chars=_chars(hits, rows, book),
        latency_ms=answer.latency_ms,
        error=answer.error,
        error_kind=answer.kind,
        answer=own.text,
        answer_error=own.error,
    )


def _erased(
    memory: Memory, requests: Sequence[SearchRequest], keep: bool, done_well: bool
) -> str | None:
    """Erase the namespace unless it is kept; what went wrong before must not be covered up."""
    if keep:
        return None
    if done_well:
        return erase(memory, requests[-1] if requests else None)
    with suppress(Exception):
        erase(memory, None)
    return None


def _out_of_reach(queries: Sequence[Query], inputs: InstanceInputs, cut: frozenset[str]) -> int:
    """Queries of which some evidence, under any rule, stands in a unit that was sent in part."""
    gone = {inputs.positions[key] for key in cut if key in inputs.positions}
    return sum(
        any(ref in gone for evidence in query.evidence for ref in evidence.turns)
        for query in queries
        if gone
    )


def _turns(instance: Instance, inputs: InstanceInputs, settings: RunSettings) -> int:
    if settings.granularity == "session":
        return sum(len(session.turns) for session in instance.sessions)
    return sum(len(session.turns) for session in inputs.sessions)


def replay_instance(
    system: MemorySystem,
    namespace: Namespace,
    instance: Instance,
    *,
    queries: Sequence[Query],
    clock: InstanceClock,
    settings: RunSettings,
    tick: Tick,
    failed: Failed = _tolerated,
) -> InstanceResult:
    """Replay one instance in a fresh namespace; see `replay_steps`."""
    return to_end(
        replay_steps(
            system,
            namespace,
            instance,
            queries=queries,
            clock=clock,
            settings=settings,
            tick=tick,
            failed=failed,
        )
    )


def replay_steps(
    system: MemorySystem,
    namespace: Namespace,
    instance: Instance,
    *,
    queries: Sequence[Query],
    clock: InstanceClock,
    settings: RunSettings,
    tick: Tick,
    failed: Failed = _tolerated,
) -> Steps[InstanceResult]:
    """Replay one instance in a fresh namespace, pausing before it is written and every search.

    Args:
        system: The system under test.
        namespace: A name and an empty folder, used by nothing else.
        instance: The haystack.
        queries: Those of its queries that are asked.
        clock: Its place on the run's timeline.
        settings: The run's settings.
        tick: Told about every step.
        failed: Told about every search that failed; may end the replay.

    Raises:
        UsageError: Answers are asked for, and its memories give none.
        SystemUnderTestError: The system failed while it was written to, or broke its contract.
            A single search or answer that fails is kept in its trace instead.
        InstrumentError: The ruler's own part broke, for instance the embedder.
    """
    done_well, requests = False, list[SearchRequest]()
    inputs = instance_inputs(instance, clock, settings.text, settings.granularity, settings.forms)
    yield Pause(instance.position, 0)
    memory = system.open(namespace)
    before = _use(system)
    try:
        answering = require_answers(memory) if settings.answers else None
        start = perf_counter()
        for done, session in enumerate(inputs.sessions, 1):
            memory.ingest(session)
            tick("ingest", done, len(inputs.sessions))
        memory.settle()
        ingest_ms = (perf_counter() - start) * 1000
        written = _use(system)
        truncated = memory.truncated() if isinstance(memory, CountsTruncated) else None
        requests = [SearchRequest(text=q.text, k=settings.limit, at=clock.at) for q in queries]
        answers, batched = yield from search_all(
            memory,
            requests,
            instance.position,
            one_by_one=settings.one_by_one,
            tick=tick,
            failed=failed,
        )
        yield Pause(instance.position, len(queries) + 1, last=True)
        searched = _use(system)
        own = [OwnAnswer()] * len(queries)
        if answering is not None:
            own = own_answers(answering, requests, tick)
        exported = memory.lineage() if isinstance(memory, ExportsLineage) else ()
        book = LineageBook(inputs, exported)
        traces = tuple(
            _trace(query, answer, said, settings.limit, book)
            for query, answer, said in zip(queries, answers, own, strict=True)
        )
        cut = memory.cut_keys() if isinstance(memory, CutsTexts) else None
        done_well = True
    except MemrulerError as failure:
        if failure.where is None:
            failure.where = f"instance {instance.key}"
        raise
    finally:
        left = _erased(memory, requests, settings.keep, done_well)
        memory.close()
    return InstanceResult(
        items=tuple(book.records),
        traces=traces,
        sessions=len(inputs.sessions),
        turns=_turns(instance, inputs, settings),
        ingest_ms=ingest_ms,
        batched=batched,
        exported=isinstance(memory, ExportsLineage),
        truncated=truncated,
        attribution=book.attribution(),
        ingest_use=written.since(before),
        search_use=searched.since(written),
        cut=None if cut is None else len(cut),
        out_of_reach=_out_of_reach(queries, inputs, cut or frozenset()),
        left=left,
    )
