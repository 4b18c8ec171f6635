"""Tables of targets, one after the other, become a mapping, or are refused."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.exchange.arrays import distinct, joined, marked
from memruler.exchange.faults import Faults
from memruler.exchange.mapping import GRADES, IDS, Lists, Mapping, Sets
from memruler.exchange.ranked_form import whole
from memruler.exchange.rankings import refuse_repeats, some_names

__all__ = ["from_tables"]


def from_tables(path: Path, tables: Iterable[pa.Table], names: Sequence[str]) -> Mapping:
    """The gold from tables with columns of `mapping_schema(names)`.

    Raises:
        FaultyFile: A query stands twice or there is none, a grade is not in 0..1 or is of an id
            that its group lacks, a set is empty, or a query has ids and no groups in a file that
            has groups.
    """
    faults = Faults(path)
    build = _Build(names)
    for table in tables:
        for batch in table.combine_chunks().to_batches():
            build.add(batch)
    if not build.query:
        faults.add("no query in the file", [], 1)
        faults.refuse()
    query = whole(pa.chunked_array(build.query))
    refuse_repeats(faults, query)
    has_groups = joined(build.has_groups).astype(np.bool_)
    if has_groups.any():
        with_ids = [marked(build.ids[name].owners(), len(query)) for name in names]
        bad = np.flatnonzero(np.any(with_ids, axis=0) & ~has_groups)
        what = "a query has ids and no groups, where other queries have groups"
        faults.add(what, some_names(query, bad), len(bad))
    group_query = joined(build.group_query)
    grade = joined(build.grade).astype(np.float64)
    wild = np.flatnonzero(~((grade >= 0) & (grade <= 1)))
    if len(wild):
        rows = distinct(group_query[build.grades.owners()[wild]])
        faults.add("a grade is not from 0 to 1", some_names(query, rows), len(rows))
    for name, sets in build.sets.items():
        rows = distinct(group_query[joined(sets.group)[joined(sets.length) == 0]])
        faults.add(f"a set of {name} is empty", some_names(query, rows), len(rows))
    faults.refuse()
    return Mapping(
        query=query,
        group_query=group_query if has_groups.any() else None,
        groups=build.groups,
        ids=build.ids,
        grades=build.grades,
        grade=grade,
        sets=build.sets,
    )


class _Build:
    """A mapping while its tables come in, some with columns that others lack."""

    def __init__(self, names: Sequence[str]) -> None:
        self.rows = self.first_group = 0
        self.query: list[Any] = []
        self.has_groups: list[NDArray[np.bool_]] = []
        self.group_query: list[NDArray[np.int64]] = []
        self.groups = {name: Lists() for name in names}
        self.ids = {name: Lists() for name in names}
        self.grades = Lists()
        self.grade: list[NDArray[np.float64]] = []
        self.sets: dict[str, Sets] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        self.query.append(batch.column("query_id"))
        for name, lists in self.ids.items():
            if name + IDS in batch.schema.names:
                lists.add(self.rows, batch.column(name + IDS))
        if "groups" in batch.schema.names:
            self._add_groups(batch.column("groups"))
        else:
            self.has_groups.append(np.zeros(len(batch), np.bool_))
        self.rows += len(batch)

    def _add_groups(self, column: Any) -> None:
        self.has_groups.append(column.is_valid().to_numpy(zero_copy_only=False))
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        self.group_query.append(np.repeat(self.rows + np.arange(len(column)), lengths))
        groups = column.flatten()
        inside = {
            field.name: part for field, part in zip(groups.type, groups.flatten(), strict=True)
        }
        for name, lists in self.groups.items():
            if name in inside:
                lists.add(self.first_group, inside[name])
        if "grades" in inside:
            self._add_grades(inside["grades"])
        if "sets" in inside:
            self._add_sets(inside["sets"])
        self.first_group += len(groups)

    def _add_grades(self, column: Any) -> None:
        counts = column.cast(GRADES).fill_null([])
        lengths = np.diff(counts.offsets.to_numpy())
        self.grades.owner.append(np.repeat(self.first_group + np.arange(len(column)), lengths))
        self.grades.items.append(counts.keys)
        self.grade.append(counts.items.to_numpy(zero_copy_only=False))

    def _add_sets(self, column: Any) -> None:
        filled = column.fill_null([])
        lengths = np.diff(filled.offsets.to_numpy())
        owner = np.repeat(self.first_group + np.arange(len(column)), lengths)
        names = filled.keys.to_pylist()
        for name in dict.fromkeys(names):
            of = np.array([one == name for one in names])
            lists = filled.items.filter(pa.array(of))
            group = np.repeat(owner[of], lists.value_lengths().to_numpy(zero_copy_only=False))
            self.sets.setdefault(name, Sets()).add(group, lists.flatten())
