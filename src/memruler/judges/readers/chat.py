"""A reader that is a chat model; replies are kept, counted and capped by whom it asks."""

from collections.abc import Sequence
from typing import Protocol

from memruler.judges.base import ChatReply, RefusedRequestError
from memruler.judges.readers.base import ReaderInput, ReaderReply
from memruler.judges.readers.prompt import ReaderPrompt
from memruler.judges.rubric import Message
from memruler.model.answers import InstrumentIdentity, Usage

__all__ = ["AsksModel", "ChatReader"]


class AsksModel(Protocol):
    """One model that is asked; see `memruler.judges.asking.Asker`."""

    def ask(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, repeat: int = 0
    ) -> ChatReply:
        """The reply to a request, or to one of its re-draws."""
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


class ChatReader:
    """A prompt put to a model; see `Reader`.

    Args:
        asker: Whom to ask.
        prompt: What to say.
    """

    draws = True

    def __init__(self, asker: AsksModel, prompt: ReaderPrompt) -> None:
        self._asker = asker
        self._prompt = prompt

    def identity(self) -> InstrumentIdentity:
        """See `Reader.identity`."""
        return self._asker.identity(self._prompt.name, self._prompt.sha256())

    def answer(self, question: ReaderInput, *, repeat: int = 0) -> ReaderReply:
        """See `Reader.answer`; a request that the server refuses is a reply with its error."""
        try:
            reply = self._asker.ask(self._prompt.messages(question), repeat=repeat)
        except RefusedRequestError as error:
            return ReaderReply(text=None, error=f"refused: {error.what}")
        return ReaderReply(
            text=reply.text.strip(),
            finish=reply.finish,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )

    def usage(self) -> Usage:
        """See `Reader.usage`."""
        return self._asker.usage()

    def usage_total(self) -> Usage:
        """See `Reader.usage_total`."""
        return self._asker.usage_total()
