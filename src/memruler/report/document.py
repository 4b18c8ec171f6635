"""The report of a run as data: what `report.json` holds."""

import json
from typing import Any

import msgspec

from memruler.compare.target_part import TargetPart
from memruler.model.run import Manifest
from memruler.model.summary import Summary, Timing

__all__ = ["SCHEMA_VERSION", "ReportDocument", "encode"]

SCHEMA_VERSION = 1
"""Version of `ReportDocument`; raised with every change that an old reader would misread."""


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report of a run says.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        manifest: What the run was.
        summary: What was scored.
        timing: Wall times; the only part that differs between two runs of the same thing,
            apart from the manifest's own times.
        targets: None for a store that holds nothing but what was said.
    """

    manifest: Manifest
    summary: Summary
    timing: Timing
    targets: TargetPart | None = None
    schema_version: int = SCHEMA_VERSION


def encode(record: Any) -> bytes:
    """A record as JSON, indented, with a final newline.

    Only ASCII is written: text of a corpus can then neither steer a terminal nor fail in its
    encoding. Any JSON reader gives the same text back.
    """
    plain = msgspec.to_builtins(record, str_keys=True)
    return (json.dumps(plain, indent=2, allow_nan=False) + "\n").encode("ascii")
