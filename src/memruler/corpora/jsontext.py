"""JSON text to values, with one clear sentence about what is wrong with it."""

import json
from typing import Any, TypeVar

import msgspec

from memruler.errors import CorpusError

__all__ = ["answer_text", "convert", "decode", "explain"]

T = TypeVar("T")

_MALFORMED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def decode(data: bytes, kind: type[T], *, where: object) -> T:
    """Decode JSON as `kind`; keys that `kind` does not declare are ignored.

    Args:
        data: One JSON text, UTF-8.
        kind: What it must be.
        where: Named in the error.

    Raises:
        CorpusError: It is not JSON, or not of that shape.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise CorpusError(f"wrong schema: {error}", where=where) from None
    except _MALFORMED as error:
        raise CorpusError(explain(data, error), where=where) from None


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
