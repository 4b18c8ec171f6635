"""A conversation as the hook events that an agent's harness sends while it goes on.

For each session: `session-start`; for each exchange `user-prompt-submit` and `stop`; `session-end`.
A batch is a JSON object `{"workspace", "items"}`; each item has `id`, `event`, `session`, `time`
and, where something was said, `text`. The reply is `{"results": [{"id", "status", ...}]}` with
`accepted`, `duplicate`, `refused` (with `reason`), or `throttled` and `skipped`, which are sent
again.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from memruler.errors import SystemUnderTestError
from memruler.model.system import SessionInput, TurnInput
from memruler.systems.remote.spec import HookPolicy, HttpCall

__all__ = ["Accepted", "Event", "excerpt", "hook_call", "role_of", "send_all", "session_events"]

_USERS = frozenset({"user", "human"})
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "agent", "model"})
_FIRST_WAIT, _LONGEST_WAIT = 0.2, 5.0
_DONE = ("accepted", "duplicate", "refused")

EventName = Literal["session-start", "user-prompt-submit", "stop", "session-end"]


class Event(NamedTuple):
    """One item of a batch."""

    id: str
    event: EventName
    session: str
    time: str | None
    text: str | None = None

    def body(self) -> dict[str, Any]:
        """As it is sent; what is absent is left out."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Accepted(NamedTuple):
    """What the server said of one item: its own id of it, and why it was not stored."""

    item: str | None
    refused: str | None


def role_of(speaker: str, first: str) -> Literal["user", "assistant"]:
    """Whose side of the exchange a speaker is on; of two named people the first is the user."""
    name = speaker.strip().lower()
    if name in _ASSISTANTS:
        return "assistant"
    return "user" if name in _USERS or speaker == first or not name else "assistant"


def excerpt(text: str, cap: int) -> str:
    """The beginning of a text in at most `cap` bytes of UTF-8, never half a character."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= cap else raw[:cap].decode("utf-8", "ignore")


def session_events(
    session: SessionInput, first: str, policy: HookPolicy, cut: Callable[[TurnInput], None]
) -> Iterator[Event]:
    """The events of one session, in order.

    Args:
        session: What was said.
        first: The speaker who counts as the user where names do not tell.
        policy: Cap and prefix.
        cut: Told every unit of which something was left out.
    """
    stamp = None if session.time is None else session.time.isoformat()
    yield Event(f"{session.key}:start", "session-start", session.key, stamp)
    for turn in session.turns:
        said = role_of(turn.speaker, first)
        text = turn.text
        if said == "assistant":
            text = excerpt(text, policy.cap)
            if text != turn.text:
                cut(turn)
        date = "" if turn.time is None else f"[{turn.time:%Y-%m-%d}] "
        if policy.date_prefix and not text.startswith(date):
            text = date + text
        event: EventName = "stop" if said == "assistant" else "user-prompt-submit"
        yield Event(turn.key, event, session.key, stamp, text)
    yield Event(f"{session.key}:end", "session-end", session.key, stamp)


def hook_call(policy: HookPolicy, workspace: str, events: list[Event]) -> HttpCall:
    """The request of one batch. Braces in texts are doubled, since a body is a template."""
    items = [_literal(event.body()) for event in events]
    return HttpCall(path=policy.path, body={"workspace": _literal(workspace), "items": items})


def send_all(
    events: list[Event],
    policy: HookPolicy,
    post: Callable[[list[Event]], Any],
    wait: Callable[[float], None] = time.sleep,
) -> dict[str, Accepted]:
    """Send events in order, batch by batch, until each is taken.

    Args:
        events: In order.
        policy: Size of a batch, and how often what was not taken is sent again.
        post: Sends one batch and gives back the decoded reply.
        wait: Waits so many seconds.

    Returns:
        Id of each event to what was said of it.

    Raises:
        SystemUnderTestError: Some were never taken, or a reply is none.
    """
    taken: dict[str, Accepted] = {}
    for start in range(0, len(events), policy.batch):
        left = events[start : start + policy.batch]
        said: dict[str, Mapping[str, Any]] = {}
        for round_ in range(policy.resend + 1):
            said = _results(post(left))
            taken |= {e.id: _accepted(said[e.id]) for e in left if _taken(said.get(e.id))}
            left = [event for event in left if event.id not in taken]
            if not left:
                break
            if round_ < policy.resend:
                wait(min(_FIRST_WAIT * 2.0**round_, _LONGEST_WAIT))
        else:
            states = sorted({str(said.get(e.id, {}).get("status", "missing")) for e in left})
            raise SystemUnderTestError(
                f"{len(left)} hook events were never accepted ({', '.join(states)})",
                where=left[0].id,
                hint=f"they were sent {policy.resend + 1} times; see the server's log",
                kind="throttled",
            )
    return taken


def _results(reply: Any) -> dict[str, Mapping[str, Any]]:
    results = reply.get("results") if isinstance(reply, dict) else None
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise SystemUnderTestError(
            "the reply to a batch of hook events has no list `results`", kind="malformed"
        )
    return {str(one.get("id")): one for one in results}


def _taken(said: Mapping[str, Any] | None) -> bool:
    return said is not None and said.get("status") in _DONE


def _accepted(said: Mapping[str, Any]) -> Accepted:
    item, status = said.get("item"), said.get("status")
    # `duplicate` says that this very event was taken before: its reply had been lost.
    reason = str(said.get("reason") or status) if status == "refused" else None
    return Accepted(None if item is None else str(item), reason)


def _literal(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    return {key: _literal(one) for key, one in value.items()}
