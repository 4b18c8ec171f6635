"""The folder of a grading: `<run>/answers/<name>/grades/<grade>/`.

Everything is computed before anything is written, and the manifest is written last: a folder
without one is no grading, and files that are not those of its manifest are refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa

from memruler.errors import FormatError
from memruler.model.answers import Graded, GradesManifest
from memruler.store.anchor import resolve
from memruler.store.answers import ANSWERS, answers_path
from memruler.store.below import (
    claim_below,
    read_below,
    same_but_for_the_call,
    standing_below,
    write_below,
)
from memruler.store.binding import file_sha256
from memruler.store.faults import explained
from memruler.store.folder import MANIFEST, RunFolder, check_stem
from memruler.store.tables import read_table, write_table

__all__ = [
    "GRADES",
    "GradeRow",
    "claim_grades",
    "grade_names",
    "grades_path",
    "is_grades",
    "read_manifest",
    "read_rows",
    "write_grades",
]

GRADES: Final = "grades"
_TABLE = "grades"
_DETAIL = "detail_"
_AGAIN = "grade the answers again: memruler grade RUN"
_ENDINGS = {
    "grades": "grades.parquet",
    "scores": "scores.csv",
    "meta": "scores.csv.meta.json",
    "summary": "summary.json",
}
"""What the manifest's digests are of."""


class GradeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, graded once.

    Attributes:
        instance, query, repeat: Positions, and the reader's draw.
        draw: The judge's, 0-based; 0 where nobody is asked twice.
        instance_key: The conversation.
        id: Of the query.
        category: Its category's name.
        answerable: False when the data set says that no answer exists.
        graded: The outcome.
    """

    instance: int
    query: int
    repeat: int
    draw: int = 0
    instance_key: str
    id: str
    category: str
    answerable: bool
    graded: Graded


def grades_path(run: Path, answers: str, name: str) -> Path:
    """Where the grading `name` of the answers `answers` of a run lies.

    Raises:
        UsageError: A name is no plain folder name.
    """
    check_stem(name)
    return answers_path(run, answers) / GRADES / name


def grade_names(run: Path, answers: str) -> tuple[str, ...]:
    """The gradings of some answers, sorted; empty where there are none."""
    root = answers_path(run, answers) / GRADES
    with explained("list the folder", root):
        return tuple(sorted(path.name for path in root.glob("*") if is_grades(path)))


def is_grades(path: Path) -> bool:
    """Whether a path looks like the folder of a grading."""
    return path.resolve().parent.name == GRADES and (path / MANIFEST).is_file()


@contextmanager
def claim_grades(path: Path) -> Iterator[RunFolder]:
    """Make or take up a folder of grades and lock it.

    Raises:
        UsageError: Another process holds it.
        InstrumentError: It cannot be written to.
    """
    run = path.parents[3]  # as `grades_path` builds it: links to a run are fine, in one are not
    path = resolve(run) / path.relative_to(run)
    with claim_below(path, named="the folder", busy="writing these grades") as folder:
        yield folder


def write_grades(
    folder: RunFolder,
    manifest: GradesManifest,
    rows: Sequence[GradeRow],
    files: Mapping[str, bytes],
) -> GradesManifest:
    """Write a grading; nothing counts before its manifest stands.

    Where everything but the times and the cost of the call is as it was, nothing of what stands
    there changes.

    Args:
        folder: Claimed.
        manifest: Without digests.
        rows: In order.
        files: Name to bytes: `scores.csv`, `summary.json` and others.

    Returns:
        What was written, with digests; or what stood there, if it was the same.
    """
    before = standing_below(folder, GradesManifest, named=GRADES, again=_AGAIN)
    write_table(folder, _TABLE, _table(rows))
    for name, data in files.items():
        folder.write(name, data)
    made = msgspec.structs.replace(manifest, tables=_digests(folder))
    if before is not None and same_but_for_the_call(before, made):
        return before
    write_below(folder, made)
    return made


def read_manifest(path: Path) -> GradesManifest:
    """What a grading is.

    Raises:
        FormatError: It is no grading, of another version, damaged, or its files are not those
            that it was finished with.
    """
    folder = RunFolder(path.resolve())
    if not path.is_dir() or not folder.has(MANIFEST):
        raise FormatError("not a folder of grades", where=path, hint=_AGAIN)
    manifest = read_below(folder, GradesManifest, named=GRADES, again=_AGAIN)
    if _digests(folder) != manifest.tables:
        raise FormatError(
            "the files are not the ones that this grading was finished with",
            where=path,
            hint=_AGAIN,
        )
    answers = path.resolve().parent.parent / f"{ANSWERS}.parquet"
    if answers.exists() and (
        file_sha256(RunFolder(answers.parent), answers.name) != manifest.answers_sha256
    ):
        raise FormatError(
            "the answers have changed since they were graded", where=path, hint=_AGAIN
        )
    return manifest


def read_rows(path: Path) -> list[GradeRow]:
    """The rows of a grading, in order.

    Raises:
        FormatError: The table is missing, damaged, or has other columns.
    """
    table = read_table(RunFolder(path.resolve()), _TABLE)
    lacking = set(_BASE.names) - set(table.column_names)
    if lacking:
        raise FormatError(
            f"grades.parquet lacks {', '.join(sorted(lacking))}", where=path, hint=_AGAIN
        )
    details = [name for name in table.column_names if name.startswith(_DETAIL)]
    return [_row(found, details) for found in table.to_pylist()]


def _row(found: Mapping[str, Any], details: Iterable[str]) -> GradeRow:
    named = _names(found["details"])
    return GradeRow(
        **{name: found[name] for name in _KEYS},
        graded=Graded(
            value=found["value"],
            reason=found["reason"],
            label=found["label"],
            detail={
                name.removeprefix(_DETAIL): found[name]
                for name in details
                if name.removeprefix(_DETAIL) in named
            },
            reply=found["reply"],
        ),
    )


def _names(text: str) -> set[str]:
    """Names of the details that a row has, of which some have no number."""
    return set(msgspec.json.decode(text, type=list[str]))


_KEYS = ("instance", "query", "repeat", "draw", "instance_key", "id", "category", "answerable")
_FIELDS: list["pa.Field[Any]"] = [
    pa.field("instance", pa.int32(), nullable=False),
    pa.field("query", pa.int32(), nullable=False),
    pa.field("repeat", pa.int16(), nullable=False),
    pa.field("draw", pa.int16(), nullable=False),
    pa.field("instance_key", pa.string(), nullable=False),
    pa.field("id", pa.string(), nullable=False),
    pa.field("category", pa.string(), nullable=False),
    pa.field("answerable", pa.bool_(), nullable=False),
    pa.field("value", pa.float64()),
    pa.field("reason", pa.string()),
    pa.field("label", pa.string()),
    pa.field("reply", pa.string()),
    pa.field("details", pa.string(), nullable=False),
]
_BASE = pa.schema(_FIELDS)
"""A row a grading of an answer. `details` is the JSON list of the row's details; each stands in a
column `detail_<name>`, null where it has no number."""


def _table(rows: Sequence[GradeRow]) -> pa.Table:
    names = sorted({name for row in rows for name in row.graded.detail})
    schema = _BASE
    for name in names:
        schema = schema.append(pa.field(_DETAIL + name, pa.float64()))
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in _KEYS}
    for name in ("value", "reason", "label", "reply"):
        columns[name] = [getattr(row.graded, name) for row in rows]
    columns["details"] = [msgspec.json.encode(sorted(row.graded.detail)).decode() for row in rows]
    for name in names:
        columns[_DETAIL + name] = [row.graded.detail.get(name) for row in rows]
    return pa.table(columns, schema=schema)


def _digests(folder: RunFolder) -> dict[str, str]:
    found = {}
    for name, file in _ENDINGS.items():
        if not folder.has(file):
            raise FormatError(f"the folder lacks {file}", where=folder.path, hint=_AGAIN)
        found[name] = file_sha256(folder, file)
    return found
