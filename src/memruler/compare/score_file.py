"""Reads a CSV or JSON Lines file of scores: one row an item, or one a repeat of it.

`id` names the item. A column of numbers is a metric, and any column can be a cluster key; `repeat`,
`error` and `top` (see `repeat_file`) are the only others with a meaning. `FILE.meta.json` beside it
declares what was measured.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memruler.compare.items import Items
from memruler.compare.score_rows import LIST, Row, fault, read_rows
from memruler.corpora.jsontext import decode
from memruler.errors import CorpusError
from memruler.store.safe import read_bytes

__all__ = [
    "META_SUFFIX",
    "MISSING",
    "RESERVED",
    "Repeats",
    "cell_number",
    "cluster_column",
    "group_rows",
    "metric_columns",
    "read_declared",
    "read_score_file",
    "row_error",
]

META_SUFFIX = ".meta.json"
RESERVED = {"id", "repeat", "error", LIST}
_NO_ERROR = {"", "0", "0.0", "false"}
_LABELS = {"true": 1.0, "false": 0.0}
MISSING = "no value in the file"
_LARGEST = 1e100
Repeats = Mapping[str, Row]
"""One item's rows, by the text that tells its repeats apart."""


def read_score_file(path: Path, name: str) -> Items:
    """Read a file of scores.

    Args:
        path: `.csv`, or `.jsonl` / `.json` with an object a line.
        name: What to call it.

    Raises:
        UsageError: It is missing, or has another ending.
        CorpusError: A row is wrong; file, line and field are named.
    """
    return _items(read_rows(path), path, name)


def _items(rows: list[Row], path: Path, name: str) -> Items:
    columns = dict.fromkeys(column for _, row in rows for column in row if column not in RESERVED)
    metrics = metric_columns(rows)
    grouped = group_rows(rows, path)
    values: dict[str, dict[str, float]] = {}
    absent: dict[str, dict[str, str]] = {}
    majority: set[str] = set()
    for metric in metrics:
        drawn, absent[metric] = _drawn(grouped, metric, path)
        # Of the whole column, so that a score that happens to be 0 and 1 in one item stays a mean.
        labels = all(value in {0.0, 1.0} for found in drawn.values() for value in found)
        values[metric] = {item: _one(found, labels=labels) for item, found in drawn.items()}
        if labels and any(len(set(found)) > 1 for found in drawn.values()):
            majority.add(metric)
    declared = read_declared(path)
    if majority and declared.get("deterministic") is True:
        raise CorpusError(
            f"declared deterministic, but repeats of one item differ in {min(majority)}",
            where=path,
            hint=f"mend {path.name}{META_SUFFIX}: what re-rolls needs an interval",
        )
    return Items(
        name=name,
        source="file",
        ids=tuple(grouped),
        values=values,
        absent=absent,
        keys={
            column: cluster_column(grouped, column, path, text=column not in values)
            for column in sorted(columns, key=values.__contains__)
        },
        deterministic=declared.get("deterministic") is True,
        declared=declared,
        repeats=max(map(len, grouped.values())),
        majority=frozenset(majority),
    )


def metric_columns(rows: list[Row]) -> list[str]:
    """The columns of numbers, in order; a repeat that erred has no say."""
    sound = [row for _, row in rows if row_error(row) is None]
    columns = dict.fromkeys(column for row in sound for column in row if column not in RESERVED)
    return [column for column in columns if _is_metric(column, sound)]


def group_rows(rows: list[Row], path: Path) -> dict[str, dict[str, Row]]:
    """Item to its repeats.

    Raises:
        CorpusError: A row has no `id`, or is the same repeat of an item as another.
    """
    grouped: dict[str, dict[str, Row]] = {}
    for number, row in rows:
        item = str(row.get("id", ""))
        if not item:
            raise fault(path, number, "no `id`", "name the item in a column `id`")
        repeat = str(row.get("repeat", ""))
        if repeat in grouped.setdefault(item, {}):
            what = f"the item {item!r} comes twice"
            raise fault(path, number, what, "tell repeats by a column `repeat`")
        grouped[item][repeat] = (number, row)
    return grouped


def _drawn(
    grouped: Mapping[str, Repeats], metric: str, path: Path
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """The values of each item's repeats that did not err, and why the other items have none."""
    values: dict[str, list[float]] = {}
    absent: dict[str, str] = {}
    for item, repeats in grouped.items():
        drawn: list[float] = []
        reason = MISSING
        for number, row in repeats.values():
            if (error := row_error(row)) is not None:
                reason = f"error: {error}"
            elif metric in row:
                value = cell_number(row[metric])
                if value is None or not abs(value) < _LARGEST:
                    what = f"{metric} is not finite, or beyond {_LARGEST:g}"
                    raise fault(path, number, what, "leave the cell empty and say why in `error`")
                drawn.append(value)
        if drawn:
            values[item] = drawn
        else:
            absent[item] = reason
    return values, absent


def cluster_column(
    grouped: Mapping[str, Repeats], column: str, path: Path, *, text: bool
) -> dict[str, str]:
    """The cluster of each item; none for a number that its repeats do not share.

    Args:
        grouped: Item to its repeats.
        column: Holds the cluster.
        path: Of the file, for messages.
        text: Whether repeats that do not share it are a fault.

    Raises:
        CorpusError: With `text`, repeats of one item are in different clusters.
    """
    clusters = {}
    for item, repeats in grouped.items():
        found = {str(row[column]) for _, row in repeats.values() if column in row}
        if len(found) == 1:
            clusters[item] = found.pop()
        elif found and text:
            number = next(iter(repeats.values()))[0]
            what = f"repeats of {item!r} have different values of {column}"
            raise fault(path, number, what, "an item is in one cluster")
    return clusters


def _one(drawn: list[float], *, labels: bool) -> float:
    """The one value of an item: the majority of labels 0 and 1 (a tie is 0), else the mean."""
    if labels:
        return float(2 * sum(drawn) > len(drawn))
    return math.fsum(drawn) / len(drawn)


def row_error(row: Mapping[str, Any]) -> str | None:
    """Why a row has no value; None where it did not err."""
    text = str(row.get("error", "")).strip()
    return None if text.lower() in _NO_ERROR else text


def _is_metric(column: str, rows: list[Mapping[str, Any]]) -> bool:
    cells = [row[column] for row in rows if column in row]
    return bool(cells) and all(cell_number(cell) is not None for cell in cells)


def cell_number(cell: float | str | bool) -> float | None:
    """A cell as a number; labels may be written `true` and `false`; None for text."""
    text = str(cell).strip().lower()
    if text in _LABELS or "_" in text:  # Python alone reads 1_000 as a number
        return _LABELS.get(text)
    try:
        return float(text)
    except ValueError:
        return None


def read_declared(path: Path) -> dict[str, Any]:
    """What the file beside a file of scores declares; empty where there is none.

    Raises:
        CorpusError: It is no JSON object.
    """
    beside = path.with_name(path.name + META_SUFFIX)
    if not beside.exists():
        return {}
    return decode(read_bytes(beside, managed=False), dict[str, Any], where=beside)
