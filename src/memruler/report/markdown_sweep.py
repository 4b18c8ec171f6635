"""A sweep as a Markdown page."""

from collections.abc import Iterator

from memruler.compare.winner_record import Choice, Recommendation
from memruler.report import numbers
from memruler.report import targets_view as view
from memruler.report import targets_words as words
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.report.sweep_words import metric, notes, outcome, over, swept
from memruler.studies.sweep_record import Sweep

__all__ = ["markdown_sweep"]


def markdown_sweep(found: Sweep) -> str:
    """The page of a sweep, with every cell, metric and cut-off."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Sweep) -> Iterator[str]:
    side = found.sensitivity
    yield f"# Sweep of {md(found.spec.system)}"
    yield ""
    if found.degraded:
        yield f"> **DEGRADED: do not trust these numbers.** {md('; '.join(found.degraded))}"
        yield ""
    yield f"**{code(metric(side.headline))}: {md(outcome(side.headline))}.**"
    yield ""
    yield (
        f"{md(swept(found))}: {len(found.cells)} cells. Credit per {side.rule}, at the "
        f"{side.level} level. Exact: every cell is deterministic over the same queries, so a "
        "difference is a fact and carries no interval."
    )
    yield ""
    people = numbers.population(found.population, found.clusters)
    yield f"Means are over {over(found)}. Population: {md(people)}."
    yield ""
    yield "## Which cell wins"
    yield ""
    heads = ("metric", *map(code, side.targets), "choice")
    rows = (
        (code(metric(one)), *(md(words.won_by(c)) for c in one.choices), one.outcome)
        for one in side.recommendations
    )
    yield from table(heads, "l" * len(heads), rows)
    for one in side.recommendations:
        yield from _means(found, one)
    yield from _shifts(found)
    yield from _cells(found)
    told = tuple(notes(found))
    if told:
        yield from ("## Notes", "", *(f"- {md(note)}" for note in told), "")
    yield "Corpus: " + ", ".join(f"{md(key)} {code(value)}" for key, value in found.corpus.items())


def _means(found: Sweep, one: Recommendation) -> Iterator[str]:
    yield f"## {code(metric(one))}"
    yield ""
    heads = ("cell", *(code(choice.target) for choice in one.choices))
    rows = (
        (code(cell.folder), *(_mean(choice, cell.folder) for choice in one.choices))
        for cell in found.cells
    )
    yield from table(heads, "l" + "r" * len(one.choices), rows)


def _mean(choice: Choice, name: str) -> str:
    shown = numbers.mean(choice.means[name])
    return f"**{shown}**" if name in choice.winners else shown


def _shifts(found: Sweep) -> Iterator[str]:
    """What changes on single queries, of all cells together."""
    side = found.sensitivity
    yield f"## From one target to another, `k = {side.cutoffs[-1]}`"
    yield ""
    heads = ["pair", *(head.replace("\n", " ") for head in view.shift_heads(len(side.systems)))]
    rows = (map(md, row) for row in view.shift_rows(side.shifts, side.cutoffs[-1]))
    yield from table(heads, "lrrrrrrr", map(tuple, rows))


def _cells(found: Sweep) -> Iterator[str]:
    yield "## Cells"
    yield ""
    keys = tuple(found.cells[0].values)
    rows = (
        (
            code(cell.folder),
            *(code(cell.values[key]) for key in keys),
            str(cell.stored),
            md(numbers.counts(cell.kinds)),
            md(numbers.counts(cell.lost)),
        )
        for cell in found.cells
    )
    heads = ("run folder", *map(code, keys), "stored", "of these", "lost")
    yield from table(heads, "l" + "l" * len(keys) + "rll", rows)
