"""Which queries a mean is over, which cannot be measured, and why."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from memruler.errors import Refusal
from memruler.model.corpus import Corpus, CorpusInfo, Instance, Population, Query

__all__ = [
    "GOLD_UNRESOLVED",
    "HAYSTACK_IS_EVIDENCE",
    "REASONS",
    "UNANSWERABLE",
    "CorpusCounts",
    "PopulationCount",
    "count",
    "count_all",
    "exclusion",
    "is_member",
    "refuse_unmeasurable",
    "unmeasurable",
]

UNANSWERABLE = "unanswerable_by_design"
GOLD_UNRESOLVED = "gold_unresolved"
HAYSTACK_IS_EVIDENCE = "haystack_is_evidence"

REASONS: dict[str, str] = {
    UNANSWERABLE: "meant to have no answer, so there is nothing to find",
    GOLD_UNRESOLVED: "no evidence, or none that names a turn or session of the haystack",
    HAYSTACK_IS_EVIDENCE: "every session of the haystack is evidence, so any ranking is right",
}
"""Why a query cannot be measured, in words."""


class PopulationCount(msgspec.Struct, frozen=True, kw_only=True):
    """One population in numbers.

    Attributes:
        name: Its name.
        rule: The evidence rule.
        queries: Queries of the corpus.
        members: Queries that belong to it.
        measurable: Queries that a mean of recall can be over.
        partial: Of `measurable`, those of which some references resolve to nothing.
        excluded: All others by reason; `measurable` plus these is `queries`.
    """

    name: str
    rule: str
    queries: int
    members: int
    measurable: int
    partial: int
    excluded: dict[str, int]


class CorpusCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A corpus in numbers.

    Attributes:
        instances, sessions, turns, queries: How many of each.
        empty_sessions: Of `sessions`, those without a turn.
        populations: Its populations, the default first.
    """

    instances: int
    sessions: int
    empty_sessions: int
    turns: int
    queries: int
    populations: tuple[PopulationCount, ...]


def exclusion(query: Query, instance: Instance, population: Population) -> str | None:
    """Why retrieval cannot be measured on `query`, or None when it can.

    Args:
        query: A query of `instance`.
        instance: The haystack. Only this query's own evidence is held against it: the evidence
            of two queries together can cover a haystack in which each has distractors.
        population: Names the rule by which evidence is read.

    Returns:
        A key of `REASONS`, or None.
    """
    evidence = query.reading(population.rule)
    if evidence.status == "none_by_design":
        return UNANSWERABLE
    if evidence.status == "unresolved":
        return GOLD_UNRESOLVED
    # Under any rule: a session that only another rule calls gold is no distractor.
    gold = {session for reading in query.evidence for session in reading.sessions}
    if all(session.position in gold for session in instance.sessions if session.turns):
        return HAYSTACK_IS_EVIDENCE
    return None


def is_member(query: Query, population: Population) -> bool:
    """Whether `query` belongs to `population`, measurable or not."""
    if population.members == "all":
        return True
    return query.reading(population.rule).status in {"ok", "partial"}


def count(corpus: Corpus, population: Population) -> PopulationCount:
    """Count one population, in one pass over the corpus.

    Raises:
        CorpusError: The corpus cannot be read to its end.
    """
    return _count(corpus, (population,)).populations[0]


def count_all(corpus: Corpus) -> CorpusCounts:
    """Count a corpus and all its populations, in one pass.

    Raises:
        CorpusError: The corpus cannot be read to its end.
    """
    return _count(corpus, corpus.info.populations)


def _count(instances: Iterable[Instance], populations: tuple[Population, ...]) -> CorpusCounts:
    sizes: Counter[str] = Counter()
    tallies: list[Counter[str | None]] = [Counter() for _ in populations]
    members: list[int] = [0] * len(populations)
    partial: list[int] = [0] * len(populations)
    for instance in instances:
        sizes["instances"] += 1
        sizes["sessions"] += len(instance.sessions)
        sizes["empty"] += sum(not session.turns for session in instance.sessions)
        sizes["turns"] += sum(len(session.turns) for session in instance.sessions)
        sizes["queries"] += len(instance.queries)
        for query in instance.queries:
            for n, population in enumerate(populations):
                reason = exclusion(query, instance, population)
                tallies[n][reason] += 1
                members[n] += is_member(query, population)
                if reason is None and query.reading(population.rule).status == "partial":
                    partial[n] += 1
    return CorpusCounts(
        instances=sizes["instances"],
        sessions=sizes["sessions"],
        empty_sessions=sizes["empty"],
        turns=sizes["turns"],
        queries=sizes["queries"],
        populations=tuple(
            PopulationCount(
                name=population.name,
                rule=population.rule,
                queries=sizes["queries"],
                members=members[n],
                measurable=tallies[n][None],
                partial=partial[n],
                excluded={reason: tallies[n][reason] for reason in REASONS if tallies[n][reason]},
            )
            for n, population in enumerate(populations)
        ),
    )


def unmeasurable(counts: CorpusCounts) -> str | None:
    """Why nothing of a corpus can be measured under any population; None when something can."""
    if any(one.measurable for one in counts.populations):
        return None
    reasons = {reason for one in counts.populations for reason in one.excluded}
    if not reasons:
        why = "there is no query"
    elif HAYSTACK_IS_EVIDENCE in reasons:
        why = "where a query names its evidence, " + REASONS[HAYSTACK_IS_EVIDENCE]
    elif GOLD_UNRESOLVED in reasons:
        why = "no query names its evidence"
    else:
        why = "every query is meant to have no answer"
    return f"nothing can be measured: {why}"


def refuse_unmeasurable(info: CorpusInfo, excluded: Mapping[str, int]) -> None:
    """Refuse a run of which no query can be measured.

    Args:
        info: The corpus.
        excluded: Reason to the number of queries; together they are all queries of the run.

    Raises:
        Refusal: Always; with every reason, its count, and the variant to use where there is one.
    """
    total = sum(excluded.values())
    reasons = [
        f"{number} of {total} queries: {REASONS.get(reason, reason)} ({reason})"
        for reason, number in sorted(excluded.items(), key=lambda item: -item[1])
        if number
    ]
    hint = "choose another population, or more instances and queries"
    if excluded.get(HAYSTACK_IS_EVIDENCE):
        hint = "retrieval needs a corpus with distractors"
        if info.retrieval_variant:
            hint = f"use {info.retrieval_variant}, whose haystacks have distractors"
    raise Refusal(
        [f"no query of {info.name} can be measured", *reasons], where=info.name, hint=hint
    )
