"""A chat model behind any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp).

The official SDK sends the requests and tries again where that may help. The key is read from the
environment and appears in no identity, message or file.
"""

import importlib
import math
import re
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import msgspec

from memruler.errors import InstrumentError, UsageError, printable
from memruler.judges.base import Judged, JudgeIdentity
from memruler.judges.rubric import Message, Rubric, parse_reply
from memruler.net.sdk import careful_http, key_from

__all__ = ["KEY_VARIABLE", "Chat", "ChatJudge", "ChatReply", "RefusedRequestError"]

KEY_VARIABLE = "OPENAI_API_KEY"
_NO_KEY = "none"
"""What is sent where there is no key: local servers ask for none, the SDK insists on one."""

_RETRIES = 4
_TIMEOUT_SECONDS = 120.0
_OF_THE_REQUEST = {400, 413, 422}
"""Statuses that speak of this request (too long, filtered) and not of the server."""
_LONGEST = 100_000
_LONGEST_NAME = 200
_FILE_NAME = re.compile(r"^(?:[/\\.~]|[A-Za-z]:[/\\])|\.gguf$", re.IGNORECASE)
_INSTALL = "pip install 'memruler[llm]'"
_CHECK_SERVER = "check that the server runs, serves this model, and supports /chat/completions"


class RefusedRequestError(InstrumentError):
    """The server will not answer this one request; others may fare better."""


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer.

    Attributes:
        text: What was said; empty where nothing was.
        finish: Why it ended, as the server says (`stop`, `length`, `content_filter`).
    """

    text: str
    finish: str | None


class Chat:
    """One model of one server. May be asked from several threads.

    Args:
        url: The endpoint, up to and with `/v1`.
        model: The model's name there.
        temperature: Sent with every request; None for models that take none.
        key_variable: The environment variable that holds the key; no key is sent without it.
        served: What the server called its model before, where the work is taken up again.

    Raises:
        UsageError: The URL is none, no model is named, the temperature is no number, or the key
            cannot be sent.
        InstrumentError: `memruler[llm]` is not installed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        temperature: float | None = 0.0,
        key_variable: str = KEY_VARIABLE,
        served: str | None = None,
    ) -> None:
        if not model:
            raise UsageError("no model is named", hint="name it as the server does")
        if temperature is not None and not math.isfinite(temperature):
            raise UsageError(f"the temperature {temperature} is no number", hint="such as 0")
        self.host = _host(url)
        self.model = model
        self.temperature = temperature
        self._served = served
        self._lock = threading.Lock()
        try:
            self._sdk: Any = importlib.import_module("openai")
        except ImportError as error:
            raise InstrumentError(
                f"the package openai is not usable: {error}", hint=_INSTALL
            ) from error
        self._key = key_from(key_variable) or _NO_KEY
        self._client = self._sdk.OpenAI(
            base_url=url,
            api_key=self._key,
            max_retries=_RETRIES,
            timeout=_TIMEOUT_SECONDS,
            http_client=careful_http(self._sdk),
        )

    @property
    def served(self) -> str | None:
        """What the server calls the model that answers; None before the first answer."""
        return self._served

    @property
    def client(self) -> str:
        """Name and version of the SDK."""
        return f"openai {version('openai')}"

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Send one request and wait for its answer.

        Raises:
            RefusedRequestError: The server will not answer this request.
            InstrumentError: It fails, answers nothing sensible, or another model answers.
        """
        options = {} if self.temperature is None else {"temperature": self.temperature}
        try:
            reply = self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": said.role, "content": said.text} for said in messages],
                **options,
            )
            served = self._harmless(_file_name(str(reply.model or self.model)))
            served = printable(served, _LONGEST_NAME)
            (choice, *_) = reply.choices
            content = choice.message.content
            finish = choice.finish_reason
        except self._sdk.APIStatusError as error:
            kind = RefusedRequestError if error.status_code in _OF_THE_REQUEST else InstrumentError
            raise self._failed(error, kind) from None  # the cause holds the key in its request
        # The SDK's other errors and, where a reply is no completion at all, Python's own.
        except Exception as error:  # noqa: BLE001
            raise self._failed(error, InstrumentError) from None
        if content is not None and not isinstance(content, str):
            raise InstrumentError(
                "the judge's server gave something that is no text",
                where=self.host,
                hint=_CHECK_SERVER,
            )
        self._require_same(served)
        return ChatReply(
            text=self._harmless(content or "")[:_LONGEST],
            finish=None if finish is None else printable(self._harmless(str(finish))),
        )

    def _require_same(self, served: str) -> None:
        with self._lock:
            if self._served is None:
                self._served = served
            same = served == self._served
        if not same:
            raise InstrumentError(
                f"the judge's server answered with model {served} instead of {self._served}",
                where=self.host,
                hint="labels of two models do not belong in one column: choose another name",
            )

    def _failed(self, error: Exception, kind: type[InstrumentError]) -> InstrumentError:
        text = f"{type(error).__name__}: {error}"
        if error.__cause__ is not None:  # the SDK says `Connection error.` of anything
            text += f" ({error.__cause__})"
        return kind(
            f"the judge's server failed: {self._harmless(text)}",
            where=self.host,
            hint=_CHECK_SERVER,
        )

    def _harmless(self, text: str) -> str:
        """A text of the server without the key, should it have repeated it."""
        return text if self._key == _NO_KEY else text.replace(self._key, "***")


class ChatJudge:
    """A rubric put to a chat model; see `Judge`.

    Args:
        chat: Whom to ask.
        rubric: What to ask.
    """

    def __init__(self, chat: Chat, rubric: Rubric) -> None:
        self._chat = chat
        self._rubric = rubric

    def identity(self) -> JudgeIdentity:
        """See `Judge.identity`."""
        return JudgeIdentity(
            kind="openai-chat",
            model=self._chat.model,
            served=self._chat.served,
            host=self._chat.host,
            rubric=self._rubric.name,
            rubric_sha256=self._rubric.sha256,
            prompt_sha256=self._rubric.prompt_sha256(),
            temperature=self._chat.temperature,
            client=self._chat.client,
        )

    def label(self, case: Mapping[str, str]) -> Judged:
        """See `Judge.label`; a case that the server refuses has no label, with its reason."""
        try:
            reply = self._chat.ask(self._rubric.messages(case))
        except RefusedRequestError as error:
            return Judged(label=None, reason=f"refused: {error.what}")
        found = parse_reply(reply.text, self._rubric)
        if found.label is None and reply.finish not in (None, "stop"):
            return msgspec.structs.replace(found, reason=f"{found.reason} ({reply.finish})")
        return found


def _file_name(served: str) -> str:
    """The model's name; of a path, as llama.cpp reports one, the last part only."""
    return re.split(r"[/\\]", served)[-1] if _FILE_NAME.search(served) else served


def _host(url: str) -> str:
    """Host and port of a URL; user, password, path and query can hold a secret."""
    try:
        parts = urlsplit(url)
        host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable()
    except ValueError:
        usable, host = False, ""
    if not usable:
        raise UsageError(
            "the endpoint is no URL of a server",
            hint="such as http://127.0.0.1:11434/v1 for Ollama",
        )
    return host
