"""A check against a baseline as Markdown: for a pull request, a comment, a job summary.

Whatever it shows may come from somebody else's branch, so everything is escaped, and its length
is bounded: GitHub takes 65,536 characters.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from memruler.report import numbers
from memruler.report.baseline_words import headline, title
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.report.view import category_rows, headline_moves
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["LONGEST", "markdown_baseline"]

LONGEST: Final = 60_000
"""Characters of a page, at most."""

_ROWS = 40
_LONGEST_VALUE = 120
_TOOL = ("version", "commit", "dirty")


def markdown_baseline(check: BaselineCheck, *, proposal: bool = False) -> str:
    """The page of a check.

    Args:
        check: What to show.
        proposal: It stands beside a proposal: say what accepting it means.

    Returns:
        Lines of Markdown, at most `LONGEST` characters.
    """
    lines = [*_head(check)]
    if proposal:
        lines += _proposal(check)
    lines += [*_changed(check), *_categories(check), *_moved(check), *_notes(check), *_sides(check)]
    return _bounded(lines)


def _head(check: BaselineCheck) -> Iterator[str]:
    yield f"## Memory baseline: {md(title(check))}"
    yield ""
    yield f"**{md(title(check).upper())}**: {md(headline(check))}."
    yield ""
    if check.outcome == "incomparable" and check.refused is not None:
        yield "> **The accepted baseline says nothing about this run.** Every reason:"
        for reason in check.refused.reasons[:_ROWS]:
            yield f"> - {md(reason.what)}; {md(reason.hint)}"
        yield ""
    if check.outcome == "unresolved":
        yield "The difference may be noise: nobody need act on it."
        yield ""


def _proposal(check: BaselineCheck) -> Iterator[str]:
    if check.outcome == "no-baseline":
        yield "Merging accepts this run as the first baseline."
    elif check.outcome == "incomparable":
        yield (
            "Merging begins a new baseline: from then on the figures are those of this run, and "
            "nothing was shown about how they compare with the old ones."
        )
    else:
        yield "Merging accepts these figures as the new baseline; closing keeps the old one."
    yield ""


def _changed(check: BaselineCheck) -> Iterator[str]:
    if check.changed:
        yield "### What differs"
        yield ""
        rows = [
            [
                code(d.key),
                "absent" if d.missing == "base" else _value(d.base),
                "absent" if d.missing == "candidate" else _value(d.candidate),
            ]
            for d in check.changed[:_ROWS]
        ]
        yield from table(["key", "baseline", "this run"], "lll", rows)
        yield from _more(len(check.changed))


def _categories(check: BaselineCheck) -> Iterator[str]:
    rows = category_rows(check.exact) if check.exact else []
    if rows:
        yield "### By category"
        yield ""
        cells = [
            [
                md(d.slice),
                numbers.mean(d.base),
                numbers.mean(d.candidate),
                numbers.delta(d.delta),
                str(d.wins),
                str(d.losses),
                f"{d.counted} of {d.of}",
            ]
            for d in rows[:_ROWS]
        ]
        heads = ["category", "baseline", "this run", "difference", "better", "worse", "counted"]
        yield from table(heads, "lrrrrrr", cells)
        yield from _more(len(rows))


def _moved(check: BaselineCheck) -> Iterator[str]:
    if check.exact is None:
        return
    moves = headline_moves(check.exact)
    if moves:
        yield "### Questions that moved on the headline"
        yield ""
        rows = [
            [str(q.headline), md(q.instance), str(q.query), md(q.id), md(q.category)]
            for q in moves[:_ROWS]
        ]
        yield from table(["", "instance", "query", "id", "category"], "llrll", rows)
        yield from _more(len(moves))
    yield f"{len(check.exact.queries)} questions changed at some metric, level or cut-off."
    yield ""


def _notes(check: BaselineCheck) -> Iterator[str]:
    exact = check.exact
    if check.outcome == "no-baseline":  # the headline says it
        return
    notes = (*check.notes, *((*exact.corpus_notes, *exact.notes) if exact else ()))
    if check.interval is not None:
        notes += check.interval.notes
    if notes:
        yield "### Notes"
        yield ""
        yield from (f"- {md(note)}" for note in notes[:_ROWS])
        yield ""


def _sides(check: BaselineCheck) -> Iterator[str]:
    yield f"Baseline {code(check.baseline)}, run {code(check.run)}."
    if check.exact is not None:
        people = numbers.population(check.exact.population, check.exact.clusters)
        yield f"Population: {md(people)}. Target {code(check.exact.target)}."
        for name, side in (("baseline", check.exact.base), ("run", check.exact.candidate)):
            tool = {key: side.tool.get(key) for key in _TOOL}
            yield f"The {name} was made by memruler {_value(tool)}."
    yield ""


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return code(text[:_LONGEST_VALUE] + ("…" if len(text) > _LONGEST_VALUE else ""))


def _more(number: int) -> Iterator[str]:
    if number > _ROWS:
        yield f"And {number - _ROWS} more."
        yield ""


def _bounded(lines: list[str]) -> str:
    kept: list[str] = []
    size, cut = 0, "\nThe rest was cut: the page would be too long."
    for line in lines:
        size += len(line) + 1
        if size > LONGEST - len(cut):
            return "\n".join([*kept, cut, ""])
        kept.append(line)
    return "\n".join(kept)
