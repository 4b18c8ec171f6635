"""The rows of a CSV or JSON Lines file, each with its line."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memruler.corpora.jsontext import decode
from memruler.errors import CorpusError, UsageError
from memruler.store.safe import read_bytes

__all__ = ["LIST", "Row", "fault", "read_rows"]

LIST = "top"
"""The one column whose cells may be lists in JSON: the keys that a reader was given, in order."""

Row = tuple[int, Mapping[str, Any]]
"""The line it ends on, and its cells that are not empty."""


def fault(path: Path, line: int, what: str, hint: str) -> CorpusError:
    """What is wrong with a row."""
    return CorpusError(what, where=f"{path}:{line}", hint=hint)


def read_rows(path: Path) -> list[Row]:
    """Read them; at least one.

    Raises:
        UsageError: The file is missing, or has another ending than `.csv` or `.jsonl`.
        CorpusError: A row is wrong.
    """
    data = read_bytes(path, managed=False)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError("the file is not UTF-8", where=path, hint=str(error)) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise fault(path, line, "a NUL character", "no id, text or number holds one")
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
    return rows


def _csv_rows(text: str, path: Path) -> Iterator[Row]:
    # No newline of a quoted cell is translated, so that it stays what it would be in JSON.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        if len(set(head)) != len(head):
            raise fault(path, 1, "a column comes twice", "give each column its own name")
        for cells in reader:
            if not cells:
                continue  # an empty line, such as the last one
            if len(cells) != len(head):
                what = f"{len(cells)} cells under {len(head)} headings"
                raise fault(path, reader.line_num, what, "fill every row")
            yield (
                reader.line_num,
                {column: cell for column, cell in zip(head, cells, strict=True) if cell != ""},
            )
    except csv.Error as error:
        raise fault(path, reader.line_num, f"malformed CSV: {error}", "mend the row") from None


def _json_rows(text: str, path: Path) -> Iterator[Row]:
    # Not splitlines: JSON may hold line separators of other kinds inside its texts.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            kind = dict[str, int | float | str | bool | list[str | int] | None]
            row = decode(line.encode(), kind, where=f"{path}:{number}")
            for column, value in row.items():
                if isinstance(value, list) and column != LIST:
                    raise fault(path, number, f"{column} is a list", f"only `{LIST}` may be one")
            # An empty list says something: there was nothing to be given.
            yield (
                number,
                {
                    column: value
                    for column, value in row.items()
                    if value is not None and value != ""
                },
            )
