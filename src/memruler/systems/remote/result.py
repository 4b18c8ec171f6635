"""From a server's reply to hits: where the lists are, and where things sit in their entries."""

import hashlib
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from memruler.errors import SystemUnderTestError
from memruler.model.system import Hit
from memruler.systems.remote.spec import ListedHits, ResultShape

__all__ = ["dig", "hits_of"]


def dig(value: Any, path: str) -> Any:
    """The value at a dotted path; a whole number goes into a list; None where there is nothing.

    Args:
        value: Decoded JSON.
        path: `memory.metadata.key`, `results.0.id`; empty for the value itself.
    """
    for part in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def hits_of(shape: ResultShape, reply: Any) -> tuple[Hit, ...]:
    """The hits of a reply, list after list in the order of the file: what an agent reads first.

    Raises:
        SystemUnderTestError: No list is where the file says, or an entry is no entry. Nothing that
            cannot be read is taken for an empty result.
    """
    found: list[Hit] = []
    there = False
    for listed in shape.lists:
        entries = dig(reply, listed.at)
        if entries is None:
            continue
        if not isinstance(entries, list):
            raise _malformed(f"`{listed.at or 'the reply'}` is no list")
        there = True
        found += _listed(listed, entries)
    if not there:
        raise _malformed(
            "none of its lists is there: " + ", ".join(one.at or "(reply)" for one in shape.lists)
        )
    return tuple(found)


def _malformed(what: str) -> SystemUnderTestError:
    return SystemUnderTestError(
        f"the reply to a search cannot be read: {what}",
        hint="hold `search.result` of the memory's file against a reply of the server",
        kind="malformed",
    )


def _listed(listed: ListedHits, entries: list[Any]) -> Iterator[Hit]:
    for entry in entries:
        text = _text(dig(entry, listed.text)) if listed.text is not None else None
        native = dig(entry, listed.id) if listed.id is not None else None
        if isinstance(native, bool | dict | list):
            raise _malformed("an id is no text or number")
        if native is None:
            if text is None:
                raise _malformed("an entry has neither an id nor a text")
            native = "text:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
        yield Hit(
            item=_text(str(native)) or "",
            score=_score(dig(entry, listed.score)) if listed.score is not None else None,
            sources=_sources(listed, entry),
            text=text,
            kind=listed.kind,
            time=None if listed.time is None else _time(dig(entry, listed.time)),
        )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        # Half a surrogate pair, which JSON can carry and a file cannot, is marked as such.
        return value if value is None else value.encode("utf-8", "replace").decode()
    raise _malformed("a text is no text")


def _score(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _malformed("a score is no number")
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise _malformed("a score is no finite number")
    return score


def _time(value: Any) -> datetime | None:
    """A time as it was written: naive; None where it is none that can be read."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            # As `{epoch}` was sent: a naive time counted from this machine's clock.
            found = datetime.fromtimestamp(value)  # noqa: DTZ006 - see above
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _sources(listed: ListedHits, entry: Any) -> tuple[str, ...] | None:
    """Keys that came back; None where the file names no place or nothing stands there."""
    if listed.source is None:
        return None
    value = dig(entry, listed.source)
    words = value if isinstance(value, list) else [value]
    keys = [_key(listed.pattern, _text(word)) for word in words if isinstance(word, str) and word]
    return tuple(key for key in keys if key) or None


def _key(pattern: str | None, word: str | None) -> str | None:
    if pattern is None or word is None:
        return word
    found = re.search(pattern, word)
    return None if found is None else found[1]
