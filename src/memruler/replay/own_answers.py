"""Asks a memory for answers of its own, after all searches: no ranking can depend on one."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memruler.errors import SystemUnderTestError, UsageError
from memruler.model.system import Answers, Memory, SearchRequest

__all__ = ["OwnAnswer", "own_answers", "require_answers"]


class OwnAnswer(NamedTuple):
    """What a memory said to one query.

    Attributes:
        text: Its answer; None where it said nothing, failed or was not asked.
        error: One line, where it failed.
    """

    text: str | None = None
    error: str | None = None


def require_answers(memory: Memory) -> Answers:
    """The memory as one that answers.

    Raises:
        UsageError: It does not answer questions.
    """
    if not isinstance(memory, Answers):
        raise UsageError(
            "this system gives no answers of its own: its memory has no `answer`",
            hint="leave out --answers; `memruler answer RUN` lets a reader answer from the hits",
        )
    return memory


def own_answers(
    memory: Answers, requests: Sequence[SearchRequest], tick: Callable[[str, int, int], None]
) -> list[OwnAnswer]:
    """Ask for one answer a request, in order; one that fails is kept as its error.

    Args:
        memory: Everything is written, and every search is done.
        requests: The same as were searched.
        tick: Told about every answer.
    """
    found: list[OwnAnswer] = []
    for done, request in enumerate(requests, 1):
        try:
            found.append(OwnAnswer(memory.answer(request.text, request.at)))
        except SystemUnderTestError as failure:
            found.append(OwnAnswer(error=str(failure)))
        tick("answer", done, len(requests))
    return found
