"""Puts answers to a grader, with its judge where it has one, and gets a row for each."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Protocol

import msgspec

from memruler.errors import InstrumentError, printable
from memruler.judges.base import RefusedRequestError
from memruler.judges.many import run_many
from memruler.model.answers import AnswerItem, Graded, InstrumentIdentity, Usage
from memruler.scoring.graders.base import Ask, Grader
from memruler.store.grades import GradeRow

__all__ = ["JudgeAsker", "Tick", "grade_item", "graded_rows", "row_counts"]

_SHOWN = 200
Tick = Callable[[int, int], object]


class JudgeAsker(Protocol):
    """Whom a grader's questions are put to; `memruler.judges.asking.Asker` is one."""

    def repeat(self, number: int) -> Ask:
        """Asks for the re-draw `number`, from 0."""
        ...

    def identity(self, prompt: str, prompt_sha256: str) -> InstrumentIdentity:
        """Which instrument it is with a prompt."""
        ...

    def usage(self) -> Usage:
        """What was paid for now."""
        ...

    def usage_total(self) -> Usage:
        """What all replies cost that were given out."""
        ...


def grade_item(grader: Grader, item: AnswerItem, ask: Ask | None) -> Graded:
    """One answer; what cannot be scored has a reason and no value.

    Raises:
        InstrumentError: The judge cannot be asked, or the grader gave no share.
    """
    if item.response is None:
        return Graded(value=None, reason=_text(item.error or "there is no answer"))
    try:
        found = grader.grade(item, ask)
    except RefusedRequestError as error:
        return Graded(value=None, reason=_text(error.what))
    if found.value is not None and not (isfinite(found.value) and 0 <= found.value <= 1):
        raise InstrumentError(
            f"the grader {grader.name} gave {found.value}",
            where=item.id,
            hint="a share from 0 to 1",
        )
    if found.value is None and found.reason is None:
        raise InstrumentError(
            f"the grader {grader.name} gave neither a value nor a reason", where=item.id
        )
    # A reply may hold what no table can: half of a pair of surrogates.
    return msgspec.structs.replace(
        found,
        reason=None if found.reason is None else _text(found.reason),
        label=None if found.label is None else _text(found.label),
        reply=None if found.reply is None else _sound(found.reply)[:_SHOWN],
    )


def graded_rows(
    grader: Grader,
    judge: JudgeAsker | None,
    work: Sequence[tuple[AnswerItem, int]],
    at_a_time: int,
    tick: Tick,
) -> list[GradeRow]:
    """Grade answers, in order.

    Args:
        grader: Who scores them.
        judge: Whom it asks; None where it asks nobody.
        work: Each answer, and the judge's draw.
        at_a_time: Answers under way, where a judge is asked.
        tick: Told how many of how many are done.

    Raises:
        InstrumentError: The judge cannot be asked; what it said before is kept by whoever asks.
    """

    def one(given: tuple[AnswerItem, int]) -> GradeRow:
        item, draw = given
        ask = None if judge is None else judge.repeat(draw)
        return GradeRow(
            instance=item.instance,
            query=item.query,
            repeat=item.repeat,
            draw=draw,
            instance_key=item.instance_key,
            id=item.id,
            category=item.category,
            answerable=item.answerable,
            graded=grade_item(grader, item, ask),
        )

    if judge is None:
        rows = []
        for given in work:
            rows.append(one(given))
            tick(len(rows), len(work))
        return rows
    found = dict(run_many(one, work, at_a_time=at_a_time, tick=tick))
    return [found[place] for place in range(len(work))]


def row_counts(rows: Sequence[GradeRow]) -> dict[str, int]:
    """`items`, `scored`, and reasons of the unscored."""
    reasons = Counter(row.graded.reason for row in rows if row.graded.reason is not None)
    scored = sum(row.graded.value is not None for row in rows)
    return {"items": len(rows), "scored": scored, **dict(sorted(reasons.items()))}


def _sound(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _text(text: str) -> str:
    return printable(_sound(text), _SHOWN)
