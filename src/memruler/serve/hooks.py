"""Hook events become turns of a workspace; see `memruler.systems.remote.hook` for their form."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from memruler.errors import MemrulerError
from memruler.model.system import TurnInput
from memruler.serve.spaces import Space

__all__ = ["Batch", "HookItem", "take"]


class HookItem(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a batch."""

    id: str
    event: Literal["session-start", "user-prompt-submit", "stop", "session-end"]
    session: str
    time: datetime | None = None
    text: str | None = None


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `POST /hook/batch`."""

    workspace: str
    items: list[HookItem]
    project: str = ""


def take(space: Space, items: list[HookItem]) -> list[dict[str, Any]]:
    """Write the turns among some events, in order, and say what became of each.

    An event that was taken before is a duplicate: its sender had lost the reply.
    """
    results: list[dict[str, Any]] = []
    turns: list[TurnInput] = []
    open_session: HookItem | None = None

    def flush() -> None:
        if turns and open_session is not None:
            space.write(open_session.session, tuple(turns), open_session.time)
            turns.clear()

    for item in items:
        if item.id in space.taken:
            results.append({"id": item.id, "status": "duplicate", "item": item.id})
            continue
        space.taken.add(item.id)
        results.append({"id": item.id, "status": "accepted", "item": item.id})
        if not item.text or not item.text.strip():
            if item.event in {"user-prompt-submit", "stop"}:
                results[-1] |= {"status": "refused", "reason": "blank"}
            continue
        if open_session is not None and open_session.session != item.session:
            flush()
        open_session = item
        speaker = "assistant" if item.event == "stop" else "user"
        turns.append(TurnInput(key=item.id, text=item.text, speaker=speaker, time=item.time))
    try:
        flush()
    except MemrulerError:
        space.taken.difference_update(item.id for item in items)
        raise
    return results
