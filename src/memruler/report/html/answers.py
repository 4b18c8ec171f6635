"""What graders said of answers: of one run, and paired between two."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from markupsafe import Markup

from memruler.compare.gate import Gate, gate
from memruler.errors import MemrulerError, Refusal
from memruler.report import numbers
from memruler.report.figures.forest import forest
from memruler.report.grades_words import facts_of, headline, published
from memruler.report.html.environment import render
from memruler.report.html.figures import figure_body
from memruler.report.html.parts import Section, Table, callout, facts_table, table
from memruler.report.read import Gradings, read_gradings
from memruler.report.terminal_gate import gate_facts, size
from memruler.scoring.grade_record import GradeSummary

__all__ = ["GatedAnswers", "gated_answers", "gated_sections", "grades_section"]


class GatedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """One grading that both runs have, paired.

    Attributes:
        answers, grade: Its names.
        gate: The decision whether the candidate is better; None where it was refused.
        refused: Why, one reason each; empty where there is a gate.
    """

    answers: str
    grade: str
    gate: Gate | None
    refused: tuple[str, ...]


def grades_section(found: Gradings) -> Section | None:
    """Every grading of a run's answers; None where there is none."""
    if not found.found and not found.broken:
        return None
    parts = [render("answers.html.j2")]
    for (answers, name), summary in found.found.items():
        parts += [
            Markup("<h3>{}, graded by {}</h3>").format(answers, summary.grader),
            Markup("<p><code>{}</code>: {}.</p>").format(summary.metric, headline(summary)),
            callout("bad", "Degraded: do not trust these grades", summary.degraded),
            _slices(summary, f"{answers} / {name}"),
            render(
                "more.html.j2",
                label="What stands beside these grades",
                body=facts_table(f"{answers} / {name}", (*published(summary), *facts_of(summary))),
            ),
        ]
    broken = [f"{answers} / {name}: {why}" for (answers, name), why in found.broken.items()]
    parts.append(callout("warn", "Gradings that cannot be shown", broken))
    return Section(id="answers", title="Answers", body=Markup().join(parts))


def _slices(summary: GradeSummary, name: str) -> Markup:
    rows = [
        (
            one.name,
            numbers.mean(one.mean),
            "exact"
            if one.interval is None
            else f"{numbers.mean(one.interval.low)} to {numbers.mean(one.interval.high)}",
            *map(str, (one.scored, one.answered, one.items)),
        )
        for one in summary.slices
    ]
    if summary.ruler != "exact":
        rows = [
            (row[0], row[1], row[2] if one.interval else f"none: {one.no_interval}", *row[3:])
            for row, one in zip(rows, summary.slices, strict=True)
        ]
    accuracy = "" if summary.accuracy else " (not an accuracy)"
    return table(
        Table(
            caption=f"{name}: mean {summary.metric}{accuracy} over the scored, of all items",
            heads=("category", summary.metric, "95 % interval", "scored", "answered", "items"),
            sides="lrlrrr",
            rows=rows,
            lead=(0,),
        )
    )


def gated_answers(
    base: Path, candidate: Path, changed: Sequence[str] = (), *, shared: bool = False
) -> list[GatedAnswers]:
    """Hold every grading against the one of the same name in the other run.

    A difference that two readers or judges make is refused, as the verb `gate` would. Items of a
    conversation move together, so whole conversations are resampled where there is an interval.

    Args:
        base: Run folder of the baseline.
        candidate: Run folder of the candidate.
        changed: What is under test.
        shared: Take the items with a value on both sides.
    """
    left, right = (set(read_gradings(path).found) for path in (base, candidate))
    return [
        _gated(base, candidate, name, tuple(changed), shared=shared)
        for name in sorted(left & right)
    ]


def _gated(
    base: Path, candidate: Path, name: tuple[str, str], changed: tuple[str, ...], *, shared: bool
) -> GatedAnswers:
    answers, grade = name
    one, other = (run / "answers" / answers / "grades" / grade for run in (base, candidate))
    refused: tuple[str, ...] = ()
    found = None
    try:
        found = gate(
            one, other, cluster="conversation", by="category", changed=changed, shared=shared
        )
    except Refusal as refusal:
        refused = refusal.reasons
    except MemrulerError as error:
        refused = (str(error),)
    return GatedAnswers(answers=answers, grade=grade, gate=found, refused=refused)


def gated_sections(found: Sequence[GatedAnswers]) -> Section | None:
    """The paired decisions as one section; None where both runs share no grading."""
    if not found:
        return None
    parts: list[Markup] = []
    for one in found:
        parts.append(Markup("<h3>{} / {}</h3>").format(one.answers, one.grade))
        if one.gate is None:
            parts.append(callout("warn", "Not comparable", one.refused))
        else:
            parts += _decision(one.gate)
    return Section(id="answers", title="Graded answers", body=Markup().join(parts))


_SAID = {
    "pass": ("good", "▲", "Better"),
    "fail": ("bad", "▼", "Not better"),
    "unresolved": ("warn", "?", "Unresolved"),
}


def _decision(found: Gate) -> Iterator[Markup]:
    tone, sign, word = _SAID[found.outcome]
    interval = found.interval
    told = f"{found.metric} {size(found.delta)}" + (
        ", exact" if interval is None else f", 95 % {size(interval.low)} to {size(interval.high)}"
    )
    counts = f"{found.wins:,} up, {found.losses:,} down, {found.ties:,} the same"
    yield Markup("<p><strong class='{}'>{} {}.</strong> {}, over {} items: {}.</p>").format(
        tone, sign, word, told, f"{found.counted:,}", counts
    )
    yield callout("bad", "Degraded: do not trust these numbers", found.degraded)
    drawn = forest(found)
    if drawn is not None:
        yield figure_body(drawn)
    rests = facts_table("What the decision rests on", gate_facts(found))
    yield render("more.html.j2", label="What the decision rests on", body=rests)
