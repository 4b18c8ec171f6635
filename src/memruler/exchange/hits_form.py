"""One hit a line: `{query_id, retrieved_id, rank, score?, category?}`, the lines in any order.

The rank alone decides. A score is never looked at here: a tool may sort by one thing and report
another, and the saved rank is what its reader was given.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.exchange.arrays import distinct
from memruler.exchange.faults import Faults
from memruler.exchange.names import Coded, labels, unified
from memruler.exchange.rankings import Rankings, some_names

__all__ = ["HITS", "HitLine", "from_hits", "ranked_hits"]

_Name = Annotated[str, msgspec.Meta(min_length=1)]

_COLUMNS: list["pa.Field[Any]"] = [
    pa.field("query_id", pa.string(), nullable=False),
    pa.field("retrieved_id", pa.string(), nullable=False),
    pa.field("rank", pa.int64(), nullable=False),
    pa.field("category", pa.string()),
    pa.field("cluster", pa.string()),
    pa.field("instance", pa.string()),
]
HITS = pa.schema(_COLUMNS)
"""The columns that are read."""


class HitLine(msgspec.Struct):
    """A line of the file.

    Attributes:
        query_id: Name of the query.
        retrieved_id: Name of the item.
        rank: From 1.
        score: Whatever the system reported; never used.
        category: Of the query; the same in all of its lines.
        cluster: What moves together; the same in all lines of a query.
        instance: Another name of the same.
    """

    query_id: _Name
    retrieved_id: _Name
    rank: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    score: float | None = None
    category: str | None = None
    cluster: str | None = None
    instance: str | None = None


def from_hits(path: Path, tables: Iterable[pa.Table]) -> Rankings:
    """Rankings from tables with the columns of `HITS`.

    Raises:
        FaultyFile: The ranks of a query are not 1 to n, its lines differ in category or cluster,
            or there is no line.
    """
    queries, items = Coded(), Coded()
    ranks: list[NDArray[np.int64]] = []
    texts: dict[str, list[Any]] = {"category": [], "cluster": [], "instance": []}
    for table in tables:
        for batch in table.to_batches():
            queries.add(batch.column("query_id"))
            items.add(batch.column("retrieved_id"))
            ranks.append(batch.column("rank").to_numpy())
            for name, parts in texts.items():
                parts.append(batch.column(name).dictionary_encode())
    faults = Faults(path)
    if not ranks:
        faults.add("no hit in the file", [], 1)
        faults.refuse()
    if all(part.null_count == len(part) for part in texts["cluster"]):
        texts["cluster"] = texts["instance"]
    names, of = unified(queries)
    rankings = ranked_hits(faults, names, of, np.concatenate(ranks))
    category, cluster = (
        _of_query(faults, name, texts[name], of, rankings.query) for name in ("category", "cluster")
    )
    faults.refuse()
    return msgspec.structs.replace(rankings, category=category, cluster=cluster, items=items)


def ranked_hits(
    faults: Faults, names: Any, query: NDArray[np.int32], rank: NDArray[np.int64]
) -> Rankings:
    """Sort hits by their ranks.

    Args:
        faults: Gets what is wrong with the ranks.
        names: Of the queries.
        query: Of each hit, in order of first mention [H].
        rank: Of each hit [H].

    Returns:
        Rankings without items and texts.
    """
    lengths = np.bincount(query, minlength=len(names))
    starts = np.cumsum(lengths) - lengths
    inside = (rank >= 1) & (rank <= lengths[query])
    place = np.where(inside, starts[query] + rank - 1, 0)
    taken = np.bincount(place[inside], minlength=len(query))
    order: NDArray[np.int64] | None
    if inside.all() and (taken == 1).all():
        order = np.empty(len(query), np.int64)
        order[place] = np.arange(len(query))
        if np.array_equal(place, np.arange(len(query))):
            order = None
    else:
        order = None
        _judge_ranks(faults, names, query, rank)
    return Rankings(
        query=names,
        category=None,
        cluster=None,
        offsets=np.append(starts, len(query)),
        items=Coded(),
        order=order,
    )


def _judge_ranks(
    faults: Faults, names: Any, query: NDArray[np.int32], rank: NDArray[np.int64]
) -> None:
    """Note every query whose ranks are not 1 to n."""
    by = np.lexsort((rank, query))
    q, r = query[by], np.clip(rank[by], -1, 1 << 40)
    opens = np.ones(len(q), np.bool_)
    opens[1:] = q[1:] != q[:-1]
    step = np.ones(len(q), np.int64)
    step[1:] = r[1:] - r[:-1]
    kinds = {
        "ranks do not begin at 1": opens & (r != 1),
        "a rank stands twice": ~opens & (step == 0),
        "ranks have a gap": ~opens & (step > 1),
    }
    for what, where in kinds.items():
        bad = distinct(q[where])
        faults.add(what, some_names(names, bad), len(bad))


def _of_query(
    faults: Faults, name: str, parts: list[Any], query: NDArray[np.int32], names: Any
) -> Any:
    """What all lines of a query say of it."""
    places, texts = labels(pa.chunked_array(parts).unify_dictionaries().cast(pa.string()))
    of = np.full(len(names), -1, np.int64)
    of[query[::-1]] = places[::-1]
    differs = distinct(query[places != of[query]])
    if len(differs):
        faults.add(f"lines of a query differ in {name}", some_names(names, differs), len(differs))
    known: Any = pa.array([*texts, None], pa.string())
    return known.take(pa.array(np.where(of < 0, len(texts), of)))
