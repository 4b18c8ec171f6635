"""Figures as sections, in the order of a page: drawn, or missing with a reason."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup

from memruler.compare.record import Comparison
from memruler.errors import FormatError, Refusal
from memruler.model.corpus import Corpus
from memruler.report.document import ReportDocument
from memruler.report.figures.age_rank import age_rank
from memruler.report.figures.category_bars import category_bars
from memruler.report.figures.forest import forest
from memruler.report.figures.latency import latency
from memruler.report.figures.recall_curve import recall_curve
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.stages import stages
from memruler.report.figures.target_slopes import target_slopes
from memruler.report.html.environment import render
from memruler.report.html.parts import Section, Table, callout, table
from memruler.scoring.failure_list import failures_of
from memruler.scoring.failures import file_failures

__all__ = ["comparison_figures", "figure_body", "run_figures", "side_by_side_figures"]


def run_figures(
    folder: Path, document: ReportDocument, name: str, corpus: Corpus | None = None
) -> list[Section]:
    """The figures of one run.

    Args:
        folder: Its folder.
        document: Its report.
        name: What to call it.
        corpus: What was measured, for what a run does not hold: when its sessions took place.

    Raises:
        UsageError: The corpus is another one, or what draws figures is not installed.
    """
    return _sections(
        ("Recall against depth", partial(recall_curve, [document], [name])),
        ("Categories", partial(category_bars, [document], [name])),
        ("Targets", partial(target_slopes, [document], [name])),
        ("Age against rank", partial(age_rank, [folder], [name], corpus)),
        ("Latency", partial(latency, [folder], [name])),
        ("Where evidence was lost", partial(_stages, [folder], corpus)),
    )


def comparison_figures(
    found: Comparison,
    folders: Sequence[Path],
    documents: Sequence[ReportDocument],
    corpus: Corpus | None = None,
) -> list[Section]:
    """The figures of two runs that compare.

    Args:
        found: What was found.
        folders: Their folders, base first; empty for the one figure that needs none.
        documents: Their reports.
        corpus: As in `run_figures`.

    Raises:
        UsageError: As `run_figures`.
    """
    names = [found.base.name, found.candidate.name]
    paired = ("Paired differences", partial(forest, found))
    if not folders:
        return _sections(paired)
    return _sections(
        ("Recall against depth", partial(recall_curve, documents, names)),
        ("Categories", partial(category_bars, documents, names)),
        paired,
        ("Targets", partial(target_slopes, documents, names)),
        ("Age against rank", partial(age_rank, folders, names, corpus)),
        ("Latency", partial(latency, folders, names)),
        ("Where evidence was lost", partial(_stages, folders, corpus)),
    )


def side_by_side_figures(
    folders: Sequence[Path], documents: Sequence[ReportDocument], names: Sequence[str]
) -> list[Section]:
    """The figures of several runs over the same queries."""
    return _sections(
        ("Recall against depth", partial(recall_curve, documents, names)),
        ("Categories", partial(category_bars, documents, names)),
        ("Latency", partial(latency, folders, names)),
    )


def figure_body(found: Figure | Missing) -> Markup:
    """A figure with its caption and its numbers as a table; or why there is none."""
    if isinstance(found, Missing):
        return callout("plain", "Not shown", [found.reason])
    heads, *rows = found.table
    numbers = Table(
        caption=f"{found.title}: the numbers",
        heads=heads,
        sides="".join("r" if _numeric(rows, at) else "l" for at in range(len(heads))),
        rows=rows,
    )
    return render("figure.html.j2", f=found, numbers_table=table(numbers))


def _stages(folders: Sequence[Path], corpus: Corpus | None) -> Figure | Missing | None:
    filed = (file_failures(folder, corpus=corpus) for folder in folders)
    return stages([failures_of(one, limit=0) for one in filed])


def _sections(*wanted: tuple[str, Callable[[], Figure | Missing | None]]) -> list[Section]:
    return [section for title, make in wanted if (section := _section(title, make)) is not None]


def _section(title: str, make: Callable[[], Figure | Missing | None]) -> Section | None:
    """A figure as a section; that a folder cannot give it is told in its place."""
    try:
        found = make()
    except (FormatError, Refusal) as error:
        name = title.lower().replace(" ", "-")
        found = Missing(id=name, title=title, reason=str(error))
    if found is None:
        return None
    return Section(id=found.id, title=found.title, body=figure_body(found))


def _numeric(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a column holds numbers, so that they stand under each other."""
    cells = [row[at] for row in rows if row[at] not in {"", "-"}]
    return bool(cells) and all(cell[0].isdigit() or cell[0] in "+-=.<" for cell in cells)
