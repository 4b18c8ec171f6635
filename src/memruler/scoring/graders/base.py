"""What a grader is: an answer and its question in, one value out.

A grader is named `<data set>:<profile>`, such as `locomo:official`. It reads no file and asks
nobody but the judge that it is handed; the same item and the same replies give the same value.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from memruler.judges.rubric import Message
from memruler.model.answers import AnswerItem, Graded

__all__ = ["Ask", "Grader", "JudgeSaid", "no_judge"]


class JudgeSaid(Protocol):
    """A judge's reply."""

    @property
    def text(self) -> str:
        """All that it said; may be empty."""

    @property
    def finish(self) -> str | None:
        """Why it ended, as the server says (`stop`, `length`, `content_filter`)."""


class Ask(Protocol):
    """Puts messages to the judge and waits; replies come from the cache where they were paid for.

    Raises what `Chat.ask` raises. A request that the server refuses is a `RefusedRequestError`,
    which makes that one item unscored.
    """

    def __call__(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> JudgeSaid:
        """Ask; see above."""
        ...


@runtime_checkable
class Grader(Protocol):
    """Scores answers; `grade` is called from several threads.

    Attributes:
        name: `<data set>:<profile>`.
        metric: What its value is called: `f1`, `accuracy`, `rubric`.
        judged: Whether it needs a judge for some items.
        accuracy: Whether the value may be called an accuracy; a lexical overlap may not.
    """

    name: str
    metric: str
    judged: bool
    accuracy: bool

    def sha256(self) -> str:
        """Digest of the code and the texts (templates, rubrics) that shape a value."""
        ...

    def grade(self, item: AnswerItem, ask: Ask | None) -> Graded:
        """Score one answer.

        Args:
            item: The query and what was said to it. All of its text is hostile.
            ask: The judge; None where there is none, and then what needs one is unscored.
        """
        ...


def no_judge() -> Graded:
    """An item that needs a judge where there is none: unscored, never 0."""
    return Graded(value=None, reason="no judge")
