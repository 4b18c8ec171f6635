"""The published JSON Schemas, made from the records so that they cannot drift apart."""

from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.record import Comparison, Refused
from memruler.report.document import ReportDocument, encode

__all__ = ["SCHEMAS", "publish", "schema"]

SCHEMAS: dict[str, tuple[str, Any]] = {
    "report.schema.json": ("A memruler report of a run (report.json)", ReportDocument),
    "comparison.schema.json": ("What `memruler compare --json` prints", Comparison | Refused),
}
"""File name to title and record."""


def schema(name: str) -> bytes:
    """One schema as the bytes of its file.

    Raises:
        KeyError: `name` is not in `SCHEMAS`.
    """
    title, record = SCHEMAS[name]
    made = msgspec.json.schema(record)
    return encode(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **made}
    )


def publish(folder: Path) -> None:
    """Write every schema into `folder`."""
    for name in SCHEMAS:
        (folder / name).write_bytes(schema(name))
