"""Texts that nothing may hold: found in every form in which a server may echo them.

A server that quotes its key does not always quote it as it was sent: a URL in its log is
percent-encoded, an `Authorization` header may be base64, a JSON error has escapes.
"""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

__all__ = ["LONG_ENOUGH", "Secrets"]

LONG_ENOUGH = 8
"""Characters from which a text is no common word: shorter ones are left in a memory's replies,
which are measured, and have no encoded forms."""

_SHORTEST = 4
_MASK = "***"


class Secrets:
    """Replaces secrets by `***`.

    Args:
        values: The secrets; those shorter than four characters are nowhere to be told apart from
            ordinary text, and are left out.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        words = {value for value in values if len(value) >= _SHORTEST}
        self._forms = _sorted(form for word in words for form in _forms(word))
        self._pattern = _pattern(self._forms)
        long = (word for word in words if len(word) >= LONG_ENOUGH)
        self._in_replies = _pattern(_sorted(form for word in long for form in _forms(word)))

    def __call__(self, text: str) -> str:
        """A text with `***` for every secret, also for one that breaks off at its end."""
        if self._pattern is None:
            return text
        clean = self._pattern.sub(_MASK, text)
        begun = max((_begun(clean, form) for form in self._forms), default=0)
        return clean[: len(clean) - begun] + _MASK if begun else clean

    def line(self, data: bytes) -> bytes:
        """The same for a line of bytes, which may be no UTF-8; its end stays."""
        if self._pattern is None:
            return data
        text = data.decode("utf-8", "surrogateescape")
        said = text.rstrip()
        return (self(said) + text[len(said) :]).encode("utf-8", "surrogateescape")

    def part(self, data: bytes) -> bytes:
        """The same for a piece of a line: a secret that breaks off at its end stays."""
        if self._pattern is None:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self._pattern.sub(_MASK, text).encode("utf-8", "surrogateescape")

    def longest(self) -> int:
        """Bytes of the longest form: how much must be seen at once to find every secret."""
        return max((len(form.encode()) for form in self._forms), default=0)

    def reply(self, value: Any) -> Any:
        """Decoded JSON with every secret replaced in its texts and names.

        Only secrets that are long enough not to be a word: what a memory says is measured.
        """
        if self._in_replies is None:
            return value
        if isinstance(value, str):
            return self._in_replies.sub(_MASK, value)
        if isinstance(value, dict):
            return {self.reply(key): self.reply(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.reply(one) for one in value]
        return value


def _sorted(forms: Iterable[str]) -> list[str]:
    """Longest first, so that no secret survives as the rest of a shorter one."""
    return sorted(set(forms), key=lambda form: (-len(form), form))


def _pattern(forms: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, forms)), re.IGNORECASE) if forms else None


def _forms(value: str) -> Iterator[str]:
    yield value
    if len(value) < LONG_ENOUGH:
        return
    yield from (quote(value, safe=""), quote(value), quote_plus(value))
    escaped = json.dumps(value)[1:-1]
    # A message in a message is escaped twice.
    yield from (escaped, json.dumps(escaped)[1:-1], repr(value)[1:-1], html.escape(value))
    raw = value.encode()
    yield raw.hex()
    for shift in range(3):
        yield from _inside_base64(raw, shift)


def _inside_base64(raw: bytes, shift: int) -> Iterator[str]:
    """What stands in the base64 of any text that holds the secret, by its place in a group of 3."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(b"\0" * shift + raw).decode().rstrip("=")
        # The first and last characters are shaped by the neighbours too.
        first = 0 if shift == 0 else shift + 1
        last = len(whole) if (len(raw) + shift) % 3 == 0 else len(whole) - 1
        if last - first >= LONG_ENOUGH:
            yield whole[first:last]


def _begun(text: str, form: str) -> int:
    """How many characters at the end of a text are the beginning of a secret."""
    if len(text) < LONG_ENOUGH or text[-LONG_ENOUGH:] not in form:
        return 0
    most = min(len(text), len(form) - 1)
    return next((n for n in range(most, LONG_ENOUGH - 1, -1) if text.endswith(form[:n])), 0)
