"""The folder of a grading: `<run>/answers/<name>/grades/<grade>/`.

Everything is computed before anything is written, and the manifest is written last: a folder
without one is no grading, and files that are not those of its manifest are refused.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa

from memruler.errors import FormatError, UsageError
from memruler.model.answers import ANSWERS_VERSION, Graded, GradesManifest
from memruler.store.anchor import resolve
from memruler.store.answers import NewerFormatError
from memruler.store.binding import file_sha256
from memruler.store.faults import explained
from memruler.store.folder import MANIFEST, RunFolder, check_stem
from memruler.store.safe import TEMPORARY, make_dir, open_append
from memruler.store.tables import read_table, write_table

__all__ = [
    "GRADES",
    "GradeRow",
    "claim_grades",
    "content_sha256",
    "grade_names",
    "grades_path",
    "is_grades",
    "read_manifest",
    "read_rows",
    "write_grades",
]

GRADES: Final = "grades"
_LOCK = ".lock"
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
    check_stem(answers)
    check_stem(name)
    return run / "answers" / answers / GRADES / name


def grade_names(run: Path, answers: str) -> tuple[str, ...]:
    """The gradings of some answers, sorted; empty where there are none."""
    check_stem(answers)
    root = run / "answers" / answers / GRADES
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
    import filelock  # noqa: PLC0415 - reading needs none

    run = path.parents[3]  # as `grades_path` builds it: links to a run are fine, in one are not
    path = resolve(run) / path.relative_to(run)
    make_dir(path, resolved=True)
    open_append(path / _LOCK, resolved=True).close()  # judged before it is locked
    lock = filelock.FileLock(path / _LOCK, timeout=0, thread_local=False)
    with explained("lock the folder", path):
        try:
            lock.acquire()
        except filelock.Timeout:
            raise UsageError(
                "another process is writing these grades",
                where=path,
                hint="wait for it, or choose another --name",
            ) from None
    with RunFolder(path, lock) as folder:
        for left in folder.path.glob(f"{TEMPORARY}*.tmp"):
            folder.remove(left.name)
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
    before = _standing(folder)
    write_table(folder, _TABLE, _table(rows))
    for name, data in files.items():
        folder.write(name, data)
    made = msgspec.structs.replace(manifest, tables=_digests(folder))
    if before is not None and _lasting(before) == _lasting(made):
        return before
    folder.write(MANIFEST, msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
    return made


def _standing(folder: RunFolder) -> GradesManifest | None:
    """What stands there; None where that is nothing, or damaged."""
    try:
        return _manifest(folder) if folder.has(MANIFEST) else None
    except NewerFormatError:
        raise
    except FormatError:  # its hint is to grade again, which must then be possible
        return None


def _lasting(manifest: GradesManifest) -> dict[str, Any]:
    """What does not depend on when it was graded, and on who had paid for the replies."""
    plain: dict[str, Any] = msgspec.to_builtins(manifest)
    return {
        key: value
        for key, value in plain.items()
        if key not in {"started", "finished", "usage", "tool"}
    }


def read_manifest(path: Path) -> GradesManifest:
    """What a grading is.

    Raises:
        FormatError: It is no grading, of another version, damaged, or its files are not those
            that it was finished with.
    """
    folder = RunFolder(path.resolve())
    if not path.is_dir() or not folder.has(MANIFEST):
        raise FormatError("not a folder of grades", where=path, hint=_AGAIN)
    manifest = _manifest(folder)
    if _digests(folder) != manifest.tables:
        raise FormatError(
            "the files are not the ones that this grading was finished with",
            where=path,
            hint=_AGAIN,
        )
    answers = path.resolve().parent.parent / "answers.parquet"
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


def _manifest(folder: RunFolder) -> GradesManifest:
    where = folder.path / MANIFEST
    try:
        raw = msgspec.json.decode(folder.read(MANIFEST))
        version = raw.get("version") if isinstance(raw, dict) else None
        if version != ANSWERS_VERSION:
            what = f"grades of version {version}, and this memruler reads {ANSWERS_VERSION}"
            if isinstance(version, int) and version > ANSWERS_VERSION:
                raise NewerFormatError(what, where=where, hint="upgrade memruler")
            raise FormatError(what, where=where, hint=_AGAIN)
        return msgspec.convert(raw, GradesManifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"the manifest cannot be read: {error}", where=where, hint=_AGAIN
        ) from error


def content_sha256(parts: Iterable[str]) -> str:
    """Digest of texts in order; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()
