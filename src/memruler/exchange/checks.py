"""What is odd about targets and items; it is told, and nothing is repaired."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.exchange.ahead import ahead
from memruler.exchange.arrays import absent, distinct, marked
from memruler.exchange.faults import Faults
from memruler.exchange.gold import PARTS, SOURCE, Entries, numbers
from memruler.exchange.json_lines import json_tables
from memruler.exchange.lines import blocks
from memruler.exchange.mapping import Mapping
from memruler.exchange.rankings import some_names
from memruler.scoring.traced import MOST_NAMES, Notice

__all__ = ["agree", "mapping_notices", "refuse_stray_grades", "unknown_items"]

_ITEMS = pa.schema([pa.field("id", pa.string(), nullable=False)])


class _ItemLine(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(min_length=1)]


def agree(mapping: Mapping) -> None:
    """Find the `<name>_ids` that are those of the groups, one after the other.

    That is how most files are written, and it saves looking up every name twice. Those that are the
    same in another order are left to `mapping_notices`.
    """
    if mapping.group_query is None:
        return
    for name, ids in mapping.ids.items():
        parts = [mapping.groups[name]]
        if name == SOURCE and not len(parts[0].named()):
            parts = [mapping.groups[part] for part in PARTS if part in mapping.groups]
        owner = np.concatenate([mapping.group_query[part.owners()] for part in parts])
        order = np.argsort(owner, kind="stable")
        if np.array_equal(ids.owners(), owner[order]):
            text: Any = pa.chunked_array([one for part in parts for one in part.items], pa.string())
            if len(parts) > 1:
                text = text.combine_chunks().take(pa.array(order))
            ids.agreed = pa.chunked_array(ids.items, pa.string()).equals(_chunked(text))


def _chunked(text: Any) -> Any:
    return text if isinstance(text, pa.ChunkedArray) else pa.chunked_array([text])


def refuse_stray_grades(path: Path, mapping: Mapping, entries: dict[str, Entries]) -> None:
    """Refuse grades of ids that their group does not have.

    Args:
        path: Named in the error.
        mapping: The targets.
        entries: Of every target of the groups.

    Raises:
        FaultyFile: There are some.
    """
    if mapping.group_query is None or not len(mapping.grade):
        return
    whole = Entries(
        np.concatenate([one.owner for one in entries.values()]),
        np.concatenate([one.item for one in entries.values()]),
    )
    graded = Entries(mapping.grades.owners(), numbers(mapping.grades))
    rows = distinct(mapping.group_query[_missing(graded, whole)])
    faults = Faults(path)
    faults.add("an id is graded and not in its group", some_names(mapping.query, rows), len(rows))
    faults.refuse()


def mapping_notices(mapping: Mapping, entries: dict[str, Entries]) -> list[Notice]:
    """Targets that are not subsets of `source`, and ids that are not those of the groups.

    Args:
        mapping: The targets.
        entries: Of every target: of the groups, or without groups of the queries.
    """
    notices: list[Notice] = []
    lists = mapping.ids if mapping.group_query is None else mapping.groups
    said = lists[SOURCE].named() if SOURCE in lists else np.zeros(0, np.int64)
    for name in [name for name in entries if name != SOURCE] if len(said) else ():
        lost = _missing(_of(entries[name], said), entries[SOURCE])
        rows = lost if mapping.group_query is None else distinct(mapping.group_query[lost])
        what = f"queries in which {name} has ids that {SOURCE} has not"
        _tell(notices, mapping, rows, "not-a-subset", what)
    if mapping.group_query is not None:
        for name, one in entries.items():
            given = mapping.ids[name].named()
            if len(given) and not mapping.ids[name].agreed:
                groups = _of(Entries(mapping.group_query[one.owner], one.item), given)
                ids = Entries(mapping.ids[name].owners(), numbers(mapping.ids[name]))
                rows = distinct(np.append(_missing(ids, groups), _missing(groups, ids)))
                what = f"queries whose {name}_ids are not those of their groups; the groups count"
                _tell(notices, mapping, rows, "ids-differ-from-groups", what)
    return notices


def _of(entries: Entries, owners: NDArray[np.int64]) -> Entries:
    """The entries of some owners."""
    size = 1 + int(max(entries.owner.max(initial=0), owners.max(initial=0)))
    kept = marked(owners, size)[entries.owner]
    return entries if kept.all() else Entries(entries.owner[kept], entries.item[kept])


def _missing(some: Entries, others: Entries) -> NDArray[np.int64]:
    """Owners with an item in `some` that they do not have in `others`."""
    span = 1 + int(max(some.item.max(initial=0), others.item.max(initial=0)))
    keys = (distinct(one.owner * span + one.item) for one in (some, others))
    return distinct(absent(*keys) // span)


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
