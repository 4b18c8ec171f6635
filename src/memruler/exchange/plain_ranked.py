"""Ranked lists out of plain lines; see `memruler.exchange.plain_json`."""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from memruler.exchange.plain_json import Places, Plain, Value, plain_json

__all__ = ["plain_ranked", "row_texts"]

_TEXTS: Final = ("query_id", "category", "cluster", "instance")
_RANKED: Final = "ranked"


def plain_ranked(data: bytes) -> pa.Table | None:
    """The rows of a block of rankings; None where it is not plain, or may not be sound.

    Args:
        data: Whole lines, without white space at either end.

    Returns:
        `query_id`, `category`, `cluster`, `instance` and `ranked`, whose lists are of dictionary
        type.
    """
    plain = plain_json(data)
    if plain is None:
        return None
    keys = plain.keys(in_group=False)
    ranked = keys.get(_RANKED)
    if ranked is None or not np.array_equal(plain.row[ranked], np.arange(plain.rows)):
        return None
    if not np.isin(plain.value[ranked], (Value.LIST, Value.EMPTY)).all():
        return None
    columns = {name: row_texts(plain, keys.get(name)) for name in _TEXTS}
    if columns["query_id"] is None or columns["query_id"].null_count:
        return None
    if any(column is None for column in columns.values()):
        return None
    lengths, at = plain.elements(ranked)
    offsets: Any = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, plain.take(at).dictionary_encode())
    return pa.table({**columns, _RANKED: lists})


def row_texts(plain: Plain, keys: Places | None) -> Any:
    """The text behind a key, by row; nulls where a row has none.

    Args:
        plain: The block.
        keys: Places of the key; None where no row has it.

    Returns:
        An Arrow array of strings; None where a row has the key twice, or something else behind it.
    """
    place = np.full(plain.rows, -1)
    if keys is not None:
        row = plain.row[keys]
        if (row[1:] == row[:-1]).any():
            return None
        kind = plain.value[keys]
        if not ((kind == Value.TEXT) | (kind == Value.NULL)).all():
            return None
        place[row] = np.where(kind == Value.TEXT, 2 * (keys + 1), -1)
    return plain.parts.take(pa.array(place, mask=place < 0))
