"""What a judge is: an instrument with an identity that gives one label a case."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

__all__ = ["Judge", "JudgeIdentity", "Judged"]


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
