"""The note beside a file of cases: how they were drawn, and which instrument filled which column.

A spreadsheet keeps only cells, so this stands in `CASES.csv.meta.json`.
"""

from pathlib import Path

import msgspec

from memruler.errors import FormatError
from memruler.judges.base import JudgeIdentity
from memruler.store.safe import read_bytes, write_atomic
from memruler.studies.audit_record import SCHEMA_VERSION, AuditNotes

__all__ = ["META_SUFFIX", "instrument_differs", "notes_path", "read_notes", "write_notes"]

META_SUFFIX = ".meta.json"


def notes_path(cases: Path) -> Path:
    """Where the note of a file of cases stands."""
    return cases.with_name(cases.name + META_SUFFIX)


def read_notes(cases: Path) -> AuditNotes:
    """Read it; an empty one where there is none.

    Raises:
        FormatError: It is damaged, or of another version.
    """
    path = notes_path(cases)
    if not path.exists():
        return AuditNotes()
    try:
        found = msgspec.json.decode(read_bytes(path, managed=False), type=AuditNotes)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(
            f"the note cannot be read: {error}", where=path, hint="remove it; the labels stay"
        ) from None
    if found.schema_version != SCHEMA_VERSION:
        raise FormatError(
            f"the note has version {found.schema_version}, not {SCHEMA_VERSION}",
            where=path,
            hint="use the memruler that wrote it",
        )
    return found


def write_notes(cases: Path, notes: AuditNotes) -> None:
    """Write or replace it in one step."""
    data = msgspec.json.format(msgspec.json.encode(notes), indent=2)
    write_atomic(notes_path(cases), data + b"\n")


def instrument_differs(noted: JudgeIdentity, other: JudgeIdentity) -> str:
    """In what two judges differ, for people; empty where both are one instrument.

    The model that a server says it served, and what sends the requests, do not count.
    """
    there, now = (msgspec.to_builtins(one) for one in (noted, other))
    differs = [key for key in now if key not in ("served", "client") and now[key] != there[key]]
    return ", ".join(f"{key} {there[key]} and now {now[key]}" for key in differs)
