"""A chat model behind any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp).

The official SDK sends the requests and tries again where that may help. The key is read from the
environment and appears in no identity, message or file. docs/llm.md has the outcome of each fault.
"""

import importlib
import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from time import sleep
from typing import Any

import msgspec

from memruler.errors import InstrumentError, UsageError, printable
from memruler.judges.base import ChatReply, Judged, JudgeIdentity, RefusedRequestError
from memruler.judges.faults import refused_setting, without
from memruler.judges.request import ChatSettings, server_of
from memruler.judges.rubric import Message, Rubric, parse_reply
from memruler.net.sdk import careful_http, key_from

__all__ = ["KEY_VARIABLE", "Chat", "ChatJudge", "ChatReply", "RefusedRequestError"]

KEY_VARIABLE = "OPENAI_API_KEY"
_NO_KEY = "none"
"""What is sent where there is no key: local servers ask for none, the SDK insists on one."""

_RETRIES = 4
_TIMEOUT_SECONDS = 120.0
_PAUSES = (0.5, 2.0)
"""Seconds before a request is sent again whose answer was no completion; then it is given up."""

_OF_THE_REQUEST = {400, 413, 422}
"""Statuses that speak of this request (too long, filtered) and not of the server."""
_LONGEST = 100_000
_LONGEST_NAME = 200
_LONGEST_ERROR = 2_000
_MOST_TOKENS = 2**40
"""A larger count is no count, and the sum of many must fit a column."""
_SHORTEST_SECRET = 8
"""Characters; what local servers are given (`x`, `EMPTY`) is none, and stands in honest answers."""
_FILE_NAME = re.compile(r"^(?:[/\\.~]|[A-Za-z]:[/\\])|\.gguf$", re.IGNORECASE)
_HALF = re.compile(r"[\ud800-\udfff]")
"""Half of a pair: JSON can carry one, no file can."""

_INSTALL = "pip install 'memruler[llm]'"
_CHECK_SERVER = "check that the server runs, serves this model, and supports /chat/completions"


class Chat:
    """One model of one server. May be asked from several threads.

    Args:
        url: The endpoint, up to and with `/v1`.
        model: The model's name there.
        temperature: Sent with every request; None for models that take none.
        seed: Sent with every request; None to send none.
        max_tokens: The most tokens of a reply, where a request says nothing else; None to send
            none.
        max_tokens_field: The name that the server knows it by.
        extra: More fields of the body, as JSON.
        key_variable: The environment variable that holds the key; no key is sent without it.
        served: What the server called its model before, where the work is taken up again.
        timeout: Seconds without a byte after which a try is given up; None for 120.

    Raises:
        UsageError: The URL is none, no model is named, a setting cannot be sent, or the key
            cannot be sent.
        InstrumentError: `memruler[llm]` is not installed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        temperature: float | None = 0.0,
        seed: int | None = None,
        max_tokens: int | None = None,
        max_tokens_field: str = "max_tokens",
        extra: Mapping[str, Any] | None = None,
        key_variable: str = KEY_VARIABLE,
        served: str | None = None,
        timeout: float | None = None,
    ) -> None:
        if not model:
            raise UsageError("no model is named", hint="name it as the server does")
        if timeout is not None and not 0 < timeout < math.inf:
            raise UsageError(f"nobody can wait for {timeout} seconds", hint="such as 120")
        self.settings = ChatSettings(
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            max_tokens_field=max_tokens_field,
            extra={} if extra is None else dict(extra),
        )
        self.settings.check()
        self.server = server_of(url)
        self.model = model
        self._served = served
        self._fingerprints: set[str] = set()
        self._unsupported: set[str] = set()
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
            timeout=_TIMEOUT_SECONDS if timeout is None else timeout,
            http_client=careful_http(self._sdk, timeout),
        )

    @property
    def host(self) -> str:
        """Host and port of the server."""
        return self.server.host

    @property
    def temperature(self) -> float | None:
        """As it is sent; None where none is."""
        return self.settings.temperature

    @property
    def served(self) -> str | None:
        """What the server calls the model that answers; None before the first answer."""
        return self._served

    @property
    def fingerprints(self) -> list[str]:
        """What the server called its backend so far, sorted; empty where it says nothing."""
        with self._lock:
            return sorted(self._fingerprints)

    @property
    def unsupported(self) -> frozenset[str]:
        """Settings that the server refused by name."""
        with self._lock:
            return frozenset(self._unsupported)

    @property
    def client(self) -> str:
        """Name and version of the SDK."""
        return f"openai {version('openai')}"

    def ask(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> ChatReply:
        """Send one request and wait for its answer.

        An answer that is no completion (broken JSON, no choices) is asked for twice more. Each
        may have been paid for.

        Args:
            messages: What to say.
            max_tokens: The most tokens of this reply; None for the setting.

        Raises:
            RefusedRequestError: The server will not answer this request.
            InstrumentError: It fails, answers nothing sensible, does not take a setting, or
                another model answers.
        """
        said = [{"role": message.role, "content": message.text} for message in messages]
        # By `extra_body`, which takes every field and drops none that the SDK does not know.
        extra = self.settings.body(max_tokens)
        for pause in (*_PAUSES, None):
            try:
                reply = self._read(
                    self._client.chat.completions.create(
                        model=self.model, messages=said, extra_body=extra
                    )
                )
            except self._sdk.APIStatusError as error:
                raise self._refused(error, extra) from None  # the cause holds the key
            except self._sdk.APIConnectionError as error:
                raise self._failed(error) from None
            # Where a reply is no completion at all, Python's own errors and the SDK's others.
            except Exception as error:  # noqa: BLE001
                if pause is None:
                    raise self._failed(error) from None
                sleep(pause)
            else:
                self.require_same(reply)
                return reply
        raise AssertionError  # the last try returns or raises

    def require_same(self, reply: ChatReply) -> None:
        """Note who gave a reply, which may be one that was kept.

        Raises:
            InstrumentError: It is another model than before.
        """
        with self._lock:
            if reply.system_fingerprint is not None:
                self._fingerprints.add(reply.system_fingerprint)
            if self._served is None:
                self._served = reply.served
            same = reply.served in (None, self._served)
        if not same:
            raise InstrumentError(
                f"the server answered with model {reply.served} instead of {self._served}",
                where=self.host,
                hint="what two models said does not belong together: choose another name, "
                "and another --draw where there is one",
            )

    def close(self) -> None:
        """Close the connections; nothing can be asked any more."""
        self._client.close()

    def _read(self, reply: Any) -> ChatReply:
        """What is used of the SDK's reply; raises anything where it is no completion."""
        if not reply.choices:
            raise ValueError(f"it holds no choices: {getattr(reply, 'error', None)}")
        choice = reply.choices[0]
        content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
        if not isinstance(content, str | None) or not isinstance(refusal, str | None):
            raise TypeError("the reply is no text")
        fingerprint = getattr(reply, "system_fingerprint", None)
        usage = getattr(reply, "usage", None)
        finish = choice.finish_reason
        return ChatReply(
            text=self._text(content or "")[:_LONGEST],
            finish=None if finish is None else self._name(str(finish)),
            refusal=self._text(refusal)[:_LONGEST] if refusal else None,
            served=self._name(_file_name(str(reply.model or self.model))),
            system_fingerprint=self._name(str(fingerprint)) if fingerprint else None,
            prompt_tokens=_count(getattr(usage, "prompt_tokens", None)),
            completion_tokens=_count(getattr(usage, "completion_tokens", None)),
        )

    def _refused(self, error: Any, sent: Mapping[str, Any]) -> InstrumentError:
        if error.status_code not in _OF_THE_REQUEST:
            return self._failed(error)
        setting = refused_setting(error.body, sent)
        if setting is None:
            return RefusedRequestError(
                self._what(error), where=self.host, hint="ask it something shorter or else"
            )
        with self._lock:
            self._unsupported.add(setting)
        return InstrumentError(
            f"the server does not take {setting}: {self._harmless(str(error))[:_LONGEST_ERROR]}",
            where=self.host,
            hint=without(setting),
        )

    def _failed(self, error: Exception) -> InstrumentError:
        return InstrumentError(self._what(error), where=self.host, hint=_CHECK_SERVER)

    def _what(self, error: Exception) -> str:
        text = f"{type(error).__name__}: {error}"
        if error.__cause__ is not None:  # the SDK says `Connection error.` of anything
            text += f" ({error.__cause__})"
        return f"the server failed: {self._harmless(text)[:_LONGEST_ERROR]}"

    def _name(self, text: str) -> str:
        return printable(self._harmless(text), _LONGEST_NAME)

    def _text(self, text: str) -> str:
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", self._harmless(text))

    def _harmless(self, text: str) -> str:
        """A text of the server without the key, should it have repeated it."""
        if len(self._key) >= _SHORTEST_SECRET:
            # Also as JSON and Python would write it: errors quote the body of an answer.
            for form in (self._key, json.dumps(self._key)[1:-1], repr(self._key)[1:-1]):
                text = text.replace(form, "***")
        return text


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


def _count(number: object) -> int | None:
    """Tokens as the server tells them; None where it tells none that can be."""
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < _MOST_TOKENS:
        return number
    return None
