"""The sections of a page: of a run, of a comparison, of a refusal."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from memruler.compare.fingerprint import differences
from memruler.compare.load import name_of
from memruler.compare.record import Comparison, Refused
from memruler.model.corpus import Corpus
from memruler.report.html import comparison_parts, run_parts
from memruler.report.html.answers import GatedAnswers, gated_sections, grades_section
from memruler.report.html.figures import comparison_figures, run_figures
from memruler.report.html.parts import Section, compose
from memruler.report.html.reasons import reasons_body, refused_hero
from memruler.report.read import read_gradings, read_run

__all__ = ["comparison_sections", "refusal_section", "run_sections"]


def run_sections(
    folder: Path,
    *,
    name: str | None = None,
    corpus: Corpus | None = None,
    explorer: Markup | None = None,
) -> Markup:
    """Everything that a page says of one run: headline, figures, warnings, provenance.

    Args:
        folder: A finished run folder; it is only read.
        name: What to call it; the folder's own name without.
        corpus: What was measured, for the figure that needs to know when sessions took place.
        explorer: The explorer of its queries, escaped; without it the page has none.

    Raises:
        FormatError: It is no finished and scored run.
        UsageError: The corpus is another one, or what draws the figures is not installed.
    """
    document = read_run(folder)
    called = name_of(folder) if name is None else name
    sections = [
        *run_figures(folder, document, called, corpus),
        grades_section(read_gradings(folder)),
        run_parts.scores(document.summary),
        run_parts.left_out(document),
        run_parts.targets(document),
        run_parts.provenance(document),
        run_parts.comparability(document),
        _explorer(explorer),
    ]
    return compose(run_parts.hero(document, called), [one for one in sections if one is not None])


def comparison_sections(
    comparison: Comparison,
    folders: Sequence[Path] = (),
    *,
    answers: Sequence[GatedAnswers] = (),
    corpus: Corpus | None = None,
    explorer: Markup | None = None,
) -> Markup:
    """Everything that a page says of two runs that compare.

    Args:
        comparison: What was found.
        folders: The two run folders, base first, for what reads more than the comparison holds:
            figures and provenance; empty leaves it out.
        answers: Gradings that both have, paired.
        corpus: As in `run_sections`.
        explorer: The explorer of the queries of both, escaped; without it the page has none.

    Raises:
        FormatError: A folder is no finished and scored run.
        UsageError: The corpus is another one, or what draws the figures is not installed.
    """
    documents = [read_run(folder) for folder in folders]
    sections = [
        *comparison_figures(comparison, folders, documents, corpus),
        gated_sections(answers),
        comparison_parts.moved(comparison),
        comparison_parts.deltas(comparison),
        comparison_parts.left_out(comparison, [one.manifest for one in documents]),
        comparison_parts.targets(comparison),
        comparison_parts.provenance(comparison, [one.manifest for one in documents]),
        comparison_parts.comparability(comparison),
        _explorer(explorer),
    ]
    hero = comparison_parts.hero(comparison)
    return compose(hero, [one for one in sections if one is not None])


def refusal_section(refused: Refused, folders: Sequence[Path] = ()) -> Markup:
    """Why two runs do not compare: every reason, what to do instead, and never a difference.

    Args:
        refused: The refusal.
        folders: The two run folders, base first, to tell everything that differs in what they
            were measured with; empty leaves it out.

    Raises:
        FormatError: A folder is no finished and scored run.
    """
    parts = [Section(id="reasons", title="Why not", body=reasons_body(refused.reasons))]
    if folders:
        base, candidate = (read_run(folder).manifest.fingerprint for folder in folders)
        found = differences(base, candidate).undeclared
        if found:
            caption = f"{len(found)} keys of the two fingerprints differ"
            body = comparison_parts.differences_table(found, caption)
            parts.append(Section(id="differences", title="What differs", body=body))
    return compose(refused_hero(refused), parts)


def _explorer(body: Markup | None) -> Section | None:
    if body is None:
        return None
    return Section(id="queries", title="Every question", body=body)
