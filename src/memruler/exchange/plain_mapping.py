"""Targets out of plain lines; see `memruler.exchange.plain_json`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from memruler.exchange.mapping import IDS
from memruler.exchange.plain_json import Places, Plain, Value, plain_json
from memruler.exchange.plain_ranked import row_texts

__all__ = ["plain_mapping"]

_GROUPS = "groups"
_NONE = np.zeros(0, np.int64)


def plain_mapping(data: bytes, names: Sequence[str]) -> pa.Table | None:
    """The rows of a block of targets; None where it is not plain, or may not be sound.

    Args:
        data: Whole lines, without white space at either end.
        names: Targets that are read.

    Returns:
        Columns as `memruler.exchange.mapping.mapping_schema` has them.
    """
    plain = plain_json(data)
    if plain is None:
        return None
    keys, inside = plain.keys(in_group=False), plain.keys(in_group=True)
    query = row_texts(plain, keys.get("query_id"))
    if query is None or query.null_count:
        return None
    columns: dict[str, Any] = {"query_id": query}
    for name in names:
        columns[name + IDS] = _lists(plain, keys.get(name + IDS, _NONE), plain.row, plain.rows)
    fields = {
        name: _lists(plain, inside.get(name, _NONE), plain.group, plain.groups) for name in names
    }
    if any(one is None for one in (*columns.values(), *fields.values())):
        return None
    groups = _groups(plain, keys, fields)
    return None if groups is None else pa.table({**columns, _GROUPS: groups})


def _lists(plain: Plain, keys: Places, owner: Places, owners: int) -> Any:
    """The lists behind a key by owner, null where it has none; None where they are not lists."""
    of, kind = owner[keys], plain.value[keys]
    if (of[1:] == of[:-1]).any() or not np.isin(kind, (Value.LIST, Value.EMPTY, Value.NULL)).all():
        return None
    lengths = np.zeros(owners, np.int64)
    lengths[of], at = plain.elements(keys)
    lacking = np.ones(owners, np.bool_)
    lacking[of[kind != Value.NULL]] = False
    offsets: Any = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    mask: Any = pa.array(lacking)
    return pa.ListArray.from_arrays(offsets, plain.take(at), mask=mask)


def _groups(plain: Plain, keys: dict[str, Places], fields: dict[str, Any]) -> Any:
    """The groups by row, null where it has none; None where something else is a list of objects."""
    mine = keys.get(_GROUPS, _NONE)
    row, kind = plain.row[mine], plain.value[mine]
    others = sum(int((plain.value[at] == Value.GROUPS).sum()) for at in keys.values())
    if (
        (row[1:] == row[:-1]).any()
        or not np.isin(kind, (Value.GROUPS, Value.EMPTY, Value.NULL)).all()
        or others != (kind == Value.GROUPS).sum()
    ):
        return None
    first = np.flatnonzero(np.diff(plain.group, prepend=-1) > 0)
    counts = np.bincount(plain.row[first], minlength=plain.rows)
    lacking = np.ones(plain.rows, np.bool_)
    lacking[row[kind != Value.NULL]] = False
    offsets: Any = pa.array(np.append(0, np.cumsum(counts)).astype(np.int32))
    mask: Any = pa.array(lacking)
    struct = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    return pa.ListArray.from_arrays(offsets, struct, mask=mask)
