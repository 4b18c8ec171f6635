"""Missed items on the terminal: where each was lost, and what moved between two runs."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from memruler.compare.failure_shift import RIGHT, FailureShift, Moved
from memruler.errors import printable
from memruler.model.failures import STAGES, Failures, MissedItem, StageCounts
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.numbers import counts
from memruler.report.table import print_table

__all__ = ["print_failures", "print_shift", "render_failures", "render_shift"]

_DEGRADED = "DEGRADED: do not trust these numbers"
_QUESTION = 60
_TEXT = 240
_LOST = {
    "ingest": "not stored, refused or evicted",
    "extraction": "nothing was made of it",
    "graph": "only nodes that no edge or path joins",
    "ranking": "stored, and not given",
    "compression": "the form that was given lacks the words",
    "reader": "given, and answered wrongly",
    "not_verbatim": "cannot be told: the words stand nowhere",
    "unknown": "cannot be told",
}


def print_failures(found: Failures, *, text: bool) -> None:
    """Print the failures of one run to stdout."""
    with unpadded(stdout_console()) as console:
        render_failures(found, console, text=text)


def print_shift(found: FailureShift, *, text: bool) -> None:
    """Print what moved between two runs to stdout."""
    with unpadded(stdout_console()) as console:
        render_shift(found, console, text=text)


def render_failures(found: Failures, console: Console, *, text: bool) -> None:
    """Print the failures of one run.

    Args:
        found: The failures.
        console: Where to print; 80 columns suffice.
        text: Also print questions, answers and evidence in full sentences.
    """
    whole = found.all
    if found.degraded:
        banner(console, _DEGRADED, found.degraded)
    console.print(
        Text(
            f"{whole.missed} missed of {whole.scored} scored, of {whole.queries} queries",
            style="bold",
        )
    )
    facts(console, _about(found))
    console.print()
    rows = [
        (stage, _LOST[stage], str(number))
        for stage in STAGES
        if (number := whole.stages[stage]) or stage not in {"graph", "unknown"}
    ]
    print_table(console, ["stage", "what became of it"], ["missed"], rows)
    heading(console, "By category")
    _categories(found.categories, console)
    _items(found, console, text=text)


def _about(found: Failures) -> Iterator[tuple[str, str]]:
    yield "run", found.run
    if found.ruler == "answers":
        yield "answers", f"{found.answers}, graded {found.grade} by {found.grader}"
    else:
        yield "population", found.population
    yield "rule", found.rule
    if found.all.unscored:
        yield "not scored", counts(found.all.unscored)
    for note in found.notes:
        yield "note", note


def _categories(found: Sequence[StageCounts], console: Console) -> None:
    shown = [stage for stage in STAGES if any(one.stages[stage] for one in found)]
    rows = [
        (
            str(one.category),
            f"{one.missed}/{one.scored}",
            *(str(one.stages[stage]) for stage in shown),
        )
        for one in found
    ]
    heads = [stage.replace("_", "_\n") for stage in shown]
    print_table(console, ["category"], ["missed", *heads], rows)


def _items(found: Failures, console: Console, *, text: bool) -> None:
    title = f"{len(found.items)} of {found.selected} items{_filtered(found.filters)}"
    heading(console, title)
    if not text:
        rows = [(_name(one), one.stage, printable(one.question, _QUESTION)) for one in found.items]
        print_table(console, ["id", "stage", "question"], [], rows)
        return
    for one in found.items:
        console.print()
        console.print(Text(printable(f"{_name(one)}: {one.stage}"), style="bold"))
        facts(console, _told(one, (("answer", one.answer),)))


def _told(one: MissedItem, said: Sequence[tuple[str, str | None]]) -> Iterator[tuple[str, str]]:
    yield "why", one.why
    yield "category", one.category
    yield "question", printable(one.question, _TEXT)
    gold = "none: there is no answer" if not one.answerable else "not given"
    yield "gold", gold if one.gold is None else printable(one.gold, _TEXT)
    for label, words in said:
        if words is not None:
            yield label, printable(words, _TEXT)
    for part in one.evidence:
        place = (
            f"session {part.session}" if part.turn is None else f"turn {part.session}:{part.turn}"
        )
        fate = "given" if part.stage is None else f"{part.stage}: {part.why}"
        text = "" if part.text is None else f"; `{printable(part.text, _TEXT)}`"
        yield place, f"{fate}{text}"


def _filtered(filters: Mapping[str, str]) -> str:
    told = ", ".join(f"{name} {printable(value)}" for name, value in filters.items())
    return f" ({told})" if told else ""


def render_shift(found: FailureShift, console: Console, *, text: bool) -> None:
    """Print what moved between two runs; see `render_failures`."""
    for label, side in (("base", found.base), ("candidate", found.candidate)):
        if side.degraded:
            banner(console, f"{_DEGRADED} ({label})", side.degraded)
    lost, gained = sum(found.lost.values()), sum(found.gained.values())
    console.print(
        Text(f"{gained} gained and {lost} lost, of {found.base.all.queries} queries", style="bold")
    )
    lines = []
    for label, side in (("base", found.base), ("candidate", found.candidate)):
        answers = "" if side.answers is None else f", answers {side.answers}, {side.grade}"
        missed = f"{side.all.missed} missed of {side.all.scored} scored"
        lines.append((label, f"{side.run}{answers}: {missed}"))
    facts(console, [*lines, ("rule", found.base.rule), *(("note", note) for note in found.notes)])
    heading(console, "From (rows) to (columns)")
    _matrix(found.matrix, console)
    if found.base.ruler == "answers":
        heading(console, "Whose it is")
        names = sorted({name for cause in found.causes.values() for name in cause})
        rows = [
            (kind, *(str(found.causes[kind].get(name, 0)) for name in names))
            for kind in ("gained", "lost")
        ]
        print_table(console, [""], names, rows)
    shown = f"{len(found.moved)} of {found.selected} moves{_filtered(found.filters)}"
    heading(console, shown)
    if text:
        for one in found.moved:
            console.print()
            console.print(Text(printable(_move(one)), style="bold"))
            said = (("base", one.base_answer), ("candidate", one.candidate_answer))
            facts(console, _told(one.item, said))
        return
    print_table(
        console,
        ["id", "before", "after", "whose", "question"],
        [],
        [
            (
                _name(one.item),
                one.before,
                one.after,
                one.cause or "-",
                printable(one.item.question, _QUESTION),
            )
            for one in found.moved
        ],
    )


def _move(one: Moved) -> str:
    whose = "" if one.cause is None else f" ({one.cause})"
    return f"{_name(one.item)}: {one.before} to {one.after}{whose}"


def _matrix(matrix: Mapping[str, Mapping[str, int]], console: Console) -> None:
    order = [RIGHT, *STAGES, "unscored"]
    before = [place for place in order if place in matrix]
    after = [place for place in order if any(place in to for to in matrix.values())]
    rows = [(row, *(str(matrix[row].get(place, 0)) for place in after)) for row in before]
    print_table(console, ["from"], [place.replace("_", "_\n") for place in after], rows)


def _name(item: MissedItem) -> str:
    """The query's id, behind its conversation where the id does not begin with that."""
    key = item.instance_key
    return item.id if item.id.startswith(key) else f"{key}/{item.id}"
