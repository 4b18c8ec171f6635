"""A line-up as a Markdown page."""

from collections.abc import Iterator

from memruler.report.escape import code, md
from memruler.report.lineup_words import cells, facts_of, heads, reading
from memruler.report.markdown_table import table
from memruler.studies.lineup_record import Lineup

__all__ = ["markdown_lineup"]


def markdown_lineup(found: Lineup) -> str:
    """The page of a line-up."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Lineup) -> Iterator[str]:
    yield f"# Memories on {md(found.corpus)}"
    yield ""
    for row in found.rows:
        if row.degraded:
            why = md("; ".join(row.degraded))
            yield f"> **DEGRADED: do not trust {code(row.system)}.** {why}"
            yield ""
    measured = [row for row in found.rows if row.absent is None]
    columns = [md(head.replace("_\n", "_").replace("\n", " ")) for head in heads(found)]
    rows = (
        (code(row.system), md(row.version), *(md(cell) for cell in cells(row))) for row in measured
    )
    yield from table(("memory", "version", *columns), "ll" + "r" * len(columns), rows)
    yield from (f"- {md(sentence)}" for sentence in reading(found))
    yield ""
    absent = [(code(row.system), md(row.absent)) for row in found.rows if row.absent is not None]
    if absent:
        yield from ("## Not measured here", "")
        yield from table(("memory", "why"), "ll", absent)
    yield from (f"{label}: {md(text)}  " for label, text in facts_of(found))
