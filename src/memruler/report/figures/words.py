"""Names and counts as figures write them: short, safe on one line, and never two alike."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from memruler.errors import printable
from memruler.report.document import ReportDocument

__all__ = [
    "MOST_RUNS",
    "distinct",
    "first_runs",
    "folder_names",
    "labels",
    "number",
    "run_names",
    "stem_names",
]

MOST_RUNS: Final = 6
"""Runs that one panel shows: as many as there are colours."""

_LONGEST = 22


def distinct(names: Iterable[str], longest: int = _LONGEST) -> dict[str, str]:
    """Each name to a label for an axis or a legend: cut, printable, and its own.

    Args:
        names: Any text. A name that occurs twice has one label.
        longest: Characters of a label, before the mark that tells it from an equal one.
    """
    once = list(dict.fromkeys(names))
    return dict(zip(once, labels(once, longest), strict=True))


def labels(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """As `distinct`, with a label for each place: a name that occurs twice has two."""
    found: list[str] = []
    for name in names:
        # Cut twice: what is escaped grows.
        short = printable(printable(name, longest - 1), longest - 1) or "(empty)"
        label, copies = short, 1
        while label in found:
            copies += 1
            label = f"{short} ({copies})"
        found.append(label)
    return found


def run_names(documents: Sequence[ReportDocument], names: Sequence[str] = ()) -> list[str]:
    """A label a run, all different: of the names given, or of the stems.

    Raises:
        ValueError: There are names, but not one a run.
    """
    return _named(names or [document.manifest.stem for document in documents], len(documents))


def stem_names(stems: Sequence[str], names: Sequence[str] = ()) -> list[str]:
    """As `run_names`, from stems that are told."""
    return _named(names or stems, len(stems))


def folder_names(runs: Sequence[Path], names: Sequence[str] = ()) -> list[str]:
    """As `run_names`, without names of the folders' own."""
    return _named(names or [path.name or str(path) for path in runs], len(runs))


def _named(names: Sequence[str], runs: int) -> list[str]:
    if len(names) != runs:
        raise ValueError("one name a run")
    return labels(names)


def first_runs(runs: int) -> str:
    """A sentence where there are more runs than colours; empty where there are not."""
    if runs <= MOST_RUNS:
        return ""
    return f" The first {MOST_RUNS} of {runs} runs are drawn; the table has all."


def number(count: int) -> str:
    """A count with its thousands apart."""
    return f"{count:,}"
