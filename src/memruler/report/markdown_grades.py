"""A grading as a Markdown page."""

from collections.abc import Iterator

from memruler.report import numbers
from memruler.report.escape import code, md
from memruler.report.grades_words import facts_of, headline, published
from memruler.report.markdown_table import table
from memruler.scoring.grade_record import GradeSlice, GradeSummary

__all__ = ["markdown_grades"]


def markdown_grades(found: GradeSummary) -> str:
    """The page of a grading."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: GradeSummary) -> Iterator[str]:
    yield f"# {md(found.metric)} of {md(found.answers)} by {md(found.grader)}"
    yield ""
    if found.degraded:
        yield f"> **DEGRADED: do not trust these numbers.** {md('; '.join(found.degraded))}"
        yield ""
    yield f"**{md(headline(found))}.**"
    yield ""
    yield f"Run {code(found.run)}, corpus {md(found.corpus)}. Answers, and not what was retrieved."
    yield ""
    exact = found.ruler == "exact"
    ends = () if exact else ("95 % low", "high")
    heads = ("slice", "items", "answered", "scored", "mean", *ends, "missing as 0")
    rows = (_cells(one, exact=exact) for one in found.slices)
    yield from table(heads, "l" + "r" * (len(heads) - 1), rows)
    lines = list(published(found))
    if lines:
        yield "## As the data set's own script prints it"
        yield ""
        yield from table(("line", "value"), "ll", ((md(one), md(told)) for one, told in lines))
    yield "## What it rests on"
    yield ""
    yield from (f"- {md(name)}: {md(text)}" for name, text in facts_of(found))


def _cells(one: GradeSlice, *, exact: bool) -> list[str]:
    ends = ["-", "-"]
    if one.interval is not None:
        ends = [numbers.mean(one.interval.low), numbers.mean(one.interval.high)]
    return [
        str(md(one.name)),
        str(one.items),
        str(one.answered),
        str(one.scored),
        numbers.mean(one.mean),
        *([] if exact else ends),
        numbers.mean(one.floor),
    ]
