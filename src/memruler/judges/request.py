"""What is sent to a chat model beside its messages, and to whom."""

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from memruler.errors import UsageError

__all__ = ["MAX_TOKENS_FIELDS", "ChatSettings", "Server", "server_of"]

MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")
"""Names by which servers know the limit of a reply; OpenAI's newer models take the second only."""

_OWN = {"model", "messages", "temperature", "seed", "stream", "stream_options", "n"}
"""What `extra` may not hold: it has an option of its own, or the reply would be another thing."""


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings as they are sent; what is None is not sent.

    Attributes:
        temperature: Of the sampling, from 0.
        seed: Of the sampling; the same one with every request.
        max_tokens: The most tokens of a reply, from 1.
        max_tokens_field: The name that the server knows it by; see `MAX_TOKENS_FIELDS`.
        extra: More fields of the body, such as `{"cache_prompt": false}` for llama.cpp.
    """

    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = None
    max_tokens_field: str = MAX_TOKENS_FIELDS[0]
    extra: Mapping[str, Any] = {}

    def check(self) -> None:
        """Refuse what cannot be sent.

        Raises:
            UsageError: A setting has a value that no server could take.
        """
        if self.temperature is not None and not math.isfinite(self.temperature):
            raise UsageError(f"the temperature {self.temperature} is no number", hint="such as 0")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"a reply of {self.max_tokens} tokens is none", hint="such as 256")
        if self.max_tokens_field not in MAX_TOKENS_FIELDS:
            raise UsageError(
                f"no server knows the limit of a reply as {self.max_tokens_field!r}",
                hint=f"known: {', '.join(MAX_TOKENS_FIELDS)}",
            )
        taken = sorted((_OWN | set(MAX_TOKENS_FIELDS)) & set(self.extra))
        if taken:
            raise UsageError(
                f"the extra body may not hold {', '.join(taken)}",
                hint="use the option of that name, where there is one",
            )
        try:
            json.dumps(dict(self.extra), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(
                f"the extra body is no JSON object: {error}", hint='such as {"cache_prompt": false}'
            ) from None

    def body(self, max_tokens: int | None = None) -> dict[str, Any]:
        """The fields of a request's body beside model and messages.

        Args:
            max_tokens: In place of the setting, for this request.
        """
        limit = self.max_tokens if max_tokens is None else max_tokens
        own = {"temperature": self.temperature, "seed": self.seed, self.max_tokens_field: limit}
        return {**{name: value for name, value in own.items() if value is not None}, **self.extra}


class Server(msgspec.Struct, frozen=True):
    """A server by its URL, without what can hold a secret: user, password, query.

    Attributes:
        host: Host and port.
        endpoint: Scheme, host, port and path.
    """

    host: str
    endpoint: str


def server_of(url: str) -> Server:
    """Which server a URL names.

    Raises:
        UsageError: It is no URL of a server.
    """
    try:
        parts = urlsplit(url)
        host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        if parts.scheme in {"http", "https"} and parts.hostname and url.isprintable():
            return Server(host, f"{parts.scheme}://{host}{parts.path.rstrip('/')}")
    except ValueError:
        pass
    raise UsageError(
        "the endpoint is no URL of a server", hint="such as http://127.0.0.1:11434/v1 for Ollama"
    )
