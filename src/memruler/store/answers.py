"""A folder of answers: `<run>/answers/<name>/`, a table and its manifest.

The table is written whole and before its manifest, so that a folder without one holds no answers.
Both are bound by digests: the manifest to its table, and to the tables of the run that was read.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa

from memruler.errors import FormatError, printable
from memruler.model.answers import AnswerRecord, AnswersManifest
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
from memruler.store.staged import StagedTable
from memruler.store.tables import table_writer

__all__ = [
    "ANSWERS",
    "READ_TABLES",
    "AnswerTable",
    "answer_names",
    "answers_path",
    "answers_table",
    "claim_answers",
    "read_answers_manifest",
    "standing_answers",
    "write_answers_manifest",
]

ANSWERS: Final = "answers"
READ_TABLES: Final = ("queries", "lineage", "trace")
"""Tables of the run that answers are made from."""

_AGAIN = "answer the run again: memruler answer RUN"
_ROWS_BYTES = 16 * 1024 * 1024

_ITEMS = pa.list_(pa.field("item", pa.int32(), nullable=False))
_FIELDS: "list[pa.Field[Any]]" = [
    pa.field("instance", pa.int32(), nullable=False),
    pa.field("query", pa.int32(), nullable=False),
    pa.field("repeat", pa.int16(), nullable=False),
    pa.field("text", pa.string()),
    pa.field("error", pa.string()),
    pa.field("finish", pa.string()),
    pa.field("items", _ITEMS, nullable=False),
    pa.field("textless", pa.int32(), nullable=False),
    pa.field("left_out", pa.int32(), nullable=False),
    pa.field("context_chars", pa.int64(), nullable=False),
    pa.field("prompt_tokens", pa.int64()),
    pa.field("completion_tokens", pa.int64()),
]
_SCHEMA = pa.schema(_FIELDS)
"""A row an answer, as `AnswerRecord`. Nothing in it depends on when or how often it was asked for,
so that the same replies give the same bytes."""


def answers_path(run: Path, name: str) -> Path:
    """Where the answers `name` of a run lie.

    Raises:
        UsageError: The name is no plain folder name.
    """
    check_stem(name)
    return run / ANSWERS / name


def answer_names(run: Path) -> tuple[str, ...]:
    """Names of the answers of a run, sorted; empty where there are none."""
    root = run / ANSWERS
    with explained("list the folder", root):
        found = [path.parent.name for path in root.glob(f"*/{MANIFEST}")]
    return tuple(sorted(found))


@contextmanager
def claim_answers(run: RunFolder, name: str) -> Iterator[RunFolder]:
    """Make or take up a folder of answers and lock it.

    Where an error ends it before there is a manifest, nothing of it is left.

    Yields:
        The folder, to be written to by its methods.

    Raises:
        UsageError: A bad name, or another process holds it.
        InstrumentError: It cannot be written to.
    """
    path = answers_path(run.path, name)
    with claim_below(path, named="the folder of answers", busy="writing these answers") as folder:
        try:
            yield folder
        except BaseException:
            if not folder.has(MANIFEST):
                folder.remove(f"{ANSWERS}.parquet")
                folder.discard()
                with suppress(OSError):  # other answers lie there
                    path.parent.rmdir()
            raise


class AnswerTable:
    """The table of answers while it is written; made by `answers_table`."""

    def __init__(self, rows: StagedTable) -> None:
        self._rows = rows

    def add(self, record: AnswerRecord) -> None:
        """Add a row."""
        self._rows.add(len(record.text or ""), *msgspec.structs.astuple(_fields(record)))


def _fields(record: AnswerRecord) -> AnswerRecord:
    """The record with texts that a file can hold: half a surrogate pair becomes U+FFFD."""
    changes = {
        name: value.encode("utf-8", "replace").decode()
        for name in ("text", "error", "finish")
        if (value := getattr(record, name)) is not None and not _encodable(value)
    }
    return msgspec.structs.replace(record, **changes) if changes else record


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def answers_table(folder: RunFolder) -> Iterator[AnswerTable]:
    """Write the table of answers row by row; it takes its name only when all went well."""
    with table_writer(folder, ANSWERS, _SCHEMA) as writer:
        rows = StagedTable(writer, _SCHEMA, _ROWS_BYTES)
        yield AnswerTable(rows)
        rows.flush()


def write_answers_manifest(folder: RunFolder, manifest: AnswersManifest) -> AnswersManifest:
    """Write the manifest of the table that stands there; from now on the answers count.

    Where all but the times and the cost of the call is as it was, what stands there stays.

    Args:
        folder: Claimed, with its table.
        manifest: Without digests.

    Returns:
        It, with the digest of the table.
    """
    before = _standing(folder)
    made = msgspec.structs.replace(
        manifest, tables={ANSWERS: file_sha256(folder, f"{ANSWERS}.parquet")}
    )
    if before is None or not same_but_for_the_call(before, made):
        write_below(folder, made)
    return made


def read_answers_manifest(run: RunFolder, name: str, *, bound: bool = True) -> AnswersManifest:
    """What the answers `name` of a run are.

    Args:
        run: A sealed run.
        name: Of the answers.
        bound: Refuse answers to other tables than those of the run, and a table of answers that
            is not the manifest's.

    Raises:
        UsageError: A bad name.
        FormatError: There are no such answers, they are damaged or of another version, or the
            run was measured anew under them.
    """
    path = answers_path(run.path, name)
    folder = RunFolder(path)
    if not path.is_dir() or not folder.has(MANIFEST):
        there = ", ".join(map(printable, answer_names(run.path)))
        hint = f"there are: {there}" if there else _AGAIN
        raise FormatError(f"the run has no answers {name}", where=run.path, hint=hint)
    manifest = _manifest(folder)
    if bound:
        _require_bound(run, folder, manifest)
    return manifest


def standing_answers(run: RunFolder, name: str) -> AnswersManifest | None:
    """What answers made now would stand in the place of; None where that is nothing, or damaged.

    Raises:
        UsageError: A bad name, or a link or a folder in place of the manifest.
        NewerFormatError: A newer memruler wrote it.
    """
    path = answers_path(run.path, name)
    return _standing(RunFolder(path)) if path.is_dir() else None


def _standing(folder: RunFolder) -> AnswersManifest | None:
    found = standing_below(folder, AnswersManifest, named=ANSWERS, again=_AGAIN)
    return None if found is None else _called(folder, found)


def _require_bound(run: RunFolder, folder: RunFolder, manifest: AnswersManifest) -> None:
    measured = run.manifest()
    tables = {} if measured is None else measured.tables
    if manifest.run_tables != {name: tables.get(name) for name in READ_TABLES}:
        raise FormatError(
            "the run is not the one that these answers were made from: it was measured anew",
            where=folder.path,
            hint=_AGAIN,
        )
    name = f"{ANSWERS}.parquet"
    if not folder.has(name) or manifest.tables.get(ANSWERS) != file_sha256(folder, name):
        raise FormatError(
            f"{name} is not the table that these answers were finished with",
            where=folder.path,
            hint=_AGAIN,
        )


def _manifest(folder: RunFolder) -> AnswersManifest:
    return _called(folder, read_below(folder, AnswersManifest, named=ANSWERS, again=_AGAIN))


def _called(folder: RunFolder, manifest: AnswersManifest) -> AnswersManifest:
    """A folder may be renamed or copied: its grades belong into it and not into the first one."""
    return msgspec.structs.replace(manifest, name=folder.path.name)
