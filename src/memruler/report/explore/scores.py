"""The scores of a run as the explorer shows them: read from scores.parquet, never made anew."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.compare.headline import LEVELS
from memruler.errors import FormatError
from memruler.metrics.names import METRICS, MetricName
from memruler.model.summary import Level, Summary
from memruler.report.explore.record import Value
from memruler.report.view import headline_of
from memruler.store.binding import file_sha256
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["Headline", "Scores", "places_of", "scores_of"]

_AGAIN: Final = "score the run again"

_Ints = NDArray[np.int64]


class Headline(msgspec.Struct, frozen=True):
    """Which number a query is judged by."""

    level: Level
    metric: MetricName


class Scores(msgspec.Struct, frozen=True, eq=False):
    """Some columns of the scores, in the order of the queries.

    Attributes:
        headline: None where no query has a value at any cut-off.
        values: Level and metric id to values; not a number where there is none [Q].
        excluded: Level to the reasons of the queries that have none, or None [Q].
    """

    headline: Headline | None
    values: dict[tuple[Level, str], NDArray[np.float64]]
    excluded: dict[Level, NDArray[np.object_]]

    def of(self, query: int) -> tuple[Value, ...]:
        """Every value of one query; None with its reason."""
        return tuple(
            Value(level=level, metric=metric, value=None, reason=self.reason(level, metric, query))
            if np.isnan(values[query])
            else Value(level=level, metric=metric, value=float(values[query]), reason=None)
            for (level, metric), values in self.values.items()
        )

    def reason(self, level: Level, metric: str, query: int) -> str | None:
        """Why a query has no value of a metric; None where it has one."""
        if not np.isnan(self.values[level, metric][query]):
            return None
        told = self.excluded[level][query]
        return str(told) if told is not None else f"list_shorter_than_{metric.rpartition('@')[2]}"


def scores_of(folder: RunFolder, key: _Ints, headline: Headline | None) -> Scores:
    """Read every metric at the headline's cut-off, at both levels.

    Args:
        folder: A scored run.
        key: Of each query, `instance << 32 | query` [Q].
        headline: None for the run's own.

    Raises:
        FormatError: The run was not scored, or its scores are not those of its summary.
    """
    deciding = headline or _own(_summary(folder))
    if deciding is None:
        return Scores(None, {}, {})
    k = deciding.metric.k
    wanted = [f"{name}@{k}" for name, of in METRICS.items() if of.kind == "per-query"]
    table = read_table(folder, "scores")
    names = [name for name in wanted if name in table.column_names]
    values: dict[tuple[Level, str], NDArray[np.float64]] = {}
    excluded: dict[Level, NDArray[np.object_]] = {}
    for level in LEVELS:
        rows = table.filter(pc.equal(table.column("level"), pa.scalar(level)))
        if not rows.num_rows:
            continue
        at = places_of(_ints(rows, "instance") << 32 | _ints(rows, "query"), key)
        if len(at) != rows.num_rows or np.any(at < 0):
            raise FormatError(
                "scores.parquet does not hold one row per query and level",
                where=folder.path,
                hint=_AGAIN,
            )
        excluded[level] = np.asarray(rows.column("excluded").to_pylist(), dtype=object)[at]
        for name in names:
            column: Any = rows.column(name).combine_chunks()
            values[level, name] = np.asarray(column.fill_null(np.nan), np.float64)[at]
    if (deciding.level, str(deciding.metric)) not in values:
        raise FormatError(
            f"scores.parquet lacks {deciding.metric} at the {deciding.level} level",
            where=folder.path,
            hint=_AGAIN,
        )
    return Scores(deciding, values, excluded)


def places_of(there: _Ints, wanted: Sequence[int] | _Ints) -> _Ints:
    """Where each wanted key stands, -1 where it does not.

    Args:
        there: Distinct keys.
        wanted: Keys [W].
    """
    if np.array_equal(there, wanted):
        return np.arange(len(there), dtype=np.int64)
    order = np.argsort(there, kind="stable")
    ordered = there[order]
    place = np.searchsorted(ordered, wanted)
    inside = np.flatnonzero(place < len(there))
    found = np.full(len(wanted), -1, np.int64)
    held = inside[ordered[place[inside]] == np.asarray(wanted)[inside]]
    found[held] = order[place[held]]
    return found


def _summary(folder: RunFolder) -> Summary:
    if not folder.has("summary.json") or not folder.has("scores.parquet"):
        raise FormatError("this run was not scored", where=folder.path, hint=_AGAIN)
    try:
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(
            f"summary.json cannot be read: {error}", where=folder.path, hint=_AGAIN
        ) from error
    if summary.tables.get("scores") != file_sha256(folder, "scores.parquet"):
        raise FormatError(
            "scores.parquet is not the table that summary.json was made with",
            where=folder.path,
            hint=_AGAIN,
        )
    return summary


def _own(summary: Summary) -> Headline | None:
    head = headline_of(summary) if summary.slices else None
    return None if head is None else Headline(head[1].level, MetricName.parse(head[0]))


def _ints(table: pa.Table, name: str) -> _Ints:
    return np.asarray(table.column(name).combine_chunks(), np.int64)
