"""The rows of the explorer as columns, over one run or two: counted, filtered and listed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.compare.record import Comparison
from memruler.errors import FormatError
from memruler.model.failures import STAGES
from memruler.report.explore.measured import Measured
from memruler.report.explore.record import Changed
from memruler.store.tables import batches

__all__ = ["NOT_HERE", "WAYS", "Columns", "columns_of"]

NOT_HERE: Final = "not_in_this_run"
"""Reason of a query that a run does not have."""

WAYS: Final[tuple[Changed, ...]] = ("up", "down", "other")
"""Ways to change, by code; 0 stands for none of them."""

_Ints = NDArray[np.int64]
_Mask = NDArray[np.bool_]


class Columns(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """N rows over R runs: first the queries of the first run, then those that only the other has.

    Attributes:
        at: Of each run, the query of each row; -1 where it has none [R][N].
        category: Place in `categories` [N].
        categories: Names, in order of appearance.
        stage: Of each run, the place in `STAGES`; -1 without one [R][N].
        value: Of each run, the headline; not a number where there is none [R][N].
        rank: Of each run, of the first evidence; 0 without any [R][N].
        changed: Place in `WAYS` plus 1; 0 without a change [N]. None where it is not known.
    """

    at: tuple[_Ints, ...]
    category: _Ints
    categories: tuple[str, ...]
    stage: tuple[NDArray[np.int8], ...]
    value: tuple[NDArray[np.float64], ...]
    rank: tuple[_Ints, ...]
    changed: NDArray[np.int8] | None

    def excluded(self) -> _Mask:
        """Rows without a headline value in some run [N]."""
        return _some([np.isnan(value) for value in self.value])

    def missed(self) -> _Mask:
        """Rows whose headline value is below 1 in some run [N]."""
        return _some([value < 1 for value in self.value])

    def staged(self, stage: str) -> _Mask:
        """Rows that some run lost at a stage [N]."""
        code = STAGES.index(stage) if stage in STAGES else len(STAGES)
        return _some([column == code for column in self.stage])

    def way(self, row: int) -> Changed | None:
        """How a row changed."""
        code = 0 if self.changed is None else int(self.changed[row])
        return WAYS[code - 1] if code else None


def columns_of(runs: Sequence[Measured], comparison: Comparison | None) -> Columns:
    """Match the queries of the runs, and line up what is known of them.

    Args:
        runs: One, or baseline and candidate.
        comparison: Of the two; None where they do not compare.

    Raises:
        FormatError: The comparison names a query that the baseline lacks.
    """
    at = _matched(runs)
    names: dict[str, int] = {}
    category = np.zeros(len(at[0]), np.int64)
    for run, query in reversed(list(zip(runs, at, strict=True))):
        there = query >= 0
        category[there] = [
            names.setdefault(str(name), len(names)) for name in run.filed.run.category[query[there]]
        ]
    return Columns(
        at=at,
        category=category,
        categories=tuple(names),
        stage=tuple(
            _spread(np.where(run.filed.state >= 0, run.filed.state, -1), query, -1)
            for run, query in zip(runs, at, strict=True)
        ),
        value=tuple(
            _spread(run.value(), query, np.nan) for run, query in zip(runs, at, strict=True)
        ),
        rank=tuple(_spread(run.rank, query, 0) for run, query in zip(runs, at, strict=True)),
        changed=None if comparison is None else _changed(runs[0], comparison, len(at[0])),
    )


def _some(masks: Sequence[_Mask]) -> _Mask:
    return np.logical_or(masks[0], masks[-1])


def _spread(values: NDArray[Any], query: _Ints, absent: float) -> NDArray[Any]:
    return np.append(values, np.array([absent], values.dtype))[query]


def _matched(runs: Sequence[Measured]) -> tuple[_Ints, ...]:
    """The query of each row in each run."""
    own = np.arange(len(runs[0].rank), dtype=np.int64)
    if len(runs) == 1:
        return (own,)
    digests = [run.filed.manifest.tables.get("queries") for run in runs]
    if digests[0] is not None and digests[0] == digests[1]:
        return own, own
    # Position alone is not enough: another corpus may have other questions there.
    place = {name: at for at, name in enumerate(_named(runs[0], whole=True))}
    found = np.array([place.get(name, -1) for name in _named(runs[1], whole=True)], np.int64)
    other = np.full(len(own), -1, np.int64)
    shared = np.flatnonzero(found >= 0)
    other[found[shared]] = shared
    alone = np.flatnonzero(found < 0)
    return np.append(own, np.full(len(alone), -1)), np.append(other, alone)


def _named(run: Measured, *, whole: bool) -> Iterator[tuple[Any, ...]]:
    """Instance key and position of each query, with `whole` its id and text too."""
    names = ["instance_key", "query", *(["id", "text"] if whole else [])]
    for batch in batches(run.filed.folder, "queries", columns=names):
        rows = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
        # The hash stands for long texts, which need not stay in memory.
        yield from ((key, query, hash(tuple(rest))) for key, query, *rest in rows)


def _changed(base: Measured, comparison: Comparison, rows: int) -> NDArray[np.int8]:
    wanted = {(query.instance, query.query): query.headline for query in comparison.queries}
    found = np.zeros(rows, np.int8)
    for row, (key, query, _) in enumerate(_named(base, whole=False)):
        if (key, query) in wanted:
            found[row] = 1 + WAYS.index(wanted.pop((key, query)) or "other")
    if wanted:
        raise FormatError(
            "the comparison is of other runs: it names a query that the baseline lacks",
            where=base.filed.folder.path,
            hint="compare these two runs",
        )
    return found
