"""A finished instance becomes records of the journal."""

from collections.abc import Sequence
from datetime import datetime

from memruler.corpora.populations import exclusion
from memruler.model.corpus import Instance, Population, Query
from memruler.model.run import Begin, End, QueryRecord
from memruler.replay.instance import InstanceResult
from memruler.store.journal import Journal

__all__ = ["write_instance"]


def write_instance(
    journal: Journal,
    instance: Instance,
    queries: Sequence[Query],
    result: InstanceResult,
    *,
    population: Population,
    at: datetime,
) -> End:
    """Append a finished instance and commit it: from then on it counts.

    Args:
        journal: Of the run.
        instance: The instance.
        queries: Those of its queries that were asked.
        result: What came of them.
        population: The run's, which says why a query does not count.
        at: When they were asked, on the run's timeline.

    Returns:
        The record that makes it count.
    """
    journal.append(Begin(instance=instance.position, key=instance.key))
    for query in queries:
        journal.append(
            QueryRecord(
                instance=instance.position,
                query=query.position,
                id=query.id or f"{instance.key}/{query.position}",
                text=query.text,
                category=query.category,
                answer=query.answer,
                answer_raw=query.answer_raw,
                answerable=query.answerable,
                family=query.family,
                evidence=query.evidence,
                excluded=exclusion(query, instance, population),
                time=at,
                asked=query.time,
            )
        )
    for item in result.items:
        journal.append(item)
    for trace in result.traces:
        journal.append(trace)
    end = End(
        instance=instance.position,
        items=len(result.items),
        queries=len(queries),
        traces=len(result.traces),
        sessions=result.sessions,
        turns=result.turns,
        ingest_ms=result.ingest_ms,
        batched=result.batched,
        exported=result.exported,
        truncated=result.truncated,
        ingest_embedded=result.ingest_use.embedded,
        ingest_cached=result.ingest_use.cached,
        search_embedded=result.search_use.embedded,
        search_cached=result.search_use.cached,
        cut=result.cut,
        out_of_reach=result.out_of_reach,
        left=result.left,
        attribution=result.attribution,
    )
    journal.append(end)
    journal.commit()
    return end
