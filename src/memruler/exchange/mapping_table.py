"""Targets as a table: what every format is written from."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.exchange.arrays import absent, distinct
from memruler.exchange.mapping import GRADES, IDS, SETS
from memruler.exchange.tables import lists
from memruler.model.credit import Supports
from memruler.scoring.levels import SEARCH_FAILED
from memruler.scoring.traced import Traced

__all__ = ["UNSEEN", "mapping_table"]

UNSEEN = "unseen"
"""How names begin that stand for what a store does not tell: they keep the place of an anchor."""

_Ints = NDArray[np.int64]


def mapping_table(traced: Traced, names: Any) -> pa.Table:
    """One row a query of the population: `query_id`, `groups`, and `<target>_ids` for each target.

    A query whose search failed has its targets here and no ranking in the trace, so that whoever
    reads both excludes and counts it.

    Args:
        traced: Rankings with at least one target.
        names: Of the items, an Arrow array of strings.

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
    rows = pa.array(np.flatnonzero(traced.counts() | failed[traced.reason]))
    of = next(iter(traced.supports.values())).of
    ends = np.append(0, np.cumsum(of))
    forms = {name: _forms(one, names, int(ends[-1])) for name, one in traced.supports.items()}
    columns: dict[str, Any] = {"query_id": traced.query.take(rows)}
    for name, form in forms.items():
        columns[name + IDS] = _union(form.items, ends).take(rows)
    if traced.anchored:
        columns["groups"] = lists(ends, _groups(forms, ends)).take(rows)
    return pa.table(columns)


class _Forms(msgspec.Struct, frozen=True, eq=False):
    """What supports each anchor, those included that nothing does.

    Attributes:
        items: Arrow array of lists of strings: the single items.
        grades: The same as maps from items to grades; None where all support fully.
        sets: Anchor to its sets of several items.
    """

    items: Any
    grades: Any
    sets: dict[int, list[list[str]]]


def _groups(forms: dict[str, _Forms], ends: _Ints) -> Any:
    """One struct an anchor; anchors are counted from 0 in each query."""
    number: Any = np.arange(ends[-1]) - np.repeat(ends[:-1], np.diff(ends))
    fields: dict[str, Any] = {"anchor": pa.array(number, pa.int64()).cast(pa.string())}
    fields |= {name: form.items for name, form in forms.items()}
    for form in forms.values():
        if form.grades is not None:
            fields["grades"] = form.grades
    if any(form.sets for form in forms.values()):
        sets = [
            [(name, form.sets[group]) for name, form in forms.items() if group in form.sets]
            for group in range(ends[-1])
        ]
        fields["sets"] = pa.array(sets, SETS)
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields))


def _forms(supports: Supports, names: Any, anchors: int) -> _Forms:
    place = supports.place if supports.place is not None else np.arange(anchors)
    anchor = np.repeat(place, np.diff(supports.support_offsets))
    sizes = (
        np.ones(len(anchor), np.int64)
        if supports.set_offsets is None
        else np.diff(supports.set_offsets)
    )
    starts = np.cumsum(sizes) - sizes
    alone = sizes == 1
    owner = anchor[alone]
    text = names.take(pa.array(supports.items[starts[alone]])).cast(pa.string())
    # An anchor that was kept although nothing is known to support it: a name keeps its place.
    empty = absent(place, distinct(anchor))
    if len(empty):
        text = pa.concat_arrays([text, pa.array([f"{UNSEEN}:{one}" for one in empty])])
        owner = np.append(owner, empty)
        order = np.argsort(owner, kind="stable")
        owner, text = owner[order], text.take(pa.array(order))
    ends = np.append(0, np.cumsum(np.bincount(owner, minlength=anchors)))
    grades = None
    if supports.grades is not None:
        offsets: Any = pa.array(ends.astype(np.int32))
        share: Any = pa.array(supports.grades[alone])
        grades = pa.MapArray.from_arrays(offsets, text, share).cast(GRADES)
    sets: dict[int, list[list[str]]] = {}
    for at in np.flatnonzero(~alone):
        items = supports.items[starts[at] : starts[at] + sizes[at]]
        sets.setdefault(int(anchor[at]), []).append(names.take(pa.array(items)).to_pylist())
    return _Forms(items=lists(ends, text), grades=grades, sets=sets)


def _union(items: Any, ends: _Ints) -> Any:
    """The distinct single items of each query, in order of first mention."""
    encoded = items.values.dictionary_encode()
    query = np.repeat(np.arange(len(ends) - 1), np.diff(items.offsets.to_numpy()[ends]))
    span = len(encoded.dictionary) + 1
    _, first = np.unique(query * span + encoded.indices.to_numpy(), return_index=True)
    first.sort()
    counts = np.bincount(query[first], minlength=len(ends) - 1)
    return lists(np.append(0, np.cumsum(counts)), items.values.take(pa.array(first)))
