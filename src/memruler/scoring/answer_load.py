"""Answers as graders are shown them: each with its query, its gold and its evidence."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from memruler.errors import FormatError, UsageError, printable
from memruler.model.answers import AnswerItem
from memruler.model.corpus import TurnRef
from memruler.scoring.answer_lineage import LineageByInstance, raw_texts
from memruler.scoring.run_terms import terms_of
from memruler.store.answers import (
    ANSWERS,
    READ_TABLES,
    answer_names,
    answers_path,
    read_answers_manifest,
)
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["ITEM_COLUMNS", "answers_of", "choose_answers", "load_items", "query_item"]

ITEM_COLUMNS = (
    "instance",
    "instance_key",
    "query",
    "id",
    "text",
    "category",
    "answer",
    "answer_json",
    "answerable",
    "family",
    "asked",
)
"""What `query_item` reads of the table of queries."""


def answers_of(run: RunFolder) -> tuple[str, ...]:
    """Names of the answers of a run, sorted."""
    return answer_names(run.path)


def choose_answers(run: RunFolder, name: str | None) -> str:
    """The answers that are meant; without a name those that a run has alone.

    Raises:
        UsageError: There are none, several, or none of that name.
    """
    there = answers_of(run)
    if name is not None and name in there:
        return name
    listed = ", ".join(map(printable, there))
    if not there:
        raise UsageError(
            "the run has no answers yet", where=run.path, hint="make some: memruler answer RUN"
        )
    if name is not None:
        raise UsageError(f"the run has no answers {name}", where=run.path, hint=f"it has {listed}")
    if len(there) > 1:
        raise UsageError(
            "the run has several answers", where=run.path, hint=f"name one of {listed}"
        )
    return there[0]


def load_items(run: RunFolder, name: str) -> Iterator[AnswerItem]:
    """Yield the answers of a run in order of query and repeat; read in batches.

    Args:
        run: A sealed run.
        name: Of the answers.

    Raises:
        FormatError: There are no such answers, the run is not the one they were made from, or
            its tables are not its own.
    """
    manifest = run.manifest()
    if manifest is None:
        raise FormatError("no manifest in the run folder", where=run.path)
    require_own_tables(run, manifest, READ_TABLES)
    read_answers_manifest(run, name)
    rule = terms_of(manifest, run.path).rule
    folder = RunFolder(answers_path(run.path, name))
    columns = ["instance", "query", "repeat", "text", "error"]
    queries = (
        row
        for batch in batches(run, "queries", [*ITEM_COLUMNS, "evidence"])
        for row in batch.to_pylist()
    )
    answers = (row for batch in batches(folder, ANSWERS, columns) for row in batch.to_pylist())
    query: dict[str, Any] | None = None
    gold = _Gold(run, known=manifest.lineage_exported)
    for answer in answers:
        while query is None or _key(query) != _key(answer):
            query = next(queries, None)
            if query is None:
                raise FormatError(
                    "the answers and the queries of the run are in two orders",
                    where=folder.path,
                    hint="answer the run again: memruler answer RUN",
                )
        evidence = _evidence(query, rule)
        yield msgspec.structs.replace(
            query_item(query),
            repeat=answer["repeat"],
            evidence=evidence,
            evidence_texts=gold.texts(query["instance"], evidence),
            response=answer["text"],
            error=answer["error"],
        )


class _Gold:
    """Texts of gold turns, while the instances go by."""

    def __init__(self, run: RunFolder, *, known: bool) -> None:
        self._lineage = LineageByInstance(run, ["kind", "turns", "text"]) if known else None
        self._instance = -1
        self._texts: dict[TurnRef, str] = {}
        self._place: dict[TurnRef, int] = {}

    def texts(self, instance: int, evidence: tuple[TurnRef, ...]) -> tuple[str | None, ...]:
        """In the order of the store, which is that of time; those that it does not hold last."""
        if self._lineage is None:
            return ()
        if instance != self._instance:
            self._instance = instance
            self._texts = raw_texts(self._lineage.of(instance)[1])
            self._place = {turn: place for place, turn in enumerate(self._texts)}
        last = len(self._place)
        ordered = sorted(evidence, key=lambda turn: self._place.get(turn, last))
        return tuple([self._texts.get(turn) for turn in ordered])


def _evidence(query: dict[str, Any], rule: str) -> tuple[TurnRef, ...]:
    return tuple(
        TurnRef(turn["session"], turn["turn"])
        for reading in query["evidence"]
        if reading["rule"] == rule
        for turn in reading["turns"]
    )


def _key(row: dict[str, Any]) -> tuple[int, int]:
    return row["instance"], row["query"]


def query_item(query: Mapping[str, Any]) -> AnswerItem:
    """A query that nobody has answered yet.

    Args:
        query: A row of the table of queries, with `ITEM_COLUMNS`.
    """
    return AnswerItem(
        instance=query["instance"],
        query=query["query"],
        instance_key=query["instance_key"],
        id=query["id"],
        category=query["category"],
        question=query["text"],
        gold=query["answer"],
        gold_raw=msgspec.json.decode(query["answer_json"]),
        answerable=query["answerable"],
        asked=query["asked"],
        family=query["family"],
        response=None,
    )
