"""Rows of Python values become Arrow arrays, a column at a time.

Lists are built from one flat run of values and their ends, so that the cost of a row is that of
its values.
"""

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

__all__ = ["array_of", "batch_of"]

# The stubs make it generic; at run time it is not.
Array: TypeAlias = "pa.Array[Any]"


def batch_of(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """A batch of rows.

    Args:
        schema: Its columns.
        rows: A tuple per row, in the schema's order; at least one.
    """
    columns = zip(schema, zip(*rows, strict=True), strict=True)
    arrays = [array_of(field.type, values) for field, values in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def array_of(kind: pa.DataType, values: Sequence[Any]) -> Array:
    """An array of a plain type, or of lists of plain values, of tuples or of records.

    Args:
        kind: The Arrow type; a struct takes its fields from a tuple by place, from a record by
            name.
        values: One value per row; lists are never None.
    """
    if isinstance(kind, pa.ListType):
        ends = np.zeros(len(values) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=ends[1:])
        flat = array_of(kind.value_type, list(chain.from_iterable(values)))
        offsets = pa.array(ends, pa.int32())
        lists: Array = pa.ListArray.from_arrays(offsets, flat, type=kind)
        return lists
    if isinstance(kind, pa.StructType):
        fields = list(kind)
        rows = values
        if values and not isinstance(values[0], tuple):
            rows = list(map(attrgetter(*(field.name for field in fields)), values))
        columns = list(zip(*rows, strict=True)) or [()] * len(fields)
        parts = [array_of(f.type, c) for f, c in zip(fields, columns, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=fields)
    return pa.array(values, kind)
