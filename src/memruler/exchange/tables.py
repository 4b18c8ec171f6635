"""Rankings and targets as two tables: what every format but TREC's is written from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import Refusal, UsageError
from memruler.exchange.mapping import GRADES, IDS, SETS
from memruler.model.credit import Supports
from memruler.scoring.levels import SEARCH_FAILED
from memruler.scoring.traced import Traced
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["UNSEEN", "item_names", "mapping_table", "trace_table"]

UNSEEN = "unseen"
"""How the names of items begin that nobody has seen: they keep the place of an anchor whose items
a store does not tell."""

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
        keys.update(zip(*(batch.column(at).to_pylist() for at in (0, 1)), strict=True))
    parts = []
    for batch in batches(folder, "lineage", columns=["instance", "id"]):
        instance = batch.column("instance").to_pylist()
        known = pa.array([keys.get(one, str(one)) for one in instance], pa.string())
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
            [f"{int(twice.sum()):,} rankings have an item twice, which no format of exchange allows"],
            hint="measure with a system that returns each item once",
        )
    there = hits >= 0
    offsets = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int32)
    ranked = pa.ListArray.from_arrays(
        pa.array(offsets), names.take(pa.array(hits[there])).cast(pa.string())
    )
    texts = pa.array([*traced.categories, None], pa.string())
    category = np.where(traced.category[rows] < 0, len(texts) - 1, traced.category[rows])
    query = traced.query.take(pa.array(rows))
    return pa.table(
        {
            "query_id": query,
            "category": texts.take(pa.array(category)),
            "cluster": _clusters(traced, query, rows),
            "ranked": ranked,
        }
    )


def _clusters(traced: Traced, query: Any, rows: _Ints) -> Any:
    """The instance of a run's queries; the number of a foreign cluster, or nothing."""
    if traced.origin == "run":  # the name of a query is that of its instance and its position
        return pc.replace_substring_regex(query, r":\d+$", "")
    cluster = traced.cluster[rows]
    if len(np.unique(traced.cluster)) == len(traced.cluster):
        return pa.nulls(len(rows), pa.string())
    return pa.array(cluster).cast(pa.string())


def mapping_table(traced: Traced, names: Any) -> pa.Table:
    """One row a query of the population: `query_id`, `groups`, and `<target>_ids` for each target.

    A query whose search failed has its targets here and no ranking in the trace, so that whoever
    reads both excludes and counts it.

    Raises:
        UsageError: Several targets are asked for and one of them is graded: the format has one
            grade an item.
    """
    graded = [name for name, one in traced.supports.items() if one.grades is not None]
    if graded and len(traced.supports) > 1:
        raise UsageError(
            f"the target {graded[0]} has grades of its own",
            hint=f"export it by itself: --target {graded[0]}",
        )
    failed = np.array([reason == SEARCH_FAILED for reason in (*traced.reasons, "")])
    rows = np.flatnonzero(traced.counts() | failed[traced.reason])
    of = next(iter(traced.supports.values())).of
    group_ends = np.append(0, np.cumsum(of))
    columns: dict[str, Any] = {"query_id": traced.query.take(pa.array(rows))}
    parts = {name: _by_group(one, names, group_ends) for name, one in traced.supports.items()}
    for name, (single, _, _) in parts.items():
        columns[name + IDS] = _union(single, group_ends).take(pa.array(rows))
    if traced.anchored:
        total = int(group_ends[-1])
        fields = {"anchor": pa.array(np.arange(total) - np.repeat(group_ends[:-1], of)).cast("string")}
        fields |= {name: single for name, (single, _, _) in parts.items()}
        for _, grades, _ in parts.values():
            if grades is not None:
                fields["grades"] = grades
        sets = {name: together for name, (_, _, together) in parts.items() if together}
        if sets:
            fields["sets"] = pa.array(
                [
                    [(name, found[group]) for name, found in sets.items() if group in found]
                    for group in range(total)
                ],
                SETS,
            )
        groups = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
        columns["groups"] = pa.ListArray.from_arrays(
            pa.array(group_ends.astype(np.int32)), groups
        ).take(pa.array(rows))
    return pa.table(columns)


def _by_group(
    supports: Supports, names: Any, group_ends: _Ints
) -> tuple[Any, Any, dict[int, list[list[str]]]]:
    """For each anchor before any was left out: its items, their grades, and its sets."""
    total = int(group_ends[-1])
    place = supports.place if supports.place is not None else np.arange(total)
    group = np.repeat(place, np.diff(supports.support_offsets))
    ends = supports.set_offsets
    lengths = np.ones(len(group), np.int64) if ends is None else np.diff(ends)
    starts = np.cumsum(lengths) - lengths
    alone = lengths == 1
    owner, item = group[alone], supports.items[starts[alone]]
    text = names.take(pa.array(item)).cast(pa.string())
    # An anchor that was kept although nothing is known to support it: a name keeps its place.
    empty = np.setdiff1d(place, group)
    if len(empty):
        text = pa.concat_arrays([text, pa.array([f"{UNSEEN}:{one}" for one in empty])])
        owner = np.append(owner, empty)
        order = np.argsort(owner, kind="stable")
        owner, text = owner[order], text.take(pa.array(order))
    offsets = pa.array(np.append(0, np.cumsum(np.bincount(owner, minlength=total))).astype(np.int32))
    single = pa.ListArray.from_arrays(offsets, text)
    grades = None
    if supports.grades is not None:
        grades = pa.MapArray.from_arrays(offsets, text, pa.array(supports.grades[alone])).cast(GRADES)
    together: dict[int, list[list[str]]] = {}
    for at in np.flatnonzero(~alone):
        items = supports.items[starts[at] : starts[at] + lengths[at]]
        together.setdefault(int(group[at]), []).append(names.take(pa.array(items)).to_pylist())
    return single, grades, together


def _union(single: Any, group_ends: _Ints) -> Any:
    """The distinct items of the groups of each query."""
    offsets = single.offsets.to_numpy()[group_ends]
    encoded = single.values.dictionary_encode()
    query = np.repeat(np.arange(len(group_ends) - 1), np.diff(offsets))
    span = len(encoded.dictionary) + 1
    _, first = np.unique(query * span + encoded.indices.to_numpy(), return_index=True)
    first.sort()
    lengths = np.bincount(query[first], minlength=len(group_ends) - 1)
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), single.values.take(pa.array(first)))
