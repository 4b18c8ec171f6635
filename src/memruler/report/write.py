"""Writes the report of a run into its folder."""

import msgspec

from memruler.compare.target_part import TargetPart, target_part
from memruler.errors import FormatError
from memruler.model.run import Manifest
from memruler.model.summary import Summary
from memruler.report.document import ReportDocument, encode
from memruler.report.markdown import markdown_run
from memruler.scoring.timing import timing
from memruler.store.folder import RunFolder

__all__ = ["write_report"]


def write_report(folder: RunFolder) -> ReportDocument:
    """Write `report.json` and `report.md` of a sealed and scored run.

    Args:
        folder: The claimed run folder.

    Raises:
        FormatError: The run was not scored.
        InstrumentError: The disk failed.
    """
    manifest = folder.manifest()
    if manifest is None or not folder.has("summary.json"):
        raise FormatError(
            "this run was not scored", where=folder.path, hint="score it before its report"
        )
    summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
    document = ReportDocument(
        manifest=manifest,
        summary=summary,
        timing=timing(folder),
        targets=_targets(folder, manifest, summary),
    )
    folder.write("report.md", markdown_run(document).encode())
    # Last: its presence says that the run is finished.
    folder.write("report.json", encode(document))
    return document


def _targets(folder: RunFolder, manifest: Manifest, summary: Summary) -> TargetPart | None:
    """The same rankings under every target, where it makes a difference."""
    if not summary.hits.transformed:
        return None
    cutoffs = {row.k for row in summary.slices[0].cutoffs}
    cutoffs |= {gone.k for gone in summary.omitted if gone.k is not None}
    # Where nothing raw came back no cut-off was scored: then the usual deepest one.
    cutoffs = cutoffs or {min(20, int(manifest.fingerprint["retrieval"]["limit"]))}
    granularity = manifest.fingerprint["ingest"]["granularity"]
    return target_part(folder.path, granularity, tuple(cutoffs))
