"""Reads a CSV or JSON Lines file of scores: one row an item, or one a repeat of it.

`id` names the item. Columns of numbers are metrics, columns of text are cluster keys; `repeat` and
`error` are the only others with a meaning. `FILE.meta.json` beside it declares what was measured.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.items import Items
from memruler.errors import CorpusError, UsageError
from memruler.store.safe import read_bytes

__all__ = ["META_SUFFIX", "read_score_file"]

META_SUFFIX = ".meta.json"
_RESERVED = {"id", "repeat", "error"}
_MISSING = "no value in the file"
_Row = tuple[int, Mapping[str, Any]]


def read_score_file(path: Path, name: str) -> Items:
    """Read a file of scores.

    Args:
        path: `.csv`, or `.jsonl` / `.json` with an object a line.
        name: What to call it.

    Raises:
        UsageError: It is missing, or has another ending.
        CorpusError: A row is wrong; file, line and field are named.
    """
    data = read_bytes(path, managed=False)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError("the file is not UTF-8", where=path, hint=str(error)) from None
    if path.suffix.lower() == ".csv":
        rows = list(_csv_rows(text, path))
    elif path.suffix.lower() in {".jsonl", ".json", ".ndjson"}:
        rows = list(_json_rows(text, path))
    else:
        raise UsageError(
            "neither a run folder nor a file of scores",
            where=path,
            hint="name a run folder, or a .csv or .jsonl file with a column `id`",
        )
    if not rows:
        raise CorpusError("the file has no row", where=path, hint="one row an item")
    return _items(rows, path, name)


def _csv_rows(text: str, path: Path) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        head = next(reader, [])
        if len(set(head)) != len(head):
            raise _fault(path, 1, "a column comes twice", "give each column its own name")
        for cells in reader:
            if len(cells) != len(head):
                what = f"{len(cells)} cells under {len(head)} headings"
                raise _fault(path, reader.line_num, what, "fill every row")
            yield (
                reader.line_num,
                {column: cell for column, cell in zip(head, cells, strict=True) if cell != ""},
            )
    except csv.Error as error:
        raise _fault(path, reader.line_num, f"malformed CSV: {error}", "mend the row") from None


def _json_rows(text: str, path: Path) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, int | float | str | bool | None])
        except msgspec.MsgspecError as error:
            what = f"not an object of plain values: {error}"
            raise _fault(path, number, what, "write one object a line") from None
        yield number, {column: value for column, value in row.items() if value is not None}


def _items(rows: list[_Row], path: Path, name: str) -> Items:
    columns = dict.fromkeys(column for _, row in rows for column in row if column not in _RESERVED)
    metrics = [c for c in columns if all(_is_number(row[c]) for _, row in rows if c in row)]
    grouped: dict[str, dict[str, _Row]] = {}
    for number, row in rows:
        item = str(row.get("id", ""))
        if not item:
            raise _fault(path, number, "no `id`", "name the item in a column `id`")
        repeat = str(row.get("repeat", ""))
        if repeat in grouped.setdefault(item, {}):
            raise _fault(
                path, number, f"the item {item!r} comes twice", "tell repeats by a column `repeat`"
            )
        grouped[item][repeat] = (number, row)
    values: dict[str, dict[str, float]] = {metric: {} for metric in metrics}
    absent: dict[str, dict[str, str]] = {metric: {} for metric in metrics}
    keys: dict[str, dict[str, str]] = {c: {} for c in columns if c not in metrics}
    for item, repeats in grouped.items():
        for key, clusters in keys.items():
            found = {str(row[key]) for _, row in repeats.values() if key in row}
            if len(found) > 1:
                number = next(iter(repeats.values()))[0]
                what = f"repeats of {item!r} have different values of {key}"
                raise _fault(path, number, what, "an item is in one cluster")
            clusters.update(dict.fromkeys([item], next(iter(found))) if found else {})
        for metric in metrics:
            drawn, reason = _drawn(repeats, metric, path)
            if drawn:
                values[metric][item] = _one(drawn)
            else:
                absent[metric][item] = reason
    declared = _declared(path)
    return Items(
        name=name,
        source="file",
        ids=tuple(grouped),
        values=values,
        absent=absent,
        keys=keys,
        deterministic=declared.get("deterministic") is True,
        declared=declared,
        repeats=max(map(len, grouped.values())),
    )


def _drawn(repeats: Mapping[str, _Row], metric: str, path: Path) -> tuple[list[float], str]:
    """The finite values of an item's repeats that did not err, or why there is none."""
    drawn: list[float] = []
    reason = _MISSING
    for number, row in repeats.values():
        if row.get("error"):
            reason = str(row["error"])
        elif metric in row:
            value = float(row[metric])
            if not math.isfinite(value):
                raise _fault(
                    path, number, f"{metric} is not finite", "leave the cell empty and say why"
                )
            drawn.append(value)
    return drawn, reason


def _one(drawn: list[float]) -> float:
    """The one value of an item: the majority of labels 0 and 1 (a tie is 0), else the mean."""
    if len(drawn) > 1 and set(drawn) <= {0.0, 1.0}:
        return float(2 * sum(drawn) > len(drawn))
    return math.fsum(drawn) / len(drawn)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _declared(path: Path) -> dict[str, Any]:
    beside = path.with_name(path.name + META_SUFFIX)
    if not beside.exists():
        return {}
    try:
        return msgspec.json.decode(read_bytes(beside, managed=False), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CorpusError(f"not a JSON object: {error}", where=beside, hint="mend it") from None


def _fault(path: Path, line: int, what: str, hint: str) -> CorpusError:
    return CorpusError(what, where=f"{path}:{line}", hint=hint)
