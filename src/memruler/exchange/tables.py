"""Rankings as a table: what every format is written from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import Refusal, UsageError
from memruler.exchange.arrays import distinct
from memruler.scoring.traced import Traced
from memruler.store.folder import RunFolder
from memruler.store.tables import batches, read_table

__all__ = ["item_names", "lists", "scores_of", "trace_table"]

_Ints = NDArray[np.int64]


def item_names(traced: Traced, run: Path | None) -> Any:
    """Names of items by number: an Arrow array of strings.

    The items of a run are called `<instance>/<id>`; ids that an instance has twice get `#` and the
    row of the lineage as well.

    Args:
        traced: The rankings.
        run: The run folder that they are from; None where they know the names themselves.

    Raises:
        UsageError: Neither tells.
    """
    if run is None:
        if traced.items is None:
            raise UsageError("the names of the items are not known", where=traced.name)
        return traced.items
    folder = RunFolder.open(run)
    keys: dict[int, str] = {}
    for batch in batches(folder, "queries", columns=["instance", "instance_key"]):
        pairs: Any = (batch.column(at).to_pylist() for at in (0, 1))
        keys.update(zip(*pairs, strict=True))
    parts = []
    for batch in batches(folder, "lineage", columns=["instance", "id"]):
        instance: list[Any] = batch.column("instance").to_pylist()
        known: Any = pa.array([keys.get(one, str(one)) for one in instance], pa.string())
        parts.append(pc.binary_join_element_wise(known, batch.column("id"), "/"))
    names = pa.concat_arrays(parts) if parts else pa.array([], pa.string())
    return _distinct(names)


def _distinct(names: Any) -> Any:
    encoded = names.dictionary_encode()
    places = encoded.indices.to_numpy()
    often = np.bincount(places, minlength=1)[places] > 1 if len(places) else places
    if not often.any():
        return names
    rows = pa.array(np.arange(len(names))).cast(pa.string())
    return pc.if_else(pa.array(often), pc.binary_join_element_wise(names, rows, "#"), names)


def trace_table(traced: Traced, names: Any) -> pa.Table:
    """One row a query that was answered: `query_id`, `category`, `cluster`, `ranked`.

    Raises:
        Refusal: A ranking has an item twice: none of the formats can say so.
    """
    rows = np.flatnonzero(traced.counts())
    hits = traced.hits[rows]
    inside = np.sort(hits, axis=1)
    twice = ((inside[:, 1:] == inside[:, :-1]) & (inside[:, 1:] >= 0)).any(axis=1)
    if twice.any():
        raise Refusal(
            [f"{int(twice.sum()):,} rankings have an item twice, which none of the formats allows"],
            hint="measure with a system that returns each item once",
        )
    there = hits >= 0
    ends = np.append(0, np.cumsum(there.sum(axis=1)))
    ranked = lists(ends, names.take(pa.array(hits[there])).cast(pa.string()))
    texts: Any = pa.array([*traced.categories, None], pa.string())
    category: Any = np.where(traced.category[rows] < 0, len(texts) - 1, traced.category[rows])
    query = traced.query.take(pa.array(rows))
    return pa.table(
        {
            "query_id": query,
            "category": texts.take(pa.array(category)),
            "cluster": _clusters(traced, query, rows),
            "ranked": ranked,
        }
    )


def scores_of(run: Path, trace: pa.Table) -> Any:
    """The scores of the hits as the system gave them, in the order of a run's trace table.

    Args:
        run: The run folder that the table is from.
        trace: As `trace_table` makes it.
    """
    folder = RunFolder.open(run)
    keys: dict[int, str] = {}
    for batch in batches(folder, "queries", columns=["instance", "instance_key"]):
        pairs: Any = (batch.column(at).to_pylist() for at in (0, 1))
        keys.update(zip(*pairs, strict=True))
    found = read_table(folder, "trace", columns=["instance", "query", "repeat", "scores"])
    found = found.filter(pc.equal(found.column("repeat"), pa.scalar(0, pa.int16())))
    instance: list[Any] = found.column("instance").to_pylist()
    query: list[Any] = found.column("query").to_pylist()
    names = pa.array([f"{keys[i]}:{q}" for i, q in zip(instance, query, strict=True)], pa.string())
    at = pc.index_in(trace.column("query_id"), value_set=names)
    return found.column("scores").take(at)


def lists(ends: _Ints, values: Any) -> Any:
    """An Arrow array of lists of strings or structs.

    Args:
        ends: Where each list begins, and where the last one ends.
        values: What is in them, list after list.
    """
    offsets: Any = pa.array(ends.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values)


def _clusters(traced: Traced, query: Any, rows: _Ints) -> Any:
    """The instance of a run's queries; the number of a foreign cluster, or nothing."""
    if traced.origin == "run":  # the name of a query is that of its instance and its position
        return pc.replace_substring_regex(query, r":\d+$", "")
    cluster = traced.cluster[rows]
    if len(distinct(traced.cluster)) == len(traced.cluster):
        return pa.nulls(len(rows), pa.string())
    return pa.array(cluster).cast(pa.string())
