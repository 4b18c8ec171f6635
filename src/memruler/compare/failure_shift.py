"""Which stage gained and which lost, between two filed runs over the same queries.

A query moves from one place to another: the places are `right`, the stages, and `unscored`. Where a
query became right or wrong between two answers, what was changed decides whose it is:

* `grader`: the reader was given the same texts and said the same;
* `reader`: it was given the same texts and said something else;
* `retrieval`: it was given other texts;
* `unknown`: what it was given is not known.
"""

from collections import Counter
from typing import Final, Literal

import msgspec
import numpy as np

from memruler.errors import Refusal
from memruler.model.failures import STAGES, Failures, MissedItem
from memruler.scoring.failure_list import failures_of, missed_items
from memruler.scoring.failures import UNSCORED, Filed
from memruler.store.tables import read_table

__all__ = ["RIGHT", "SCHEMA_VERSION", "Cause", "FailureShift", "Moved", "failure_shift"]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""

RIGHT: Final = "right"
_UNSCORED = "unscored"

Cause = Literal["grader", "reader", "retrieval", "unknown"]
"""Whose a query is that became right or wrong."""


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A query that is in another place than before.

    Attributes:
        before, after: The places.
        cause: Whose it is; None where it did not become right or wrong.
        item: With its texts, of the side in which it was missed: the candidate where both are.
        base_answer, candidate_answer: What was said; None under `retrieval`.
    """

    before: str
    after: str
    cause: Cause | None
    item: MissedItem
    base_answer: str | None
    candidate_answer: str | None


class FailureShift(msgspec.Struct, frozen=True, kw_only=True, tag="shift", tag_field="kind"):
    """Two filed runs and what moved between them.

    Attributes:
        base, candidate: Both, without items.
        matrix: Place in the base to place in the candidate to the number of queries; every query
            is in it once.
        lost: Right in the base and missed in the candidate, by stage of the candidate.
        gained: Missed in the base and right in the candidate, by stage of the base.
        causes: `lost` and `gained` to cause to number.
        filters: Which moves are listed, by name of the filter.
        selected: Moves that pass the filters.
        moved: Of these, those that are listed.
        notes: What a reader must know, one sentence each.
    """

    base: Failures
    candidate: Failures
    matrix: dict[str, dict[str, int]]
    lost: dict[str, int]
    gained: dict[str, int]
    causes: dict[str, dict[Cause, int]]
    filters: dict[str, str]
    selected: int
    moved: tuple[Moved, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION


def failure_shift(
    base: Filed,
    candidate: Filed,
    *,
    stage: str | None = None,
    category: str | None = None,
    limit: int | None = None,
) -> FailureShift:
    """Hold two filed runs against each other.

    Args:
        base: The baseline.
        candidate: The other one.
        stage: Only moves from or to this stage.
        category: Only moves of this category.
        limit: How many moves are listed at most; None for all.

    Raises:
        Refusal: They are not of the same queries, or not under one ruler.
    """
    _require_same(base, candidate)
    places = [(_place(a), _place(b)) for a, b in zip(base.state, candidate.state, strict=True)]
    matrix: dict[str, dict[str, int]] = {}
    for (before, after), number in sorted(Counter(places).items()):
        matrix.setdefault(before, {})[after] = number
    causes: dict[str, Counter[Cause]] = {"lost": Counter(), "gained": Counter()}
    cause: dict[int, Cause] = {}
    for row, (before, after) in enumerate(places):
        kind = _kind(before, after)
        if kind is not None:
            cause[row] = _cause(base, candidate, row)
            causes[kind][cause[row]] += 1
    rows = [
        row
        for row, pair in enumerate(places)
        if pair[0] != pair[1]
        and any(place in STAGES for place in pair)
        and (stage is None or stage in pair)
        and (category is None or base.run.category[row] == category)
    ]
    filters = {"stage": stage, "category": category}
    return FailureShift(
        base=failures_of(base, limit=0),
        candidate=failures_of(candidate, limit=0),
        matrix=matrix,
        lost={s: n for s, n in matrix.get(RIGHT, {}).items() if s in STAGES},
        gained={s: to[RIGHT] for s, to in matrix.items() if s in STAGES and RIGHT in to},
        causes={kind: dict(sorted(found.items())) for kind, found in causes.items()},
        filters={name: value for name, value in filters.items() if value is not None},
        selected=len(rows),
        moved=_moved(base, candidate, rows[:limit], places, cause),
        notes=_notes(base, candidate),
    )


def _place(state: int) -> str:
    if state == UNSCORED:
        return _UNSCORED
    return RIGHT if state < 0 else STAGES[state]


def _kind(before: str, after: str) -> str | None:
    if before == RIGHT and after in STAGES:
        return "lost"
    return "gained" if before in STAGES and after == RIGHT else None


def _cause(base: Filed, candidate: Filed, row: int) -> Cause:
    if base.said is None or candidate.said is None:
        return "retrieval"
    left, right = base.context[row], candidate.context[row]
    if left is None or right is None:
        return "unknown"
    if left != right:
        return "retrieval"
    return "grader" if base.said.text[row] == candidate.said.text[row] else "reader"


def _moved(
    base: Filed,
    candidate: Filed,
    rows: list[int],
    places: list[tuple[str, str]],
    cause: dict[int, Cause],
) -> tuple[Moved, ...]:
    ours = [row for row in rows if places[row][1] in STAGES]
    theirs = [row for row in rows if places[row][1] not in STAGES]
    items = dict(zip(ours, missed_items(candidate, ours), strict=True))
    items.update(zip(theirs, missed_items(base, theirs), strict=True))
    return tuple(
        Moved(
            before=places[row][0],
            after=places[row][1],
            cause=cause.get(row),
            item=items[row],
            base_answer=None if base.said is None else base.said.text[row],
            candidate_answer=None if candidate.said is None else candidate.said.text[row],
        )
        for row in rows
    )


def _require_same(base: Filed, candidate: Filed) -> None:
    """Refuse what cannot be held against each other, with every reason."""
    left, right = base.manifest.fingerprint, candidate.manifest.fingerprint
    reasons = [
        f"the {part} is another one"
        for part in ("corpus", "population")
        if left[part] != right[part]
    ]
    if not reasons and _keys(base) != _keys(candidate):
        reasons.append("they do not ask the same queries")
    if base.level != candidate.level:
        reasons.append(f"evidence is a {base.level} in one and a {candidate.level} in the other")
    reasons += _two_rulers(base, candidate)
    if reasons:
        raise Refusal(reasons, hint="name two runs of the same queries under one ruler")


def _two_rulers(base: Filed, candidate: Filed) -> list[str]:
    """Why missed does not mean the same on both sides; empty where it does."""
    one, other = base.said, candidate.said
    if (one is None) != (other is None):
        return ["one is of retrieval and the other of answers"]
    if one is None or other is None:
        same = base.k == candidate.k
        return [] if same else [f"k is {base.k} in one and {candidate.k} in the other"]
    left, right = one.grades, other.grades
    if left.grader != right.grader:
        return [f"the graders are two: {left.grader} and {right.grader}"]
    if left.metric != right.metric:
        return [f"the metrics are two: {left.metric} and {right.metric}"]
    if left.grader_sha256 != right.grader_sha256:
        return [f"{left.grader} was another version of itself: grade both anew"]
    return []


def _keys(filed: Filed) -> list[tuple[str, int, str]]:
    columns = ["instance_key", "query", "text"]
    table = read_table(filed.folder, "queries", columns=columns).to_pydict()
    return list(zip(table["instance_key"], table["query"], table["text"], strict=True))


def _notes(base: Filed, candidate: Filed) -> tuple[str, ...]:
    found = list(base.manifest.corpus_notes)
    one, other = base.said, candidate.said
    if one is not None and other is not None:
        if one.grades.judge != other.grades.judge:
            found.append("the judge is another one: a move may be the judge's")
        known = [
            (left, right)
            for left, right in zip(base.context, candidate.context, strict=True)
            if left is not None and right is not None
        ]
        same = sum(left == right for left, right in known)
        found.append(
            f"the reader was given the same texts for {same} of {len(base.context)} queries"
            + ("" if len(known) == len(base.context) else f"; {len(known)} are known")
        )
    unscored = int(np.sum((base.state == UNSCORED) != (candidate.state == UNSCORED)))
    if unscored:
        found.append(f"{unscored} queries have a value on one side only")
    return tuple(found)
