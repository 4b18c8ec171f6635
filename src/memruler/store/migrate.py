"""Older run folders, read as if they were of today's schema.

Nothing on disk is changed: a folder may be an archive, or read-only. When `SCHEMA_VERSION` rises,
add one entry to `MIGRATIONS` that leads from the version before, and keep the last folder of that
version in tests/store/data for good.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MIGRATIONS", "Migration", "migrate_batch", "migrate_manifest", "require_readable"]


class Migration(Protocol):
    """One step, from a schema version to the next; it never changes the number of rows."""

    def manifest(self, raw: dict[str, Any]) -> dict[str, Any]:
        """The manifest's JSON in the next version, its `schema_version` left as it is."""

    def batch(self, name: str, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Rows of the table `name` in the next version."""


class _Attributed:
    """From version 1, which had no column `attribution` and gave systems nothing but turns.

    Sources were known only where a system reported them. The digest of the ruler stays as it is:
    it names the code that ran.
    """

    def manifest(self, raw: dict[str, Any]) -> dict[str, Any]:
        parts = raw.get("fingerprint")
        if not isinstance(parts, dict) or not isinstance(parts.get("ingest"), dict):
            return raw
        ingest = {"forms": "turns", **parts["ingest"]}
        return {**raw, "fingerprint": {**parts, "ingest": ingest}}

    def batch(self, name: str, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        if name != "lineage":
            return batch
        import pyarrow as pa  # noqa: PLC0415 - late: a manifest is read without it
        import pyarrow.compute as pc  # noqa: PLC0415

        known = pc.greater(pc.list_value_length(batch.column("sessions")), pa.scalar(0))
        field = pa.field("attribution", pa.string(), nullable=False)
        place = batch.schema.get_field_index("text")
        return batch.add_column(place, field, pc.if_else(known, "reported", "unknown"))


class _Answered:
    """From version 2, which had no columns for a system's own answers: nobody asked for them."""

    def manifest(self, raw: dict[str, Any]) -> dict[str, Any]:
        return raw

    def batch(self, name: str, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        if name != "trace":
            return batch
        import pyarrow as pa  # noqa: PLC0415 - late: a manifest is read without it

        for column in ("answer", "answer_error"):
            field = pa.field(column, pa.string())
            batch = batch.append_column(field, pa.nulls(batch.num_rows, pa.string()))
        return batch


MIGRATIONS: Final[dict[int, Migration]] = {1: _Attributed(), 2: _Answered()}
"""By the version that a step starts from. Version 1 is the first."""


def require_readable(version: int, where: object) -> None:
    """Refuse a schema version that no step leads from.

    Raises:
        FormatError: The version is newer than this memruler, or too old.
    """
    if version > SCHEMA_VERSION:
        raise FormatError(
            f"the run folder has schema version {version}, this memruler reads up to "
            f"{SCHEMA_VERSION}",
            where=where,
            hint="upgrade memruler",
        )
    if any(step not in MIGRATIONS for step in range(version, SCHEMA_VERSION)):
        raise FormatError(
            f"the run folder has schema version {version}, which this memruler no longer reads",
            where=where,
            hint="read it with the version that wrote it, or measure the run anew",
        )


def migrate_manifest(raw: Mapping[str, Any], version: int) -> dict[str, Any]:
    """A manifest's JSON of `version` as one of today's schema."""
    current = dict(raw)
    for step in range(version, SCHEMA_VERSION):
        current = MIGRATIONS[step].manifest(current)
    return {**current, "schema_version": SCHEMA_VERSION}


def migrate_batch(name: str, batch: "pa.RecordBatch", version: int) -> "pa.RecordBatch":
    """Rows of a table of `version` as rows of today's schema."""
    for step in range(version, SCHEMA_VERSION):
        batch = MIGRATIONS[step].batch(name, batch)
    return batch
