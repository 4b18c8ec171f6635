"""Prints runs and comparisons for people."""

from pathlib import Path

from memruler.compare.record import Comparison, Refused
from memruler.report.document import ReportDocument
from memruler.report.layout import stdout_console
from memruler.report.terminal_comparison import render_comparison, render_refusal
from memruler.report.terminal_run import render_run

__all__ = [
    "print_comparison",
    "print_refusal",
    "print_run",
    "render_comparison",
    "render_refusal",
    "render_run",
]


def print_run(document: ReportDocument, folder: Path) -> None:
    """Print a run to stdout."""
    render_run(document, folder, stdout_console())


def print_comparison(comparison: Comparison, *, all_queries: bool = False) -> None:
    """Print a comparison to stdout."""
    render_comparison(comparison, stdout_console(), queries=None if all_queries else 10)


def print_refusal(refused: Refused) -> None:
    """Print why two runs do not compare, to stderr."""
    render_refusal(refused, stdout_console(stderr=True))
