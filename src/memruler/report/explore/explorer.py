"""Explores the queries of one run, or of two: everything is read from their folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from memruler.compare.exact import compare
from memruler.compare.load import name_of, names
from memruler.compare.record import Comparison, Refused
from memruler.compare.refusal import Incomparable
from memruler.errors import UsageError
from memruler.metrics.names import MetricName
from memruler.model.failures import STAGES
from memruler.report.explore.columns import WAYS, Columns, columns_of
from memruler.report.explore.listing import index_of, matching, rows_of
from memruler.report.explore.measured import Measured, open_run
from memruler.report.explore.record import Count, Filter, Found, Index, Overview, QueryDetail
from memruler.report.explore.scores import Headline
from memruler.report.explore.single import detail_of

__all__ = ["LARGEST_PAGE", "Explorer"]

LARGEST_PAGE: Final = 500
"""Most rows that one `find` gives."""


class Explorer:
    """The queries of one run, or of two side by side; made by `open`, asked by any thread."""

    def __init__(self, runs: Sequence[Measured], columns: Columns, why: Sequence[str]) -> None:
        self._runs, self._columns, self._why = tuple(runs), columns, tuple(why)

    @classmethod
    def open(
        cls, paths: Sequence[Path], compared: Comparison | Refused | None = None
    ) -> "Explorer":
        """Read one run, or a baseline and a candidate.

        Args:
            paths: One run folder or two.
            compared: What `memruler.compare.exact.compare` said of the two, where a change was
                declared; None to ask it, with nothing declared.

        Raises:
            FormatError: A folder is no finished and scored run, or its files do not fit together;
                or `compared` is of other runs.
            UsageError: No run, more than two, or one run twice.
        """
        if len(paths) not in {1, 2}:
            raise UsageError("the explorer shows one run, or two side by side")
        if len(paths) == 1:
            run = open_run(paths[0], name_of(paths[0]))
            return cls([run], columns_of([run], None), [])
        if paths[0].resolve() == paths[1].resolve():
            raise UsageError("a run cannot be compared with itself", where=paths[0])
        found = _compared(paths[0], paths[1]) if compared is None else compared
        comparison = found if isinstance(found, Comparison) else None
        headline, why = None, []
        if isinstance(found, Refused):
            why = [reason.what for reason in found.reasons]
        else:
            headline = Headline(found.headline.level, _metric(found))
        called = names(paths[0], paths[1])
        runs = [open_run(path, name, headline) for path, name in zip(paths, called, strict=True)]
        return cls(runs, columns_of(runs, comparison), why)

    def overview(self) -> Overview:
        """What a page needs before it shows a row."""
        columns = self._columns
        codes = columns.changed
        sizes = np.bincount(columns.category, minlength=len(columns.categories)).tolist()
        stages = [Count(stage, int(columns.staged(stage).sum())) for stage in STAGES]
        return Overview(
            runs=tuple(run.head() for run in self._runs),
            rows=len(columns.category),
            categories=tuple(map(Count, columns.categories, sizes)),
            stages=tuple(count for count in stages if count.of),
            excluded=int(columns.excluded().sum()),
            missed=int(columns.missed().sum()),
            changed=None
            if codes is None
            else {way: int((codes == code).sum()) for code, way in enumerate(WAYS, 1)},
            why=self._why,
        )

    def index(self) -> Index:
        """Every row as columns."""
        return index_of(self._runs, self._columns)

    def find(self, wanted: Filter, offset: int = 0, limit: int = 50) -> Found:
        """A page of the rows that a filter lets through, in order.

        Args:
            wanted: The filter.
            offset: Rows left out at the beginning, not negative.
            limit: Most rows given, from 0 to `LARGEST_PAGE`.

        Raises:
            UsageError: `offset` or `limit` is out of range, or the runs do not compare and rows
                that changed are asked for.
        """
        if offset < 0 or not 0 <= limit <= LARGEST_PAGE:
            raise UsageError(f"a page has from 0 to {LARGEST_PAGE} rows, and begins at 0 or later")
        rows = matching(self._runs, self._columns, wanted)
        page = rows[offset : offset + limit].tolist()
        return Found(total=len(rows), offset=offset, rows=rows_of(self._runs, self._columns, page))

    def detail(self, row: int) -> QueryDetail:
        """One query in full.

        Args:
            row: Its number, as rows name it.

        Raises:
            UsageError: There is no such row.
            FormatError: A table was changed since it was opened.
        """
        last = len(self._columns.category) - 1
        if not 0 <= row <= last:
            raise UsageError(f"there is no row {row}", hint=f"rows go from 0 to {last}")
        return detail_of(self._runs, self._columns, row)


def _compared(base: Path, candidate: Path) -> Comparison | Refused:
    try:
        return compare(base, candidate)
    except Incomparable as error:
        return error.record


def _metric(comparison: Comparison) -> MetricName:
    return MetricName(comparison.headline.metric, comparison.headline.k)
