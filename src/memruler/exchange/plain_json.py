"""Plain lines of JSON taken apart by their quotes alone: twice as fast as a parser of any JSON.

A plain line is an object without an escape, such as a ranking or a line of targets:

    {"query_id":"q1","ranked":["a","b"]}
    {"query_id":"q1","groups":[{"anchor":3,"raw":["a"],"canonical":[]}],"raw_ids":["a"]}

There a text is what stands between two quotes, and all of the structure is in the gaps between
texts, of which a file has few different ones. Each of these is read once, by an automaton. Then
that each gap follows from the one before is a look-up for all of them at once. Whatever is not such
a block is left to a parser.
"""

import re
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memruler.exchange.lines import sound_text

__all__ = ["Places", "Plain", "Value", "plain_json"]

Places = NDArray[np.integer]

_QUOTE, _SPACE, _NEWLINE = b'" \n'
_WORD = 8
_NULL = "\0"
_PIECE = 1 << 16

_KEY, _TEXT, _ELEMENT, _GROUP_KEY, _GROUP_TEXT, _GROUP_ELEMENT = range(6)
"""What a text can be: a key, a value, an element of a list; in the object, or in a group of it."""

_AFTER: Final = ("k", "t", "l", "K", "T", "L")
"""Where the automaton stands behind each of these."""

_STEPS: Final = {
    ("k", ":"): "v",
    ("v", "0"): "t",
    ("v", _NULL): "t",
    ("v", "["): "f",
    ("f", "]"): "t",
    ("t", ","): "n",
    ("t", "}"): "e",
    ("e", "\n"): "r",
    ("r", "{"): "n",
    ("l", ","): "m",
    ("l", "]"): "t",
    ("f", "{"): "G",
    ("E", ","): "g",
    ("g", "{"): "G",
    ("K", ":"): "V",
    ("V", "0"): "T",
    ("V", _NULL): "T",
    ("V", "["): "F",
    ("F", "]"): "T",
    ("T", ","): "N",
    ("T", "}"): "E",
    ("E", "]"): "t",
    ("L", ","): "M",
    ("L", "]"): "T",
}
"""Small letters are places in the object, capital ones places in a group."""

_TEXT_AT: Final = {
    "n": _KEY,
    "v": _TEXT,
    "f": _ELEMENT,
    "m": _ELEMENT,
    "G": _GROUP_KEY,
    "N": _GROUP_KEY,
    "V": _GROUP_TEXT,
    "F": _GROUP_ELEMENT,
    "M": _GROUP_ELEMENT,
}
"""Where a text may stand, and what it is there."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false")


class Value:
    """What stands behind a key."""

    TEXT, OTHER, NULL, EMPTY, LIST, GROUPS = range(6)


_VALUES: Final = (
    (":[{", Value.GROUPS),
    (":[]", Value.EMPTY),
    (":[", Value.LIST),
    (":0", Value.OTHER),
    (f":{_NULL}", Value.NULL),
    (":", Value.TEXT),
)


class Plain(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The texts of a block.

    Attributes:
        parts: An Arrow array of strings: a text, the gap behind it, a text...
        state: What each text is [N].
        value: What stands behind each text, as in `Value`, where it is a key [N].
        row: The line of each text [N].
        group: The group of each text that is in one [N].
        others: Places of the texts that are no elements of lists, and N.
        rows: How many lines there are.
        groups: How many groups.
    """

    parts: Any
    state: NDArray[np.int8]
    value: NDArray[np.int8]
    row: NDArray[np.int32]
    group: NDArray[np.int32]
    others: Places
    rows: int
    groups: int

    def take(self, at: Places) -> Any:
        """Some texts: an Arrow array of strings."""
        return self.parts.take(pa.array(2 * at))

    def keys(self, *, in_group: bool) -> dict[str, Places]:
        """Places of the keys by name, ascending."""
        at = np.flatnonzero(self.state == (_GROUP_KEY if in_group else _KEY))
        names = self.take(at).dictionary_encode()
        numbers = names.indices.to_numpy()
        return {name: at[numbers == n] for n, name in enumerate(names.dictionary.to_pylist())}

    def elements(self, keys: Places) -> tuple[Places, Places]:
        """How many elements the list behind each key has, and the places of all of them."""
        following = self.others[np.searchsorted(self.others, keys) + 1]
        lengths = following - keys - 1
        ends = np.cumsum(lengths)
        starts = (keys + 1 - (ends - lengths)).astype(np.int32)
        total = int(ends[-1]) if len(ends) else 0
        return lengths, np.arange(total, dtype=np.int32) + np.repeat(starts, lengths)


def plain_json(data: bytes) -> Plain | None:
    """The texts of a block of plain lines; None where a line is not plain.

    Args:
        data: Whole lines, without white space at either end.
    """
    letters = np.frombuffer(data, np.uint8)
    if b"\\" in data or len(data) < _WORD:
        return None
    if not data.isascii() and not sound_text(data):
        return None
    quotes, newlines, controls = _signs(letters)
    if (
        controls != newlines
        or not len(quotes)
        or len(quotes) % 2
        or data[: quotes[0]].strip(b" ") != b"{"
    ):
        return None
    ends = quotes[1::2]
    gaps, codes = _gaps(data, ends[:-1] + 1, quotes[2::2] - ends[:-1] - 1)
    gaps.append(data[ends[-1] + 1 :].decode())
    offsets: Any = quotes
    offsets[0::2] += 1  # a text without its quotes; the gap gets both
    parts = pa.StringArray.from_buffers(len(quotes) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    signatures = [_signature(gap) for gap in gaps]
    different = {gap: number for number, gap in enumerate(dict.fromkeys(signatures))}
    number = np.array([different[gap] for gap in signatures], np.int32)
    plain = _sound(parts, list(different), np.append(number[codes], number[-1]))
    # All of them stand between lines: none is in a text.
    return plain if plain is not None and plain.rows == newlines + 1 else None


def _signs(letters: NDArray[np.uint8]) -> tuple[NDArray[np.int32], int, int]:
    """Where the quotes are; how many newlines there are, and control characters with them."""
    quotes, newlines, controls = [], 0, 0
    for start in range(0, len(letters), _PIECE):
        piece = letters[start : start + _PIECE]  # what is compared stays in the cache
        quotes.append((np.flatnonzero(piece == _QUOTE) + start).astype(np.int32))
        newlines += int(np.count_nonzero(piece == _NEWLINE))
        controls += int(np.count_nonzero(piece < _SPACE))
    return np.concatenate(quotes), newlines, controls


def _gaps(data: bytes, start: Places, length: Places) -> tuple[list[str], NDArray[np.int32]]:
    """The different gaps, and which each of them is."""
    # Eight bytes at a time from any place: nearly all gaps are shorter, and equal as numbers.
    words: Any = np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))
    at = np.minimum(start, len(data) - _WORD)
    word = words[at] >> (8 * (start - at)).astype(np.uint64)
    short = np.minimum(length, _WORD)
    word &= ~np.uint64(0) >> (8 * (_WORD - short.clip(1))).astype(np.uint64)
    word[length == 0] = 0
    long = np.flatnonzero(length > _WORD)
    word[long] = 0
    encoded = pa.array(word).dictionary_encode()
    gaps = [
        int(one).to_bytes(_WORD, "little").rstrip(b"\0").decode(errors="replace")
        for one in encoded.dictionary.to_pylist()
    ]
    codes = encoded.indices.to_numpy().astype(np.int32)
    texts = [
        data[s : s + n].decode(errors="replace")
        for s, n in zip(start[long], length[long], strict=True)
    ]
    more = {text: len(gaps) + n for n, text in enumerate(dict.fromkeys(texts))}
    codes[long] = [more[text] for text in texts]
    return [*gaps, *more], codes


def _signature(gap: str) -> str:
    """A gap without its spaces, each number as 0 and null as a sign that no line has."""
    return _NUMBER.sub("0", gap).replace("null", _NULL).replace(" ", "")


def _sound(parts: Any, gaps: list[str], codes: NDArray[np.int32]) -> Plain | None:
    """The texts, if each gap follows from the one before.

    Args:
        parts: Texts and gaps.
        gaps: Signatures of the different gaps.
        codes: Which one follows each text; the last one is the end of the block [N].
    """
    inner = codes[:-1]
    depth = np.ones(len(codes), np.int32)
    np.cumsum(np.array([_depth(gap) for gap in gaps], np.int32)[inner], out=depth[1:])
    depth[1:] += 1
    if depth.min() < 1 or depth.max() > 4:  # noqa: PLR2004 - an object, its list, a group, its list
        return None
    state = np.array([-1, _KEY, _ELEMENT, _GROUP_KEY, _GROUP_ELEMENT], np.int8)[depth]
    state[1:] += np.array([gap.endswith(":") for gap in gaps])[inner]  # a value follows its key
    if state.max() > _GROUP_ELEMENT:  # something with a value in the place of an element
        return None
    follows = np.array([[_walk(state, gap) for gap in gaps] for state in range(6)], np.int8)
    if (follows[state[:-1], inner] != state[1:]).any() or not _ends(state[-1], gaps[codes[-1]]):
        return None
    row = np.zeros(len(codes), np.int32)
    np.cumsum(np.array([gap.count("\n") for gap in gaps], np.int32)[inner], out=row[1:])
    group = np.full(len(codes), -1, np.int32)
    opened = np.array([gap.count("{") - gap.count("\n") for gap in gaps], np.int32)
    np.cumsum(opened[inner], out=group[1:])
    group[1:] -= 1
    others = (state != _ELEMENT) & (state != _GROUP_ELEMENT)
    return Plain(
        parts=parts,
        state=state,
        value=np.array([_value(gap) for gap in gaps], np.int8)[codes],
        row=row,
        group=group,
        others=np.append(np.flatnonzero(others), len(state)),
        rows=int(row[-1]) + 1,
        groups=int(group[-1]) + 1,
    )


def _walk(state: int, gap: str) -> int:
    """What the text behind a gap is; -1 if the gap cannot stand there."""
    place: str | None = _AFTER[state]
    for sign in gap:
        place = _STEPS.get((place or "", sign))
    return _TEXT_AT.get(place or "", -1)


def _ends(state: int, gap: str) -> bool:
    """Whether a gap behind the last text ends the last object."""
    place: str | None = _AFTER[state]
    for sign in gap:
        place = _STEPS.get((place or "", sign))
    return place == "e"


def _depth(gap: str) -> int:
    return sum(gap.count(one) for one in "[{") - sum(gap.count(one) for one in "]}")


def _value(gap: str) -> int:
    return next((value for start, value in _VALUES if gap.startswith(start)), Value.OTHER)
