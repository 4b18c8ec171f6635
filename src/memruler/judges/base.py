"""What a judge is: an instrument with an identity that gives one label a case."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from memruler.errors import InstrumentError

__all__ = ["ChatReply", "Judge", "JudgeIdentity", "Judged", "RefusedRequestError"]


class RefusedRequestError(InstrumentError):
    """The server or the model will not answer this one request; others may fare better."""


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model said to one request.

    Attributes:
        text: What was said; empty where nothing was.
        finish: Why it ended, as the server says (`stop`, `length`, `content_filter`).
        refusal: Why the model declines, where the server has a field for it; else None.
        served: What the server calls the model that answered; None where it is not known.
        system_fingerprint: What the server calls its backend; None where it does not say.
        prompt_tokens, completion_tokens: As the server counts; None where it does not say.
        reused: Whether the reply was paid for before, or by another request with the same words.
    """

    text: str
    finish: str | None
    refusal: str | None = None
    served: str | None = None
    system_fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused: bool = False


class JudgeIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Which instrument judged; two judges with the same identity are asked the same.

    Attributes:
        kind: How it is reached, such as `openai-chat`.
        model: The model that was asked for.
        served: The model that the server says it answered with; None before the first answer.
        host: Host and port of the server; no user, key or path.
        rubric: Name of the rubric.
        rubric_sha256: Of the rubric's file.
        prompt_sha256: Of the messages that a fixed case makes, so that a change of the template
            shows as well.
        temperature: As it is sent; None where the server's own is used.
        client: Name and version of what sends the requests.
    """

    kind: str
    model: str
    served: str | None
    host: str
    rubric: str
    rubric_sha256: str
    prompt_sha256: str
    temperature: float | None
    client: str


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said of a case.

    Attributes:
        label: One of the rubric's labels; None where the reply has none.
        reason: Why there is no label; None where there is one.
        reply: What it said, at most 200 characters; None where it said nothing.
    """

    label: str | None
    reason: str | None = None
    reply: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Labels cases, one at a time; `label` is called from several threads."""

    def identity(self) -> JudgeIdentity:
        """Which instrument this is, read from the live object."""
        ...

    def label(self, case: Mapping[str, str]) -> Judged:
        """Judge one case.

        Args:
            case: The rubric's fields; hostile text.

        Raises:
            InstrumentError: The judge cannot be asked. A reply without a label is no error.
        """
        ...
