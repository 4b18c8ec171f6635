"""What a reader is: it is shown a question and texts in order of rank, and says something."""

from datetime import datetime
from typing import Final, Protocol

import msgspec

from memruler.model.answers import InstrumentIdentity, Usage

__all__ = ["REFUSAL", "Reader", "ReaderInput", "ReaderReply"]

REFUSAL: Final = "No information available"
"""What a reader says where the texts do not hold the answer; LoCoMo's scoring looks for it."""


class ReaderInput(msgspec.Struct, frozen=True, kw_only=True):
    """All that a reader is shown. No gold, category or id is in here.

    Attributes:
        question: Its text; hostile.
        asked: When it is asked, on the run's timeline; None when not known.
        context: Texts of the hits, best first; hostile. May be empty.
    """

    question: str
    asked: datetime | None = None
    context: tuple[str, ...] = ()


class ReaderReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader said.

    Attributes:
        text: The answer; empty where it said nothing; None where it could not be asked.
        error: Why there is no answer; None where there is one.
        finish: Why it ended, as the server says (`stop`, `length`); None without a server.
        prompt_tokens, completion_tokens: As the server counts; None where it does not say.
    """

    text: str | None
    error: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Reader(Protocol):
    """Answers questions, one at a time; `answer` is called from several threads.

    Attributes:
        draws: Whether asking again may give another answer, so that repeats mean something.
    """

    draws: bool

    def identity(self) -> InstrumentIdentity:
        """Which reader this is, read from the live object."""
        ...

    def answer(self, question: ReaderInput, *, repeat: int = 0) -> ReaderReply:
        """Answer one question.

        Args:
            question: What it is shown.
            repeat: 0-based re-draw.

        Raises:
            InstrumentError: The reader cannot be asked at all. That it cannot be asked this one
                question is a reply with an error.
        """
        ...

    def usage(self) -> Usage:
        """What was spent since it was opened."""
        ...

    def usage_total(self) -> Usage:
        """What all its replies cost, those that were paid for before included."""
        ...
