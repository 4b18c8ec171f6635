"""One ranked list a line: `{query_id, category?, ranked: [ids]}`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa

from memruler.exchange.faults import Faults
from memruler.exchange.names import Coded
from memruler.exchange.rankings import Rankings, refuse_repeats

__all__ = ["RANKED", "RankedLine", "from_ranked", "whole"]

_Name = Annotated[str, msgspec.Meta(min_length=1)]

RANKED = pa.schema(
    [
        pa.field("query_id", pa.string(), nullable=False),
        pa.field("category", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("instance", pa.string()),
        pa.field("ranked", pa.list_(pa.string()), nullable=False),
    ]
)
"""The columns that are read; `cluster` and `instance` are two names of one thing."""


class RankedLine(msgspec.Struct):
    """A line of the file.

    Attributes:
        query_id: Name of the query, once in the file.
        ranked: Items, best first, each once; none where nothing was found.
        category: Of the query.
        cluster: What moves together: the conversation, the family.
        instance: Another name of the same.
    """

    query_id: _Name
    ranked: list[_Name]
    category: str | None = None
    cluster: str | None = None
    instance: str | None = None


def from_ranked(path: Path, tables: Iterable[pa.Table]) -> Rankings:
    """Rankings from tables with the columns of `RANKED`.

    Raises:
        FaultyFile: A query stands twice, or there is none.
    """
    items, lengths = Coded(), [np.zeros(1, np.int64)]
    rows: list[int] = []
    few: list[pa.Table] = []
    for table in tables:
        chunk: Any
        for chunk in table.column("ranked").chunks:
            items.add(chunk.flatten())
            rows.append(len(chunk))
            lengths.append(np.diff(chunk.offsets.to_numpy()).astype(np.int64))
        few.append(table.drop_columns(["ranked"]))
    faults = Faults(path)
    if not few:
        faults.add("no query in the file", [], 1)
        faults.refuse()
    rest = pa.concat_tables(few).combine_chunks()
    query = whole(rest.column("query_id"))
    refuse_repeats(faults, query)
    faults.refuse()
    return Rankings(
        query=query,
        category=whole(rest.column("category")),
        cluster=_cluster_of(rest),
        offsets=np.cumsum(np.concatenate(lengths)),
        items=items,
        block_rows=rows,
    )


def whole(column: Any) -> Any:
    """A column in one piece."""
    joined = column.combine_chunks()
    return joined if not isinstance(joined, pa.ChunkedArray) else pa.concat_arrays(joined.chunks)


def _cluster_of(table: pa.Table) -> Any:
    """The clusters: the column `cluster`, or where it says nothing `instance`."""
    cluster, instance = (whole(table.column(name)) for name in ("cluster", "instance"))
    return instance if cluster.null_count == len(cluster) else cluster
