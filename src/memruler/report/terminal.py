"""Prints runs and comparisons for people."""

from pathlib import Path

from memruler.compare.record import Comparison, Refused
from memruler.report.document import ReportDocument
from memruler.report.layout import stdout_console, unpadded
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
    with unpadded(stdout_console()) as console:
        render_run(document, folder, console)


def print_comparison(comparison: Comparison, *, all_queries: bool = False) -> None:
    """Print a comparison to stdout."""
    with unpadded(stdout_console()) as console:
        render_comparison(comparison, console, queries=None if all_queries else 10)


def print_refusal(refused: Refused) -> None:
    """Print why two runs do not compare, to stderr."""
    with unpadded(stdout_console(stderr=True)) as console:
        render_refusal(refused, console)
