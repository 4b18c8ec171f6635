"""Does the gold answer stand in a text word for word?

Both are normalised: compatibility forms are composed (NFKC), case is folded, and whatever is no
letter, digit or combining mark parts two words. The gold is cut at `;`, where LoCoMo names
alternatives; of a list every element is one, of an object its `answer` and its `aliases`. It
stands in a text where one of its parts does, as whole words in a row: `art` does not stand in
`party`, and `7 May` does not stand in `May 7`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["gold_parts", "normal", "stands"]

_BETWEEN = re.compile(r"[\W_]+")


def normal(text: str) -> str:
    """A text as words, with one space before and after each.

    Example:
        >>> normal("On 7 May, she said:  `Hello`")
        ' on 7 may she said hello '
    """
    return f" {_BETWEEN.sub(' ', unicodedata.normalize('NFKC', text).casefold()).strip()} "


def gold_parts(gold: str | None, raw: Any = None) -> tuple[str, ...]:
    """The alternatives of a gold answer, normalised; empty where there is no word in it.

    Args:
        gold: As a text.
        raw: As in the corpus; a list or an object counts in place of the text.

    Example:
        >>> gold_parts("Yes; she moved.")
        (' yes ', ' she moved ')
        >>> gold_parts('{"answer": 3, "aliases": ["three"]}', {"answer": 3, "aliases": ["three"]})
        (' 3 ', ' three ')
    """
    texts = _texts(raw) if isinstance(raw, list | dict) else iter((gold or "",))
    parts = (normal(part) for text in texts for part in text.split(";"))
    return tuple(dict.fromkeys(part for part in parts if part.strip()))


def _texts(raw: Any) -> Iterator[str]:
    if isinstance(raw, dict):
        raw = [raw.get("answer"), raw.get("aliases")]
    if not isinstance(raw, list):
        yield str(raw)
        return
    for one in raw:
        if one is not None and not isinstance(one, dict):
            yield from _texts(one)


def stands(parts: Sequence[str], text: str) -> bool:
    """Whether one of the parts stands in a text; both normalised."""
    return any(part in text for part in parts)
