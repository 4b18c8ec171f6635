"""An A/B run as a Markdown page."""

from collections.abc import Iterator

from memruler.compare.comparable import shown
from memruler.report import ab_words as words
from memruler.report import numbers
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.studies.ab_record import Ab, AbMean

__all__ = ["markdown_ab"]


def markdown_ab(found: Ab) -> str:
    """The page of an A/B run."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Ab) -> Iterator[str]:
    yield f"# A/B run over {md(found.corpus['name'])}"
    yield ""
    if found.degraded:
        yield f"> **DEGRADED: do not trust these numbers.** {md('; '.join(found.degraded))}"
        yield ""
    yield f"**{md(words.verdict(found))}**: {md(words.headline(found))}."
    yield ""
    if found.refused is not None:
        yield from (f"- {md(reason)}" for reason in found.refused.reasons)
        yield from (f"- Instead: {md(hint)}." for hint in found.refused.hints)
        yield ""
    yield (
        "A is the baseline and B the candidate. Both wrote each instance, and then each question "
        "was put to one and to the other."
    )
    yield ""
    yield "## Accuracy, latency and context size"
    yield ""
    rows = (tuple(map(md, line)) for line in words.lines(found))
    yield from table(("what", "A", "B", "B - A", "over"), "lrrrl", rows)
    yield "Padded means are over all queries, and what a list lacks counts as a miss."
    yield ""
    heads = ("metric", "level", "A counted", "B counted", "of", "A padded", "B padded")
    yield from table(heads, "llrrrrr", map(_padded, found.means))
    yield "## How it was measured"
    yield ""
    yield from (f"- {md(label)}: {md(text)}" for label, text in words.notes(found))
    more = found.comparison or found.gate
    changed = more.changed if more else ()
    yield from (f"- changed: {md(shown(difference))}" for difference in changed)
    yield ""
    yield "Corpus: " + ", ".join(f"{md(key)} {code(value)}" for key, value in found.corpus.items())


def _padded(row: AbMean) -> tuple[str, ...]:
    counts = ("-" if n is None else str(n) for n in (row.a_counted, row.b_counted))
    padded = (numbers.mean(row.a_padded), numbers.mean(row.b_padded))
    return (code(f"{row.metric}@{row.k}"), row.level, *counts, str(row.of), *padded)
