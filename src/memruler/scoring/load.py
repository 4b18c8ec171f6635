"""Reads a sealed run into arrays, one entry per query and none per hit object."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import FormatError
from memruler.model.run import Manifest
from memruler.model.summary import Level
from memruler.scoring.run_terms import terms_of
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder
from memruler.store.tables import batches, read_table
from memruler.targets.attribution import ItemSources, item_codes, turn_codes
from memruler.targets.forms import transformed

__all__ = ["Csr", "Items", "RunArrays", "load"]


class Csr(msgspec.Struct, frozen=True):
    """Lists of whole numbers of different lengths: entry i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def lengths(self) -> NDArray[np.int64]:
        """Length of every entry."""
        return np.diff(self.offsets)


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """The stored forms of a run, each a few numbers; texts and ids stay on disk.

    Attributes:
        instance: Instance position [N].
        codes: Level to the code that an item earns credit for, or `UNATTRIBUTED` [N].
        reason: Why an item is not in the store, as a place in `reasons`; -1 if it is [N].
        reasons: Names.
        transformed: Whether a system made it of what was said, so that no raw target admits it [N].
    """

    instance: NDArray[np.int32]
    codes: dict[Level, NDArray[np.int64]]
    reason: NDArray[np.int16]
    reasons: tuple[str, ...]
    transformed: NDArray[np.bool_]


class RunArrays(msgspec.Struct, frozen=True, kw_only=True):
    """A sealed run. Q queries in corpus order, L the longest list of hits, N items.

    Attributes:
        manifest: Of the run.
        instance, query: Positions [Q].
        category: Names [Q].
        excluded: Reason of the population, or None [Q].
        status: Gold status under the population's rule [Q].
        gold: Level to the gold codes of each query.
        hits: Global lineage rows of the hits by rank [Q, L]; -1 is padding.
        error: Message of a failed search, or None [Q].
        context_chars: Characters returned; -1 when not known [Q].
        tied: Whether all hits, two or more, have one and the same score [Q].
        items: What was stored.
    """

    manifest: Manifest
    instance: NDArray[np.int64]
    query: NDArray[np.int64]
    category: NDArray[np.object_]
    excluded: NDArray[np.object_]
    status: NDArray[np.object_]
    gold: dict[Level, Csr]
    hits: NDArray[np.int64]
    error: NDArray[np.object_]
    context_chars: NDArray[np.int64]
    tied: NDArray[np.bool_]
    items: Items


def _combined(table: pa.Table, name: str) -> Any:
    return table.column(name).combine_chunks()


def _ints(table: pa.Table, name: str, absent: int = 0) -> NDArray[np.int64]:
    return np.asarray(_combined(table, name).fill_null(absent), dtype=np.int64)


def _words(table: pa.Table, name: str) -> NDArray[np.object_]:
    return np.asarray(_combined(table, name).to_pylist(), dtype=object)


def _offsets(array: Any) -> NDArray[np.int64]:
    # value_lengths, not .offsets: a sliced array keeps the offsets of the whole.
    lengths = np.asarray(pc.list_value_length(array).fill_null(0), dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _csr(array: Any) -> Csr:
    return Csr(np.asarray(pc.list_flatten(array), dtype=np.int64), _offsets(array))


def _turns(array: Any) -> tuple[Csr, NDArray[np.int64]]:
    """Session positions of source turns as lists, and their turn positions, flat."""
    flat = pc.list_flatten(array)
    session = np.asarray(pc.struct_field(flat, "session"), dtype=np.int64)
    turn = np.asarray(pc.struct_field(flat, "turn"), dtype=np.int64)
    return Csr(session, _offsets(array)), turn


def _items(folder: RunFolder, target: str) -> Items:
    """Read the lineage a piece at a time, keeping a few numbers of each item."""
    instance: list[NDArray[np.int32]] = []
    codes: dict[Level, list[NDArray[np.int64]]] = {"session": [], "turn": []}
    reason: list[NDArray[np.int16]] = []
    made: list[NDArray[np.bool_]] = []
    known: dict[str, int] = {}
    columns = ["instance", "kind", "status", "reason", "sessions", "turns"]
    for batch in batches(folder, "lineage", columns=columns):
        sessions = _csr(batch.column("sessions"))
        turns, places = _turns(batch.column("turns"))
        sources = ItemSources(
            session_offsets=sessions.offsets,
            sessions=sessions.flat,
            turn_offsets=turns.offsets,
            turn_sessions=turns.flat,
            turn_turns=places,
        )
        kinds = [str(kind) for kind in batch.column("kind").to_pylist()]
        for level, pieces in codes.items():
            pieces.append(item_codes(level, kinds, sources, target))
        instance.append(np.asarray(batch.column("instance"), dtype=np.int32))
        made.append(np.fromiter(map(transformed, kinds), np.bool_, len(kinds)))
        why = [
            -1 if status == "stored" else known.setdefault(text or "unknown", len(known))
            for status, text in zip(
                batch.column("status").to_pylist(), batch.column("reason").to_pylist(), strict=True
            )
        ]
        reason.append(np.array(why, dtype=np.int16))
    return Items(
        instance=np.concatenate([np.zeros(0, np.int32), *instance]),
        codes={
            level: np.concatenate([np.zeros(0, np.int64), *pieces])
            for level, pieces in codes.items()
        },
        reason=np.concatenate([np.zeros(0, np.int16), *reason]),
        reasons=tuple(known),
        transformed=np.concatenate([np.zeros(0, np.bool_), *made]),
    )


def _reading(queries: pa.Table, rule: str) -> Any:
    """The evidence structs under one rule, one per query."""
    evidence = _combined(queries, "evidence")
    flat = pc.list_flatten(evidence)
    at = np.flatnonzero(np.asarray(pc.equal(pc.struct_field(flat, "rule"), pa.scalar(rule))))
    if len(at) != len(evidence):
        raise FormatError(
            f"the run's queries lack evidence under the rule `{rule}`", hint="measure it anew"
        )
    return flat.take(pa.array(at))


def _hit_matrix(trace: pa.Table, row_of: dict[tuple[int, int], int]) -> NDArray[np.int64]:
    lists = _csr(_combined(trace, "items"))
    lengths = lists.lengths()
    width = int(lengths.max(initial=0))
    matrix = np.full((len(row_of), width), -1, dtype=np.int64)
    keys = zip(_ints(trace, "instance").tolist(), _ints(trace, "query").tolist(), strict=True)
    target = np.fromiter((row_of[key] for key in keys), dtype=np.int64, count=len(lengths))
    rows = np.repeat(target, lengths)
    columns = np.arange(len(lists.flat)) - np.repeat(lists.offsets[:-1], lengths)
    matrix[rows, columns] = lists.flat
    return matrix


def _require_own_items(
    folder: RunFolder, hits: NDArray[np.int64], items: Items, instance: NDArray[np.int64]
) -> None:
    """Every hit is an item of its own query's instance."""
    there = hits != -1
    inside = (hits >= 0) & (hits < len(items.instance))
    owner = items.instance[np.where(inside, hits, 0)] if len(items.instance) else hits
    if np.any(there & ~(inside & (owner == instance[:, None]))):
        raise FormatError(
            "the trace names an item that its instance does not have",
            where=folder.path,
            hint="measure it anew",
        )


def _tied(trace: pa.Table) -> NDArray[np.bool_]:
    """Per ranking, whether two or more hits all have one score; an absent score ties nothing."""
    lists = _combined(trace, "scores")
    offsets = _offsets(lists)
    # One entry more, so that the end of the last list is a place too.
    flat = np.append(np.asarray(pc.list_flatten(lists).fill_null(np.nan), np.float64), np.nan)
    long = np.flatnonzero(np.diff(offsets) > 1)
    tied = np.zeros(len(offsets) - 1, dtype=np.bool_)
    if len(long):
        # Start and end of each list; the pieces between an end and the next start are dropped.
        edges = np.stack([offsets[long], offsets[long + 1]], axis=1).ravel()
        low = np.minimum.reduceat(flat, edges)[::2]
        high = np.maximum.reduceat(flat, edges)[::2]
        tied[long] = low == high
    return tied


def load(folder: RunFolder, target: str) -> RunArrays:
    """Read everything that scoring needs; texts stay on disk.

    Args:
        folder: A sealed run folder.
        target: Which stored forms earn credit.

    Raises:
        FormatError: A table is missing, damaged, or does not fit the others.
    """
    manifest = folder.manifest()
    if manifest is None:
        raise FormatError("no manifest in the run folder", where=folder.path)
    require_own_tables(folder, manifest, ("queries", "lineage", "trace"))
    columns = ["instance", "query", "category", "excluded", "evidence"]
    queries = read_table(folder, "queries", columns=columns)
    columns = ["instance", "query", "repeat", "items", "scores", "context_chars", "error"]
    trace = read_table(folder, "trace", columns=columns)
    trace = trace.filter(pc.equal(trace.column("repeat"), pa.scalar(0, pa.int16())))
    instance, query = _ints(queries, "instance"), _ints(queries, "query")
    keys = list(zip(instance.tolist(), query.tolist(), strict=True))
    row_of = {key: row for row, key in enumerate(keys)}
    traced = list(
        zip(_ints(trace, "instance").tolist(), _ints(trace, "query").tolist(), strict=True)
    )
    if len(row_of) != len(keys) or sorted(traced) != sorted(keys):
        raise FormatError(
            "the trace does not hold exactly one ranking per query",
            where=folder.path,
            hint="measure it anew",
        )
    order = np.fromiter((row_of[key] for key in traced), dtype=np.int64, count=len(traced))
    error = np.full(len(keys), None, dtype=object)
    error[order] = _words(trace, "error")
    chars = np.zeros(len(keys), dtype=np.int64)
    chars[order] = _ints(trace, "context_chars", absent=-1)
    tied = np.zeros(len(keys), dtype=np.bool_)
    tied[order] = _tied(trace)
    items, hits = _items(folder, target), _hit_matrix(trace, row_of)
    _require_own_items(folder, hits, items, instance)
    reading = _reading(queries, terms_of(manifest, folder.path).rule)
    turns, places = _turns(pc.struct_field(reading, "turns"))
    return RunArrays(
        manifest=manifest,
        instance=instance,
        query=query,
        category=_words(queries, "category"),
        excluded=_words(queries, "excluded"),
        status=np.asarray(pc.struct_field(reading, "status").to_pylist(), dtype=object),
        gold={
            "session": _csr(pc.struct_field(reading, "sessions")),
            "turn": Csr(turn_codes(turns.flat, places), turns.offsets),
        },
        hits=hits,
        error=error,
        context_chars=chars,
        tied=tied,
        items=items,
    )
