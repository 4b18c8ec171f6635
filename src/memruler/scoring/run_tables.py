"""The tables of a sealed run as small numbers, read some rows at a time.

A batch is copied into what is kept, and the next one is decoded where it was. So the memory that
re-scoring touches is that of its results, not of all that was ever decoded.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.errors import FormatError
from memruler.model.credit import CreditLevel
from memruler.store.folder import RunFolder
from memruler.store.tables import batches, rows_in
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms, Gold

__all__ = ["Asked", "asked_of", "forms_of", "rankings_of"]

_ROWS = 4096
_MANY = 8  # anchors of a query that there is room for at once
_Ints = NDArray[np.int32]


class Asked(NamedTuple):
    """The queries of a run.

    Attributes:
        instance: Position of the instance [Q].
        number: Of the query in its instance [Q].
        name: `instance key:number`, an Arrow array of strings [Q].
        category: Place in `categories` [Q].
        categories: Names, in order of first mention.
        excluded: Place in `reasons`, -1 where the population has none against it [Q].
        reasons: Names, in order of first mention.
        gold: The anchors of each query under the population's rule.
    """

    instance: _Ints
    number: _Ints
    name: Any
    category: _Ints
    categories: tuple[str, ...]
    excluded: _Ints
    reasons: tuple[str, ...]
    gold: Gold


def asked_of(folder: RunFolder, rule: str, level: CreditLevel) -> Asked:
    """Read the queries.

    Args:
        folder: The run.
        rule: How evidence is read.
        level: What an anchor is; turns, unless it is `session`.

    Raises:
        FormatError: A query lacks evidence under the rule.
    """
    categories, reasons, keys = _Words(), _Words(), _Words()
    rows = rows_in(folder, "queries")
    several = _MANY * rows
    columns = [*(_Column(rows) for _ in range(4)), _Ends(rows), _Column(several), _Column(several)]
    names: list[Any] = []
    coded = ["instance_key", "category", "excluded"]
    wanted = ["instance", "query", *coded, "evidence"]
    for batch in batches(folder, "queries", wanted, rows=_ROWS, coded=coded):
        number = np.asarray(batch.column("query"))
        key = keys.numbers(batch.column("instance_key"))
        words = list(keys.places)
        pairs = zip(key.tolist(), number.tolist(), strict=True)
        names.append(pa.array([f"{words[k]}:{n}" for k, n in pairs], pa.string()))
        values = (
            np.asarray(batch.column("instance")),
            number,
            categories.numbers(batch.column("category")),
            reasons.numbers(batch.column("excluded")),
            *_anchors(batch.column("evidence"), rule, level),
        )
        for column, value in zip(columns, values, strict=True):
            column.add(value)
    instance, number, category, excluded, ends, session, turn = (c.values() for c in columns)
    return Asked(
        instance=instance,
        number=number,
        name=pa.concat_arrays(names or [pa.array([], pa.string())]),
        category=category,
        categories=tuple(categories.places),
        excluded=excluded,
        reasons=tuple(reasons.places),
        gold=Gold(
            offsets=ends,
            instance=np.repeat(instance, np.diff(ends)),
            session=session,
            turn=None if level == "session" else turn,
        ),
    )


def _anchors(evidence: Any, rule: str, level: CreditLevel) -> tuple[_Ints, _Ints, _Ints]:
    """How many anchors each query has; their sessions, and at level session no turns."""
    _, flat = _lists(evidence)
    rules = flat.field("rule")
    if len(flat) != len(evidence) or not rules.equals(pa.array([rule] * len(flat), pa.string())):
        at = np.flatnonzero([one == rule for one in rules.to_pylist()])
        if len(at) != len(evidence):
            raise FormatError(
                f"the run's queries lack evidence under the rule `{rule}`", hint="measure it anew"
            )
        flat = flat.take(pa.array(at))
    if level == "session":
        lengths, values = _lists(flat.field("sessions"))
        return lengths, np.asarray(values), np.zeros(0, np.int32)
    lengths, values = _lists(flat.field("turns"))
    return lengths, np.asarray(values.field("session")), np.asarray(values.field("turn"))


def forms_of(folder: RunFolder) -> Forms:
    """The stored items of a run, each a few numbers."""
    kinds = _Words()
    rows = rows_in(folder, "lineage")
    shapes = (_Column, _Column, _Ends, _Column, _Ends, _Column, _Column)
    columns = [shape(rows) for shape in shapes]
    wanted = ["instance", "kind", "sessions", "turns"]
    for batch in batches(folder, "lineage", wanted, rows=_ROWS, coded=["kind"]):
        sessions, session = _lists(batch.column("sessions"))
        turns, pair = _lists(batch.column("turns"))
        values = (
            np.asarray(batch.column("instance")),
            kinds.numbers(batch.column("kind")),
            sessions,
            np.asarray(session),
            turns,
            np.asarray(pair.field("session")),
            np.asarray(pair.field("turn")),
        )
        for column, value in zip(columns, values, strict=True):
            column.add(value)
    instance, kind, sessions, session, turns, said, place = (c.values() for c in columns)
    return Forms(
        instance=instance,
        kind=kind,
        kinds=tuple(kinds.places),
        sources=ItemSources(
            session_offsets=sessions,
            sessions=session,
            turn_offsets=turns,
            turn_sessions=said,
            turn_turns=place,
        ),
    )


def rankings_of(folder: RunFolder, key: NDArray[np.int64]) -> tuple[_Ints, NDArray[np.bool_]]:
    """The first draw of every query as a matrix, and which searches failed.

    Args:
        folder: The run.
        key: `instance << 32 | query` of each query [Q].

    Returns:
        Rows of the lineage by rank, -1 behind the end of a list [Q, L]; and [Q].

    Raises:
        FormatError: The trace does not hold exactly one ranking per query.
    """
    hits = np.full((len(key), 0), -1, np.int32)
    failed = np.zeros(len(key), np.bool_)
    traced = np.empty(len(key), np.int64)
    rows = 0
    wanted = ["instance", "query", "repeat", "items", "error"]
    for whole in batches(folder, "trace", wanted, rows=_ROWS):
        first = np.asarray(whole.column("repeat")) == 0
        batch = whole if first.all() else whole.filter(pa.array(first))
        start, rows = rows, rows + len(batch)
        if rows > len(key):
            break
        here = slice(start, rows)
        asked = np.asarray(batch.column("instance")).astype(np.int64)
        traced[here] = asked << 32 | np.asarray(batch.column("query"))
        lengths, items = _lists(batch.column("items"))
        hits = _widened(hits, int(lengths.max(initial=0)), start)
        _fill(hits[here], lengths, np.asarray(items))
        error = batch.column("error")
        if error.null_count < len(error):
            failed[here] = np.asarray(error.is_valid())
    if rows == len(key) and np.array_equal(traced, key):
        return hits, failed
    row, found = np.argsort(key), np.argsort(traced)
    if rows != len(key) or (key[row] != traced[found]).any() or (np.diff(key[row]) == 0).any():
        raise FormatError(
            "the trace does not hold exactly one ranking per query",
            where=folder.path,
            hint="measure it anew",
        )
    order = found[np.argsort(row)]
    return hits[order], failed[order]


def _widened(hits: _Ints, width: int, rows: int) -> _Ints:
    """The matrix with room for lists of a length; only its first rows are kept."""
    if width <= hits.shape[1]:
        return hits
    wider = np.empty((len(hits), width), np.int32)
    wider[:rows, : hits.shape[1]] = hits[:rows]
    wider[:rows, hits.shape[1] :] = -1
    return wider


def _fill(hits: _Ints, lengths: _Ints, items: _Ints) -> None:
    if len(items) == hits.size:
        hits[:] = items.reshape(hits.shape)
    else:
        hits[:] = -1
        hits[np.arange(hits.shape[1]) < lengths[:, None]] = items


class _Words:
    """Texts of a column that are few, numbered in order of first mention; none is -1."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def numbers(self, column: Any) -> _Ints:
        """The number of each text of a batch."""
        if column.null_count == len(column):
            return np.full(len(column), -1, np.int32)
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        places = self.places
        words = column.dictionary.to_pylist()
        numbers = np.array([places.setdefault(word, len(places)) for word in words], np.int32)
        indices = column.indices
        at = np.asarray(indices.fill_null(-1) if indices.null_count else indices)
        found: _Ints = np.append(numbers, np.int32(-1))[at]
        return found


def _lists(column: Any) -> tuple[_Ints, Any]:
    """The length of each list, and the values of all."""
    ends = np.asarray(column.offsets)
    return np.diff(ends), column.values[ends[0] : ends[-1]]


class _Column:
    """Numbers of a column, copied batch after batch to where they stay."""

    def __init__(self, room: int) -> None:
        # Memory that is asked for and never written costs nothing, so there may be too much.
        self._kept = np.empty(room, np.int32)
        self._end = 0

    def add(self, values: _Ints) -> None:
        start, self._end = self._end, self._end + len(values)
        if self._end > len(self._kept):
            more = np.empty(2 * self._end, np.int32)
            more[:start] = self._kept[:start]
            self._kept = more
        self._kept[start : self._end] = values

    def values(self) -> _Ints:
        return self._kept[: self._end]


class _Ends(_Column):
    """Lengths of lists as offsets into what is in them, from 0."""

    def __init__(self, room: int) -> None:
        super().__init__(room + 1)
        self.add(np.zeros(1, np.int32))

    def add(self, values: _Ints) -> None:
        last = self._kept[self._end - 1] if self._end else 0
        super().add(np.cumsum(values, dtype=np.int32) + np.int32(last))
