"""The texts of contested credits, read from a run: what was asked, what was said, what is stored.

The evidence of a case is the gold that its item comes from, as the store holds it: as raw turns, or
as whole sessions where it was given those. What the store does not hold is not looked up elsewhere.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from memruler.store.folder import RunFolder
from memruler.store.tables import batches, read_table

__all__ = ["CaseText", "case_texts"]

_RAW = frozenset({"turn", "unknown"})
_QUERY = ["instance", "instance_key", "query", "id", "text", "category", "answer", "evidence"]
_ITEM = ["instance", "id", "kind", "sessions", "turns", "text"]

_Session = tuple[int, int]
"""Instance and session."""


class CaseText(NamedTuple):
    """The texts of one contested credit.

    Attributes:
        cluster: Key of the instance.
        query: Id of the query.
        position: Of the query, in its instance.
        question: What was asked.
        answer: The reference answer; None where the data set has none.
        evidence: The gold that the item comes from, one line a turn; None where the store holds
            none of it.
        item_id: The system's own id.
        kind: As the system calls it.
        item: What is stored; None where the system does not tell it.
    """

    cluster: str
    query: str
    position: int
    question: str
    answer: str | None
    evidence: str | None
    item_id: str
    kind: str
    item: str | None


class _Gold(NamedTuple):
    """The evidence of a query: `(session, turn)` positions, and all its sessions; ascending."""

    turns: list[tuple[int, int]]
    sessions: list[int]


class _Raw(NamedTuple):
    """What was said in the gold sessions, as it is stored."""

    turns: dict[_Session, dict[int, str]]
    """A place for every gold session; empty where it is not stored turn by turn."""
    sessions: dict[_Session, str]
    by_turn: set[int]
    """Instances that are stored turn by turn."""


def case_texts(
    folder: RunFolder, rule: str, query_rows: Sequence[int], item_rows: Sequence[int]
) -> list[CaseText]:
    """Read the texts of contested credits.

    Args:
        folder: The run.
        rule: The population's rule, by which evidence is read.
        query_rows: Row of each credit's query in the table of queries.
        item_rows: Row of its item in the lineage.

    Raises:
        FormatError: A table is missing or damaged.
    """
    queries = _queries(folder, sorted(set(query_rows)))
    gold = {row: _gold(query, rule) for row, query in queries.items()}
    raw = _Raw({}, {}, set())
    for row, query in queries.items():
        raw.turns.update(((query["instance"], session), {}) for session in gold[row].sessions)
    items = _lineage(folder, set(item_rows), {row["instance"] for row in queries.values()}, raw)
    found = []
    for query_row, item_row in zip(query_rows, item_rows, strict=True):
        query, item = queries[query_row], items[item_row]
        found.append(
            CaseText(
                cluster=query["instance_key"],
                query=query["id"],
                position=query["query"],
                question=query["text"],
                answer=query["answer"],
                evidence="\n".join(_said(query["instance"], gold[query_row], item, raw)) or None,
                item_id=item["id"],
                kind=item["kind"],
                item=item["text"],
            )
        )
    return found


def _queries(folder: RunFolder, rows: list[int]) -> dict[int, dict[str, Any]]:
    found = read_table(folder, "queries", columns=_QUERY).take(rows).to_pylist()
    return dict(zip(rows, found, strict=True))


def _gold(query: dict[str, Any], rule: str) -> _Gold:
    """The evidence under a rule; none where the rule has none."""
    for one in query["evidence"]:
        if one["rule"] == rule:
            turns = sorted(_pairs(one["turns"]))
            return _Gold(turns, sorted({session for session, _ in turns} | set(one["sessions"])))
    return _Gold([], [])


def _lineage(
    folder: RunFolder, wanted: set[int], instances: set[int], raw: _Raw
) -> dict[int, dict[str, Any]]:
    """The wanted items; what was said in gold sessions goes to `raw`. One pass over the lineage."""
    items: dict[int, dict[str, Any]] = {}
    start = 0
    for batch in batches(folder, "lineage", columns=_ITEM):
        here = [at for at, of in enumerate(batch.column("instance").to_pylist()) if of in instances]
        for at, row in zip(here, batch.take(here).to_pylist(), strict=True):
            if start + at in wanted:
                items[start + at] = row
            _note_raw(row, raw)
        start += batch.num_rows
    return items


def _note_raw(row: dict[str, Any], raw: _Raw) -> None:
    """Keep a text that is exactly one turn, or one session, as it was said; the first counts."""
    instance, turns, sessions = row["instance"], _pairs(row["turns"]), row["sessions"]
    if row["text"] is None:
        return
    if row["kind"] in _RAW and len(turns) == 1:
        session, turn = turns[0]
        raw.by_turn.add(instance)
        if (instance, session) in raw.turns:
            raw.turns[instance, session].setdefault(turn, row["text"])
    elif row["kind"] == "session" and not turns and len(sessions) == 1:
        place = (instance, sessions[0])
        if place in raw.turns:
            raw.sessions.setdefault(place, row["text"])


def _pairs(turns: list[dict[str, int]]) -> list[tuple[int, int]]:
    return [(turn["session"], turn["turn"]) for turn in turns]


def _said(instance: int, gold: _Gold, item: dict[str, Any], raw: _Raw) -> Iterator[str]:
    """The texts of the gold that the item comes from; of all the gold where that is none of it."""
    origins = set(_pairs(item["turns"]))
    near = set(item["sessions"]) | {session for session, _ in origins}
    if gold.turns and instance in raw.by_turn:
        mine = [turn for turn in gold.turns if (turn in origins if origins else turn[0] in near)]
        for session, turn in mine or gold.turns:
            text = raw.turns[instance, session].get(turn)
            if text is not None:
                yield text
        return
    # Gold without turns, or a store of whole sessions.
    for session in [one for one in gold.sessions if one in near] or gold.sessions:
        place = (instance, session)
        if place in raw.sessions:
            yield raw.sessions[place]
        else:
            yield from (text for _, text in sorted(raw.turns[place].items()))
