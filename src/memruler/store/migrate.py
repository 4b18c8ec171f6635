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


MIGRATIONS: Final[dict[int, Migration]] = {}
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
