"""What the types of the corpus format cannot say: ids that repeat, references into nothing."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from memruler.corpora.jsonl_format import TIME_PATTERN, parse_time
from memruler.corpora.mismatch import Mismatch
from memruler.errors import printable

__all__ = ["sense_faults"]

_SHOWN = 60


def sense_faults(value: dict[str, Any]) -> Iterator[Mismatch]:
    """Yield the faults of one decoded line that its types do not show.

    Only what has the right type is looked at, so a faulty part hides no other fault and is never
    reported twice.

    Args:
        value: A decoded line that should be an instance.
    """
    haystack = _Haystack()
    for s, session in enumerate(_list(value, "sessions")):
        yield from haystack.add(session, f"sessions[{s}]")
    query_ids: dict[str, str] = {}
    for q, query in enumerate(_list(value, "queries")):
        path = f"queries[{q}]"
        yield from _repeated(query, path, query_ids)
        yield from _bad_time(query, path)
        if not isinstance(value.get("sessions"), list):
            continue  # nobody knows what could be referred to
        evidence = query.get("evidence") if isinstance(query, dict) else None
        for n, named in enumerate(_list(evidence, "turns")):
            if what := haystack.turn_fault(named):
                yield Mismatch(f"{path}.evidence.turns[{n}]", what)
        for n, named in enumerate(_list(evidence, "sessions")):
            if what := haystack.session_fault(named):
                yield Mismatch(f"{path}.evidence.sessions[{n}]", what)


class _Haystack:
    """What can be referred to in one instance.

    Attributes:
        sizes: Turns of each session; None when its `turns` are no list.
        sessions: Session id to the path of the first that has it.
        turns: Turn id likewise.
        places: Session id to the position of the first.
    """

    def __init__(self) -> None:
        self.sizes: list[int | None] = []
        self.sessions: dict[str, str] = {}
        self.turns: dict[str, str] = {}
        self.places: dict[str, int] = {}

    def add(self, session: Any, path: str) -> Iterator[Mismatch]:
        """Take in the next session, yielding its faults."""
        yield from _repeated(session, path, self.sessions)
        yield from _bad_time(session, path)
        if isinstance(session, dict) and isinstance(session.get("id"), str):
            self.places.setdefault(session["id"], len(self.sizes))
        known = isinstance(session, dict) and isinstance(session.get("turns"), list)
        self.sizes.append(len(session["turns"]) if known else None)
        for t, turn in enumerate(_list(session, "turns")):
            yield from _repeated(turn, f"{path}.turns[{t}]", self.turns)

    def turn_fault(self, named: Any) -> str | None:
        """What is wrong with a reference to a turn."""
        if isinstance(named, str):
            unknown = bool(named) and named not in self.turns and None not in self.sizes
        elif isinstance(named, list) and [type(n) for n in named] == [int, int]:
            session, turn = named
            size = self.sizes[session] if 0 <= session < len(self.sizes) else 0
            unknown = session >= 0 and turn >= 0 and size is not None and turn >= size
        else:
            return None
        return f"there is no turn {_written(named)}{self._turns_there(named)}" if unknown else None

    def session_fault(self, named: Any) -> str | None:
        """What is wrong with a reference to a session."""
        if isinstance(named, str):
            place = self.places.get(named, len(self.sizes)) if named else -1
        else:
            place = named if type(named) is int else -1
        if place < 0:
            return None  # a fault of type
        if place >= len(self.sizes):
            there = "" if isinstance(named, str) else _counted(len(self.sizes), "they")
            return f"there is no session {_written(named)}{there}"
        return "has no turn, so nothing can find it" if self.sizes[place] == 0 else None

    def _turns_there(self, named: Any) -> str:
        """What `[session, turn]` could have named; of an id nothing can be said."""
        if isinstance(named, str):
            return ""
        size = self.sizes[named[0]] if named[0] < len(self.sizes) else None
        if size is None:
            return _counted(len(self.sizes), "sessions")
        return _counted(size, f"the turns of session {named[0]}")


def _list(value: Any, name: str) -> list[Any]:
    inside = value.get(name) if isinstance(value, dict) else None
    return inside if isinstance(inside, list) else []


def _counted(number: int, things: str) -> str:
    return f": {things} are counted from 0 to {number - 1}" if number else ": there is none"


def _written(named: Any) -> str:
    return printable(msgspec.json.encode(named).decode(), _SHOWN)


def _repeated(value: Any, path: str, seen: dict[str, str]) -> Iterator[Mismatch]:
    name = value.get("id") if isinstance(value, dict) else None
    if isinstance(name, str) and seen.setdefault(name, path) != path:
        yield Mismatch(f"{path}.id", f"{seen[name]} has this id too")


def _bad_time(value: Any, path: str) -> Iterator[Mismatch]:
    written = value.get("time") if isinstance(value, dict) else None
    if isinstance(written, str) and re.search(TIME_PATTERN, written):
        try:
            parse_time(written)
        except (ValueError, OverflowError) as error:
            yield Mismatch(f"{path}.time", f"no such time: {error}")
