"""Asks one model much: each request is paid for once, counted, and within a cap."""

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from time import monotonic
from typing import Any, Protocol, Self

import msgspec

from memruler.errors import Interrupted
from memruler.judges.base import ChatReply, RefusedRequestError
from memruler.judges.budget import Budget
from memruler.judges.chat import Chat
from memruler.judges.replies import Replies, reply_key
from memruler.judges.rubric import Message
from memruler.judges.sameness import Sameness
from memruler.model.answers import InstrumentIdentity, Usage

__all__ = ["Asker", "Asks"]

_PATIENCE_SECONDS = 10.0
_SHOWN = 300


class Asks(Protocol):
    """Puts messages to a model and waits."""

    def __call__(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> ChatReply:
        """See `Asker.ask`."""
        ...


class Asker:
    """One model, its kept replies and a budget. May be asked from several threads.

    As a context it waits, when it is left, for the requests under way and keeps their replies.

    Args:
        chat: Whom to ask.
        replies: Where replies are kept; None to keep none.
        budget: What may be spent; None for one without a cap.
        draw: Name of a series of requests; another name asks everything anew.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        replies: Replies | None = None,
        budget: Budget | None = None,
        draw: str = "",
    ) -> None:
        self.chat = chat
        self.draw = draw
        self._replies = replies
        self._budget = Budget() if budget is None else budget
        self._sameness = Sameness()
        self._changed = threading.Condition()
        self._under_way: dict[str, Future[ChatReply]] = {}
        self._counted: set[str] = set()
        self._total = Budget(self._budget.prices)
        self._closed = False

    def __call__(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> ChatReply:
        """Ask for the first draw; see `ask`."""
        return self.ask(messages, max_tokens=max_tokens)

    def repeat(self, number: int) -> Asks:
        """Asks as this does, for the re-draw `number` (from 0)."""
        return partial(self.ask, repeat=number)

    def ask(
        self, messages: Sequence[Message], *, max_tokens: int | None = None, repeat: int = 0
    ) -> ChatReply:
        """The reply to a request: the kept one, or one that is paid for now and then kept.

        The same request from two threads is sent once.

        Args:
            messages: What to say.
            max_tokens: The most tokens of the reply; None for the chat's setting.
            repeat: 0-based re-draw: each is a request of its own with the same words.

        Raises:
            RefusedRequestError: The server will not answer this request, its filter cut the
                reply off, or the model declined in the field for it.
            InstrumentError: See `Chat.ask`; or replies cannot be kept.
            Interrupted: The cap is reached, or the asker is closed.
            Refusal: A cap cannot be kept, since the server does not count.
            UsageError: There is a cap, and no limit to the reply.
        """
        body = self.chat.settings.body(max_tokens)
        shaped = partial(
            reply_key,
            endpoint=self.chat.server.endpoint,
            model=self.chat.model,
            messages=messages,
            body=body,
            draw=self.draw,
        )
        key = shaped(repeat=repeat)
        reply = self._shared(key, messages, max_tokens)
        settings = self.chat.settings
        if settings.temperature == 0 or settings.seed is not None:
            text = hashlib.sha256(reply.text.encode()).hexdigest()
            self._sameness.note(shaped(repeat=0), repeat, text)
        if reply.finish == "content_filter" or (reply.refusal is not None and not reply.text):
            why = "the filter of the server" if reply.refusal is None else reply.refusal[:_SHOWN]
            raise RefusedRequestError(
                f"the model refused: {why}", where=self.chat.host, hint="ask it something else"
            )
        return reply

    def _shared(self, key: str, messages: Sequence[Message], max_tokens: int | None) -> ChatReply:
        """The reply of this thread's own request, or of the same one that is under way."""
        mine: Future[ChatReply] = Future()
        with self._changed:
            self._require_open()
            other = self._under_way.setdefault(key, mine)
        if other is not mine:
            reply = msgspec.structs.replace(other.result(), reused=True)
            self._budget.reuse(reply)
            return reply
        try:
            reply = self._fetched(key, messages, max_tokens)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            with self._changed:
                del self._under_way[key]
                self._changed.notify_all()

    def _require_open(self) -> None:
        if self._closed:
            raise Interrupted("nothing is asked any more", hint="run the same command again")

    def _fetched(self, key: str, messages: Sequence[Message], max_tokens: int | None) -> ChatReply:
        kept = None if self._replies is None else self._replies.get(key)
        if kept is not None:
            self.chat.require_same(kept)
            reply = msgspec.structs.replace(kept, reused=True)
            self._budget.reuse(reply)
        else:
            limit = self.chat.settings.max_tokens if max_tokens is None else max_tokens
            held = self._budget.hold(messages, limit)
            try:
                self._require_open()  # the wait for the budget may have been long
                reply = paid = self.chat.ask(messages, max_tokens=max_tokens)
                if self._replies is not None:
                    reply = self._replies.put(key, paid)
            except BaseException:
                self._budget.release(held)
                raise
            self._budget.settle(held, paid)
        with self._changed:
            new = key not in self._counted
            self._counted.add(key)
        if new:
            self._total.settle(None, reply)
        return reply

    def identity(self, prompt: str, prompt_sha256: str) -> InstrumentIdentity:
        """Which instrument this is with a prompt, as far as it is known by now.

        `honoured` has `unknown` for a setting until something is seen: `no` where the server
        refused it by name, or where repeats of one request at temperature 0, or with the seed,
        were not the same; `yes` where all of them were. The numbers stand behind the word.

        Args:
            prompt: Name of the prompt or rubric.
            prompt_sha256: Of the messages that a fixed case makes.
        """
        settings = self.chat.settings
        sent: dict[str, Any] = {
            name: value for name, value in settings.body().items() if name not in settings.extra
        }
        if settings.extra:
            sent["extra"] = dict(settings.extra)
        seen = self._sameness.said()
        honoured: dict[str, str] = {}
        for name in ("temperature", "seed"):
            if name in self.chat.unsupported:
                honoured[name] = "no (the server refused it)"
            elif name in sent:
                # Sameness says something of greedy decoding and of a seed, and of nothing else.
                tells = name == "seed" or settings.temperature == 0
                honoured[name] = seen if tells else "unknown"
        return InstrumentIdentity(
            kind="openai-chat",
            model=self.chat.model,
            served=self.chat.served,
            system_fingerprint=", ".join(self.chat.fingerprints) or None,
            host=self.chat.host,
            prompt=prompt,
            prompt_sha256=prompt_sha256,
            settings=sent,
            honoured=honoured,
            client=self.chat.client,
        )

    def usage(self) -> Usage:
        """What was paid for now, and how often a kept reply was used."""
        return self._budget.usage()

    def usage_total(self) -> Usage:
        """What all replies cost that were given out, each once, paid for now or before."""
        return self._total.usage()

    def close(self, patience: float = _PATIENCE_SECONDS) -> None:
        """Ask nothing more, wait for the requests under way, and close the kept replies.

        Args:
            patience: Seconds to wait at most; a reply that comes later is lost.
        """
        end = monotonic() + patience
        with self._changed:
            self._closed = True
            while self._under_way and (left := end - monotonic()) > 0:
                self._changed.wait(left)
            idle = not self._under_way
        if idle:  # else its thread ends with the program
            self.chat.close()
        if self._replies is not None:
            self._replies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A person who stops the work is not kept waiting.
        stopped = kind is not None and issubclass(kind, KeyboardInterrupt)
        self.close(0 if stopped else _PATIENCE_SECONDS)
