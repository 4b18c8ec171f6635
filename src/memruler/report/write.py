"""Writes the report of a run into its folder."""

import msgspec

from memruler.compare.target_card import target_card
from memruler.compare.target_scores import target_scores
from memruler.errors import FormatError
from memruler.model.credit import CreditLevel
from memruler.model.run import Manifest
from memruler.model.summary import Summary
from memruler.report.document import ReportDocument, TargetPart, encode
from memruler.report.markdown import markdown_run
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.timing import timing
from memruler.scoring.traced import score_traced
from memruler.store.folder import RunFolder
from memruler.targets.forms import NAMED

__all__ = ["write_report"]

_TARGETS = [NAMED[name] for name in ("raw", "source", "canonical")]


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
    level: CreditLevel = "turn"
    if manifest.fingerprint["ingest"]["granularity"] == "session":
        level = "session"
    rows = summary.slices[0].cutoffs
    cutoffs = {row.k for row in rows} | {gone.k for gone in summary.omitted if gone.k is not None}
    traced = traced_from_run(folder.path, _TARGETS, level)
    reached = tuple(sorted(k for k in cutoffs if k <= traced.deepest()))
    scored = score_traced(traced, reached or (traced.deepest(),), "anchor")
    return TargetPart(scores=target_scores(scored), card=target_card(scored))
