"""What requests cost, and a cap that is kept: nothing is asked that could break it."""

import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from memruler.errors import Interrupted, Refusal, UsageError
from memruler.judges.base import ChatReply
from memruler.judges.rubric import Message
from memruler.model.answers import Usage

__all__ = ["Budget", "Hold", "Prices", "most_tokens"]

_A_MILLION = 1_000_000
_AROUND_A_REQUEST, _AROUND_A_MESSAGE = 256, 16
"""Tokens that a server's template may add: a system prompt of its own, marks around a message."""

_NO_COUNT = "the server does not tell how many tokens it used, so that no cap can be kept"


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens costs; None where it is not known.

    Attributes:
        prompt: Of what is sent, from 0.
        completion: Of what is said, from 0.
        currency: As the person names it.
    """

    prompt: float | None = None
    completion: float | None = None
    currency: str = "USD"

    def of(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost: tokens x price / 1,000,000; None without both prices."""
        if self.prompt is None or self.completion is None:
            return None
        paid = prompt_tokens * self.prompt + completion_tokens * self.completion
        return paid / _A_MILLION


class Hold(NamedTuple):
    """The most tokens that a request under way may use; None where there is no cap."""

    prompt: int
    completion: int


class Budget:
    """Counts what requests use, and refuses those that could break a cap.

    A request is held for the most that it can use: see `most_tokens`. It is sent only if what was
    used, what is held for the requests under way and what it holds itself stay within the cap.
    Where only the requests under way stand against it, it waits for them. So the cap is kept
    however many are asked at once, as far as the server keeps to `max_tokens`. Not seen, and thus
    not counted, is what a server bills for tries without an answer.

    Args:
        prices: What tokens cost.
        max_cost: The most that may be spent, in the prices' currency; None for no cap.
        max_total_tokens: The most tokens, sent and said together; None for no cap.

    Raises:
        UsageError: A price or a cap is no amount, or a cost is capped without both prices.
    """

    def __init__(
        self,
        prices: Prices | None = None,
        *,
        max_cost: float | None = None,
        max_total_tokens: int | None = None,
    ) -> None:
        self.prices = Prices() if prices is None else prices
        self._max_cost, self._max_tokens = max_cost, max_total_tokens
        amounts = (self.prices.prompt, self.prices.completion, max_cost, max_total_tokens)
        if any(a is not None and not (math.isfinite(a) and a >= 0) for a in amounts):
            raise UsageError("a price or a cap is no amount", hint="give a number from 0")
        if (self.prices.prompt is None) != (self.prices.completion is None):
            raise UsageError(
                "one price alone tells no cost", hint="give --price-in and --price-out; 0 is one"
            )
        if max_cost is not None and self.prices.prompt is None:
            raise UsageError(
                "a cost can be capped only where prices are known",
                hint="give --price-in and --price-out, or cap the tokens: --max-total-tokens",
            )
        self._settled = threading.Condition()
        self._under_way: list[Hold] = []
        self._stopped: str | None = None
        self._requests = self._reused = self._uncounted = 0
        self._prompt = self._completion = 0

    @property
    def capped(self) -> bool:
        """Whether there is a cap."""
        return self._max_cost is not None or self._max_tokens is not None

    def hold(self, messages: Sequence[Message], max_tokens: int | None) -> Hold | None:
        """Ask whether a request may be sent; waits where others have to be settled first.

        Args:
            messages: What will be sent.
            max_tokens: The most tokens of the reply.

        Returns:
            What must be given back by `settle` or `release`; None where there is no cap.

        Raises:
            UsageError: There is a cap, and the request sets no limit to its reply.
            Interrupted: The request could break the cap, with nothing else under way. From then
                on every request is refused.
            Refusal: A server that does not count was seen.
        """
        if not self.capped:
            return None
        if max_tokens is None:
            raise UsageError(
                "a cap needs a limit to each reply", hint="give --max-tokens, such as 512"
            )
        wanted = Hold(most_tokens(messages), max_tokens)
        with self._settled:
            while True:
                if self._uncounted:
                    raise Refusal([_NO_COUNT], hint="leave the cap out, or ask another server")
                if self._stopped is None and self._fits(wanted):
                    self._under_way.append(wanted)
                    return wanted
                if self._stopped is None and not self._under_way:
                    self._stopped = self._why(wanted)
                if self._stopped is not None:
                    raise Interrupted(
                        self._stopped,
                        hint="what came is kept; the same command goes on from there with a new "
                        "cap of the same size, or give it a larger one",
                    )
                self._settled.wait()

    def release(self, hold: Hold | None) -> None:
        """Give back what was held for a request that brought no reply."""
        if hold is not None:
            with self._settled:
                self._under_way.remove(hold)
                self._settled.notify_all()

    def settle(self, hold: Hold | None, reply: ChatReply) -> None:
        """Count a reply that was just paid for, and give back what was held for it."""
        with self._settled:
            self._requests += 1
            if reply.prompt_tokens is None or reply.completion_tokens is None:
                self._uncounted += 1
            else:
                self._prompt += reply.prompt_tokens
                self._completion += reply.completion_tokens
        self.release(hold)

    def reuse(self, reply: ChatReply) -> None:
        """Count a reply that was paid for before.

        Raises:
            Refusal: There is a cap, and the server that gave it does not count.
        """
        with self._settled:
            self._reused += 1
        if self.capped and (reply.prompt_tokens is None or reply.completion_tokens is None):
            raise Refusal([_NO_COUNT], hint="leave the cap out, or ask another server")

    def usage(self) -> Usage:
        """What was used so far. Without a request nothing was: 0 tokens, which is a count."""
        with self._settled:
            counted = self._requests == 0 or self._uncounted < self._requests
            return Usage(
                requests=self._requests,
                reused=self._reused,
                prompt_tokens=self._prompt if counted else None,
                completion_tokens=self._completion if counted else None,
                uncounted=self._uncounted,
                cost=None if self._uncounted else self.prices.of(self._prompt, self._completion),
                currency=self.prices.currency,
            )

    def _fits(self, wanted: Hold) -> bool:
        prompt = self._prompt + sum(held.prompt for held in self._under_way) + wanted.prompt
        said = self._completion + sum(held.completion for held in self._under_way)
        said += wanted.completion
        if self._max_tokens is not None and prompt + said > self._max_tokens:
            return False
        cost = self.prices.of(prompt, said)
        return self._max_cost is None or cost is None or cost <= self._max_cost

    def _why(self, wanted: Hold) -> str:
        used = self._prompt + self._completion
        if self._max_tokens is not None and used + sum(wanted) > self._max_tokens:
            return (
                f"the cap of {self._max_tokens} tokens is reached: {used} were used, and the next "
                f"request may use {sum(wanted)}"
            )
        spent = self.prices.of(self._prompt, self._completion) or 0.0
        more, name = self.prices.of(*wanted) or 0.0, self.prices.currency
        return (
            f"the cap of {self._max_cost:g} {name} is reached: {spent:.6g} {name} were spent, and "
            f"the next request may cost {more:.6g} {name}"
        )


def most_tokens(messages: Sequence[Message]) -> int:
    """The most tokens that messages can be for a server: never fewer than it will count.

    Bytes of UTF-8 (no token of a byte-level vocabulary is shorter than one), 16 for each message
    and 256 for a template of the server's own. Real counts are about a quarter of it.

    Args:
        messages: What is sent.
    """
    sizes = (len(said.text.encode("utf-8", "surrogatepass")) for said in messages)
    return _AROUND_A_REQUEST + sum(size + _AROUND_A_MESSAGE for size in sizes)
