"""The tokens of a text of any length, in the memory of a short one.

A tokenizer keeps more than 100 bytes for each character it is given, so a text of 10 MB would take
more than a gigabyte although a model reads its first few hundred words only. Here a long text is
given to it window by window, and the ids are those of the whole text.

Why they are the same, for the tokenizer of BERT that memruler pins: a word's ids depend on the
word alone, and a word is closed by the beginning of the next one. So all words of a window are
final but its last, and but what may be the beginning of an added token (`[MA` of `[MASK]`); the
next window begins with those again. Characters that vanish (controls, accents) close nothing.
"""

import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any

__all__ = ["WINDOW", "first_ids", "id_parts"]

WINDOW = 16_384
"""Characters of a window; a text up to this length is tokenized whole."""

_KEPT = 256
"""Characters kept of a word that is open for longer. At least every second one of them is visible,
and with more than 100 visible ones a word is `[UNK]` whatever follows."""


def first_ids(tokenizer: Any, text: str, count: int) -> list[int]:
    """The first `count` ids of a text, or all if there are fewer; see `id_parts`."""
    ids: list[int] = []
    for part in id_parts(tokenizer, text):
        ids += part
        if len(ids) >= count:
            break
    return ids[:count]


def id_parts(tokenizer: Any, text: str, window: int = WINDOW) -> Iterator[list[int]]:
    """The ids of a text without special tokens around it, in parts.

    Args:
        tokenizer: A BERT tokenizer (`BertNormalizer`, `BertPreTokenizer`, WordPiece with words of
            at most 100 characters), without truncation and padding.
        text: Any length.
        window: Characters that are looked at together, besides the open end of the last window.
    """
    added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    open_end = ""
    for start in range(0, len(text), window):
        part = open_end + text[start : start + window]
        encoding = tokenizer.encode(part, add_special_tokens=False)
        if start + window >= len(text):
            yield encoding.ids
            return
        final, begin = _final(encoding, part, _added_begin(part, added))
        yield encoding.ids[:final]
        # Marks are sorted while they are normalised, and offsets into a run of them are not exact.
        if begin < len(part) and _is_loose(tokenizer, part[begin]):
            while begin and _is_loose(tokenizer, part[begin - 1]):
                begin -= 1
        open_end = _shortened(tokenizer, part[begin:], max(map(len, added), default=0))


def _added_begin(part: str, added: list[str]) -> int:
    """Where at the end of `part` an added token may have begun; its length if nowhere."""
    longest = max(map(len, added), default=0)
    for at in range(max(len(part) - longest + 1, 0), len(part)):
        if any(content.startswith(part[at:]) for content in added):
            return at
    return len(part)


def _final(encoding: Any, part: str, limit: int) -> tuple[int, int]:
    """How many ids are final, and where the first word begins that is not.

    That word is the last one that begins before `limit`.
    """
    offsets, words = encoding.offsets, encoding.word_ids
    final = len(offsets)
    while final and offsets[final - 1][0] >= limit:
        final -= 1
    last = words[final - 1] if final else None
    while final and words[final - 1] == last:
        final -= 1
    return final, offsets[final][0] if final < len(offsets) else len(part)


def _is_loose(tokenizer: Any, char: str) -> bool:
    """Whether a character vanishes, or is a mark that may change places with its neighbours."""
    shown = tokenizer.normalizer.normalize_str(char)
    return not shown or unicodedata.combining(shown[0]) > 0


def _shortened(tokenizer: Any, rest: str, longest: int) -> str:
    """An open end with the same future: one open word, then perhaps an added token's beginning."""
    if len(rest) <= 2 * _KEPT:
        return rest
    shown = {char: tokenizer.normalizer.normalize_str(char) for char in set(rest)}
    kept: list[str] = []
    for blank, run in groupby(rest, key=lambda char: not shown[char].strip()):
        chars = list(run)
        # Of spaces and vanishing characters in a row one says it all: a space if there is one.
        kept += [max(chars, key=lambda char: len(shown[char]))] if blank else chars
    if len(kept) > _KEPT + longest:
        kept[_KEPT:-longest] = []
    return "".join(kept)
