"""What a report is of: one run, two that compare or do not, or several."""

from collections.abc import Sequence
from pathlib import Path

from memruler.compare.exact import compare
from memruler.compare.record import Comparison, Refused
from memruler.compare.refusal import Incomparable
from memruler.errors import UsageError
from memruler.report.document import ReportDocument
from memruler.report.markdown import markdown_comparison, markdown_run
from memruler.report.markdown_side_by_side import markdown_refusal, markdown_side_by_side
from memruler.report.read import read_run
from memruler.report.side_by_side import SideBySide, side_by_side
from memruler.report.terminal import print_comparison, print_refusal, print_run
from memruler.report.terminal_side_by_side import print_side_by_side

__all__ = ["Reported", "markdown_report", "print_report", "report_of"]

Reported = ReportDocument | Comparison | Refused | SideBySide
"""What a report can be of."""

_PAIR = 2


def report_of(
    folders: Sequence[Path], *, changed: Sequence[str] = (), shared: bool = False
) -> Reported:
    """Read what a report says.

    Args:
        folders: At least one run folder, the baseline first.
        changed: What is under test; see `memruler.compare.exact.compare`.
        shared: See there.

    Raises:
        UsageError: A folder is given twice, a declared key is unknown, or one run is told to be
            compared.
        FormatError: A folder is no finished and scored run.
    """
    if len(folders) == 1:
        if changed or shared:
            raise UsageError(
                "one run is not compared, so nothing in it is under test",
                hint="name the baseline first, then the candidate; or leave the option out",
            )
        return read_run(folders[0])
    if len(folders) > _PAIR:
        return side_by_side(folders, changed=changed, shared=shared)
    try:
        return compare(folders[0], folders[1], changed=changed, shared=shared)
    except Incomparable as refusal:
        return refusal.record


def print_report(found: Reported, folders: Sequence[Path]) -> None:
    """Print it for people, a refusal to stderr.

    Args:
        found: It.
        folders: Where it was found.
    """
    if isinstance(found, ReportDocument):
        print_run(found, folders[0])
    elif isinstance(found, Comparison):
        print_comparison(found)
    elif isinstance(found, Refused):
        print_refusal(found)
    else:
        print_side_by_side(found)


def markdown_report(found: Reported) -> str:
    """It as a Markdown page."""
    if isinstance(found, ReportDocument):
        return markdown_run(found)
    if isinstance(found, Comparison):
        return markdown_comparison(found)
    if isinstance(found, Refused):
        return markdown_refusal(found)
    return markdown_side_by_side(found)
