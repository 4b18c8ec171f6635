"""Ties the sealed tables of a run to its manifest, and its scores to the tables they came from.

A table of another run has the same columns and may hold plausible rows: only its bytes tell.
"""

import hashlib
from collections.abc import Iterable

from memruler.errors import FormatError
from memruler.model.run import Manifest
from memruler.store.folder import TABLES, RunFolder

__all__ = ["file_sha256", "require_own_tables", "table_digests"]

_CHUNK = 1 << 20


def file_sha256(folder: RunFolder, name: str) -> str:
    """SHA-256 of the file `name` in a run folder, as hex.

    Raises:
        FormatError: It cannot be read.
    """
    digest = hashlib.sha256()
    with folder.source(name) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def table_digests(folder: RunFolder) -> dict[str, str]:
    """Table to the SHA-256 of its file, for every sealed table."""
    return {name: file_sha256(folder, f"{name}.parquet") for name in TABLES}


def require_own_tables(folder: RunFolder, manifest: Manifest, names: Iterable[str]) -> None:
    """Refuse tables that are not the ones the run sealed.

    Raises:
        FormatError: A table was changed, or is another run's.
    """
    for name in names:
        if manifest.tables.get(name) != file_sha256(folder, f"{name}.parquet"):
            raise FormatError(
                f"{name}.parquet is not the table that this run sealed",
                where=folder.path,
                hint="measure it anew",
            )
