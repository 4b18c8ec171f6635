"""JSON text to values, with one clear sentence about what is wrong with it."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from memruler.errors import CorpusError, printable

__all__ = ["Blemish", "NonEmpty", "answer_text", "blemishes", "convert", "decode", "explain"]

T = TypeVar("T")

NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
"""A name or a question: text that must not be empty."""

_SHOWN = 60
_MALFORMED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def decode(data: bytes, kind: type[T], *, where: object) -> T:
    """Decode JSON as `kind`; keys that `kind` does not declare are ignored.

    Args:
        data: One JSON text, UTF-8.
        kind: What it must be.
        where: Named in the error.

    Raises:
        CorpusError: It is not JSON, not of that shape, or has a blemish (see `blemishes`).
    """
    try:
        value = msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise CorpusError(f"wrong schema: {error}", where=where) from None
    except _MALFORMED as error:
        raise CorpusError(explain(data, error), where=where) from None
    for blemish in blemishes(data):
        raise CorpusError(blemish.what, where=": ".join(filter(None, (str(where), blemish.path))))
    return value


class Blemish(NamedTuple):
    """What is wrong with valid JSON, and the path to it (`sessions[2].turns[0].text`)."""

    path: str
    what: str


def blemishes(data: bytes) -> Iterator[Blemish]:
    """Yield what no corpus file may hold although JSON allows it, in the order of the text.

    - One name twice in one object: parsers disagree on which of the values counts.
    - A NUL character in any text or name: databases cut there, so that two systems would store
      different things.

    Args:
        data: One JSON text that a decoder took.
    """
    try:
        if _suspect(data):
            yield from _walk(json.loads(data, object_pairs_hook=_Pairs), "")
    except (RecursionError, ValueError) as error:
        # In a part that the decoder skipped, or nested a little deeper than Python can follow.
        yield Blemish("", explain(data, error))


def _suspect(data: bytes) -> bool:
    r"""Whether it is worth a walk: a scan at the speed of the C parser.

    An escaped backslash before `u0000` is suspect too; the walk decides.
    """
    twice = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal twice
        # Values are not kept: of an object only the names matter here.
        twice = twice or len({name for name, _ in pairs}) < len(pairs)

    json.loads(data, object_pairs_hook=look)
    return twice or rb"\u0000" in data


class _Pairs(list[tuple[str, Any]]):
    """An object with all of its names, those that stand twice included."""


def _walk(value: Any, path: str) -> Iterator[Blemish]:
    if isinstance(value, str) and "\0" in value:
        yield Blemish(path, "contains a NUL character, which databases cut at")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, inner in value:
            shown = printable(name, _SHOWN)
            if name in seen:
                yield Blemish(path, f"the name {shown!r} stands twice in one object")
            if "\0" in name:
                yield Blemish(path, f"the name {shown!r} contains a NUL character")
            seen.add(name)
            yield from _walk(inner, f"{path}.{shown}" if path else shown)
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from _walk(inner, f"{path}[{n}]")


def convert(value: Any, kind: type[T], *, where: object) -> T:
    """Convert decoded JSON to `kind`.

    Raises:
        CorpusError: It is not of that shape.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise CorpusError(f"wrong schema: {error}", where=where) from None


def explain(data: bytes, error: Exception) -> str:
    """Say why `data` is not JSON, and at which byte of it.

    msgspec is strict and fast but calls much of it 'truncated'; the standard library knows the
    place. Nothing that one of them refuses is let through.

    Args:
        data: The text that was refused.
        error: What the decoder said.
    """
    if (nul := data.find(0)) >= 0:
        return f"a NUL byte at byte {nul}"
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        cut = fault.end == len(data) and fault.reason == "unexpected end of data"
        return f"{'truncated: ends in' if cut else 'invalid'} UTF-8 at byte {fault.start}"
    if text.startswith("\ufeff"):
        return "starts with a byte order mark: save it as UTF-8 without one"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return _explain_text(text)


def _explain_text(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        cut = fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string")
        place = len(text[: fault.pos].encode())
        return f"{'truncated' if cut else 'malformed'} JSON: {fault.msg} (byte {place})"
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "a number with too many digits"
    return "half a surrogate pair in a string, or a number that JSON does not have"


def answer_text(raw: Any) -> str | None:
    """The answer as text: a string as it is, any other value in JSON's spelling.

    Args:
        raw: As decoded from JSON; None when missing.
    """
    if raw is None or isinstance(raw, str):
        return raw
    return json.dumps(raw, ensure_ascii=False)
