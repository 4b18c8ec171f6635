"""The values of every query under every target as a table, for other programs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.metrics.credited import CREDIT_METRICS
from memruler.scoring.traced import Scored
from memruler.store.safe import atomic_file

__all__ = ["NO_ELIGIBLE", "per_query", "write_per_query"]

NO_ELIGIBLE = "no_eligible_item"
"""Reason of a query that a target cannot serve."""

_ROWS = 4096


def per_query(scored: Scored) -> pa.Table:
    """One row a query and target; values are null exactly where `excluded` has a reason."""
    return pa.concat_tables([_rows(scored, target) for target in scored.by_target])


def write_per_query(path: Path, scored: Scored) -> None:
    """Write the table as the file's name says: `.parquet`, `.csv` or `.jsonl`.

    Raises:
        UsageError: Another ending, or the file cannot be written there.
        InstrumentError: The disk failed.
    """
    writers: dict[str, Callable[[pa.Table, BinaryIO], object]] = {
        ".parquet": pq.write_table,
        ".csv": pyarrow.csv.write_csv,
        ".jsonl": _jsonl,
    }
    if path.suffix not in writers:
        raise UsageError(
            "the values of queries are written as .parquet, .csv or .jsonl", where=path
        )
    with atomic_file(path) as file:
        writers[path.suffix](per_query(scored), file)


def _jsonl(table: pa.Table, file: BinaryIO) -> None:
    for batch in table.to_batches(_ROWS):
        file.writelines(msgspec.json.encode(row) + b"\n" for row in batch.to_pylist())


def _rows(scored: Scored, target: str) -> pa.Table:
    traced, values = scored.traced, scored.by_target[target]
    absent = ~scored.served(target)
    names = np.array([*traced.categories, None], dtype=object)
    columns: dict[str, Any] = {
        "system": pa.array([traced.name] * len(absent), pa.string()),
        "query": traced.query,
        "category": pa.array(names[traced.category].tolist(), pa.string()),
        "cluster": pa.array(traced.cluster, pa.int64()),
        "target": pa.array([target] * len(absent), pa.string()),
        "credit": pa.array([scored.rule] * len(absent), pa.string()),
        "level": pa.array([traced.level] * len(absent), pa.string()),
        "excluded": pa.array(_reasons(scored, absent).tolist(), pa.string()),
        "anchors": pa.array(values.anchors, pa.int64(), mask=absent),
        "first": pa.array(values.first, pa.int64(), mask=absent | (values.first == 0)),
        "top1": _column(values.values["top1", scored.cutoffs[0]], absent),
    }
    for k in scored.cutoffs:
        columns[f"found@{k}"] = _column(values.found[k], absent)
        for metric in CREDIT_METRICS[1:]:
            columns[f"{metric}@{k}"] = _column(values.values[metric, k], absent)
    return pa.table(columns)


def _column(values: NDArray[np.float64], absent: NDArray[np.bool_]) -> Any:
    return pa.array(values, pa.float64(), mask=absent)


def _reasons(scored: Scored, absent: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Why each query has no value, or None."""
    traced = scored.traced
    names = np.array([*traced.reasons, NO_ELIGIBLE, None], dtype=object)
    none, empty = len(names) - 1, len(names) - 2
    place = np.where(traced.reason >= 0, traced.reason, np.where(absent, empty, none))
    found: NDArray[np.object_] = names[place]
    return found
