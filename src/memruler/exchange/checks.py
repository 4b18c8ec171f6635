"""What is odd about targets and items; it is told, and nothing is repaired."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.exchange.ahead import ahead
from memruler.exchange.faults import Faults
from memruler.exchange.gold import SOURCE, Entries, numbers, target_entries
from memruler.exchange.json_lines import json_tables
from memruler.exchange.lines import blocks
from memruler.exchange.mapping import Mapping
from memruler.exchange.rankings import some_names
from memruler.scoring.traced import MOST_NAMES, Notice

__all__ = ["mapping_notices", "refuse_stray_grades", "unknown_items"]

_ITEMS = pa.schema([pa.field("id", pa.string(), nullable=False)])


class _ItemLine(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(min_length=1)]


def refuse_stray_grades(path: Path, mapping: Mapping) -> None:
    """Refuse grades of ids that their group does not have.

    Raises:
        FaultyFile: There are some.
    """
    if mapping.group_query is None or not len(mapping.grade):
        return
    parts = [target_entries(mapping.groups, name) for name in mapping.groups]
    whole = Entries(
        np.concatenate([part.owner for part in parts]), np.concatenate([p.item for p in parts])
    )
    graded = Entries(mapping.grades.owners(), numbers(mapping.grades))
    rows = np.unique(mapping.group_query[_missing(graded, whole)])
    faults = Faults(path)
    faults.add("an id is graded and not in its group", some_names(mapping.query, rows), len(rows))
    faults.refuse()


def mapping_notices(mapping: Mapping) -> list[Notice]:
    """Targets that are not subsets of `source`, and ids that are not those of the groups."""
    grouped = mapping.group_query is not None
    lists = mapping.groups if grouped else mapping.ids
    rows = np.arange(len(mapping.query)) if mapping.group_query is None else mapping.group_query
    notices: list[Notice] = []
    said = lists[SOURCE].named() if SOURCE in lists else np.zeros(0, np.int64)
    if len(said):
        whole = target_entries(lists, SOURCE)
        for name in lists:
            part = target_entries(lists, name)
            inside = np.isin(part.owner, said)
            lost = _missing(Entries(part.owner[inside], part.item[inside]), whole)
            _tell(
                notices,
                mapping,
                np.unique(rows[lost]),
                "not-a-subset",
                f"queries in which {name} has ids that {SOURCE} has not",
            )
    for name in lists if mapping.group_query is not None else ():
        given = mapping.ids[name].named()
        if not len(given) or (name != SOURCE and not len(lists[name].named())):
            continue
        ids = target_entries(mapping.ids, name)
        group = target_entries(lists, name)
        owner = rows[group.owner]
        inside = np.isin(owner, given)
        groups = Entries(owner[inside], group.item[inside])
        said_ids = np.isin(ids.owner, given)
        ids = Entries(ids.owner[said_ids], ids.item[said_ids])
        odd = np.union1d(_missing(ids, groups), _missing(groups, ids))
        _tell(
            notices,
            mapping,
            odd,
            "ids-differ-from-groups",
            f"queries whose {name}_ids are not those of their groups; the groups count",
        )
    return notices


def _missing(some: Entries, others: Entries) -> NDArray[np.int64]:
    """Owners with an item in `some` that they do not have in `others`."""
    span = 1 + int(max(some.item.max(initial=0), others.item.max(initial=0)))
    lost = np.setdiff1d(some.owner * span + some.item, others.owner * span + others.item)
    return np.unique(lost // span)


def _tell(
    notices: list[Notice], mapping: Mapping, rows: NDArray[np.int64], kind: str, what: str
) -> None:
    if len(rows):
        names = tuple(some_names(mapping.query, rows))
        notices.append(Notice(kind=kind, what=what, count=len(rows), names=names))


def unknown_items(path: Path, names: Any) -> list[Notice]:
    """Items that rankings or targets name and the list of stored items does not.

    Args:
        path: JSON Lines with an `id` a line.
        names: Of the items named.

    Raises:
        FaultyFile: Lines are not of that shape.
    """
    listed = [
        table.column("id") for table in json_tables(path, ahead(blocks(path)), _ITEMS, _ItemLine)
    ]
    known: Any = pa.chunked_array([c for one in listed for c in one.chunks], pa.string())
    named = names.unique()  # a name can have several numbers
    unknown = named.filter(pc.invert(pc.is_in(named, value_set=known)))
    if not len(unknown):
        return []
    return [
        Notice(
            kind="unknown-item",
            what="items that rankings or targets name and the list of items does not",
            count=len(unknown),
            names=tuple(unknown.slice(0, MOST_NAMES).to_pylist()),
        )
    ]
