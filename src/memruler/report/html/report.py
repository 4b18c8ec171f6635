"""The report of one file: what was found as a document that needs no network and no other file."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from memruler.compare.record import Comparison, Refused
from memruler.model.corpus import Corpus
from memruler.report.document import ReportDocument
from memruler.report.explore.embed import embedded
from memruler.report.explore.explorer import Explorer
from memruler.report.html.answers import gated_answers
from memruler.report.html.environment import render
from memruler.report.html.page import comparison_sections, refusal_section, run_sections
from memruler.report.html.several import side_by_side_sections
from memruler.report.html.shell import shell
from memruler.report.read import called, read_run
from memruler.report.side_by_side import SideBySide

__all__ = ["MANY", "html_report"]

MANY = 5_000
"""Queries above which a page points to `memruler view`, which shows all of them in full."""


def html_report(
    found: ReportDocument | Comparison | Refused | SideBySide,
    folders: Sequence[Path],
    *,
    changed: Sequence[str] = (),
    shared: bool = False,
    corpus: Corpus | None = None,
) -> str:
    """The text of a self-contained HTML file.

    Args:
        found: The report of one run; the comparison of two, or its refusal; or several runs.
        folders: The run folders that it was found in, the baseline first.
        changed: What was declared as the change under test, for gradings of answers.
        shared: As `found` was made, for gradings of answers.
        corpus: What was measured, for what a run does not hold.

    Raises:
        FormatError: A folder is no finished and scored run.
        UsageError: The corpus is another one, or what draws the figures is not installed.
    """
    names = called(folders)
    if isinstance(found, SideBySide):
        documents = [read_run(folder) for folder in folders]
        body = side_by_side_sections(found, folders, documents)
        return shell(f"{len(names)} runs beside {names[0]} · memruler", body)
    if isinstance(found, Refused):
        body = refusal_section(found, folders)
        return shell(f"{found.base} against {found.candidate}: not comparable · memruler", body)
    if isinstance(found, Comparison):
        title = f"{found.candidate.name} is {found.verdict} · memruler"
        body = comparison_sections(
            found,
            folders,
            answers=gated_answers(folders[0], folders[1], changed, shared=shared),
            corpus=corpus,
            explorer=_explorer(folders, found),
        )
    else:
        title = f"{names[0]} · memruler"
        body = run_sections(
            folders[0], name=names[0], corpus=corpus, explorer=_explorer(folders, None)
        )
    return shell(title, body, explorer=True)


def _explorer(folders: Sequence[Path], found: Comparison | None) -> Markup:
    explorer = Explorer.open(folders, found)
    rows = explorer.overview().rows
    many = rows if rows > MANY else None
    return render("queries.html.j2", many=many) + embedded(explorer)
