"""Plain lines of JSON taken apart by their quotes alone: twice as fast as a parser of any JSON.

A plain line is an object without an escape, such as a ranking or a line of targets:

    {"query_id":"q1","ranked":["a","b"]}
    {"query_id":"q1","groups":[{"anchor":3,"raw":["a"],"canonical":[]}],"raw_ids":["a"]}

There a text is what stands between two quotes, and all of the structure is in the gaps between texts,
of which a file has few different ones. Each different gap is read once, by an automaton; that every
gap of the block follows from the one before is then a look-up for all of them at once. Whatever is
not such a block is left to a parser.
"""

import re
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Places", "Plain", "Value", "plain_json"]

Places = NDArray[np.integer]

_QUOTE, _SPACE, _NEWLINE = b'" \n'
_WORD = 8

_KEY, _TEXT, _ELEMENT, _GROUP_KEY, _GROUP_TEXT, _GROUP_ELEMENT = range(6)
"""What a text can be: a key, a value or an element of a list; in the object, or in a group of it."""

_AFTER: Final = ("k", "t", "l", "K", "T", "L")
"""Where the automaton stands behind each of these."""

_STEPS: Final = {
    ("k", ":"): "v", ("v", "0"): "t", ("v", "n"): "t", ("v", "["): "f", ("f", "]"): "t",
    ("t", ","): "n", ("t", "}"): "e", ("e", "\n"): "r", ("r", "{"): "n",
    ("l", ","): "m", ("l", "]"): "t", ("f", "{"): "G", ("E", ","): "g", ("g", "{"): "G",
    ("K", ":"): "V", ("V", "0"): "T", ("V", "n"): "T", ("V", "["): "F", ("F", "]"): "T",
    ("T", ","): "N", ("T", "}"): "E", ("E", "]"): "t", ("L", ","): "M", ("L", "]"): "T",
}
"""Small letters are places in the object, capital ones places in a group."""

_TEXT_AT: Final = {
    "n": _KEY, "v": _TEXT, "f": _ELEMENT, "m": _ELEMENT,

        "G": _GROUP_KEY,
        "N": _GROUP_KEY,
        "V": _GROUP_TEXT,
        "F": _GROUP_ELEMENT,
        "M": _GROUP_ELEMENT
    ,
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
    (":n", Value.NULL),
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
        rows: How many lines there are.
        groups: How many groups.
    """

    parts: Any
    state: NDArray[np.int8]
    value: NDArray[np.int8]
    row: NDArray[np.int32]
    group: NDArray[np.int32]
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
        inside = (self.state == _ELEMENT) | (self.state == _GROUP_ELEMENT)
        others = np.append(np.flatnonzero(~inside), len(inside))
        lengths = others[np.searchsorted(others, keys) + 1] - keys - 1
        ends = np.cumsum(lengths)
        starts = (keys + 1 - (ends - lengths)).astype(np.int32)
        total = int(ends[-1]) if len(ends) else 0
        return lengths, np.arange(total, dtype=np.int32) + np.repeat(starts, lengths)


def plain_json(data: bytes) -> Plain | None:
    """The texts of a block of plain lines; None where a line is not plain.

    Args:
        data: Whole lines in sound UTF-8, without white space at either end.
    """
    letters = np.frombuffer(data, np.uint8)
    if b"\\" in data or len(data) < _WORD:
        return None
    if np.count_nonzero(letters < _SPACE) != np.count_nonzero(letters == _NEWLINE):
        return None
    quotes = np.flatnonzero(letters == _QUOTE).astype(np.int32)
    if not len(quotes) or len(quotes) % 2 or data[: quotes[0]].strip(b" ") != b"{":
        return None
    ends = quotes[1::2]
    gaps, codes = _gaps(data, ends[:-1] + 1, quotes[2::2] - ends[:-1] - 1)
    tail = data[ends[-1] + 1 :].decode()
    offsets: Any = quotes
    offsets[0::2] += 1  # a text without its quotes; the gap gets both
    parts = pa.StringArray.from_buffers(len(quotes) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return _sound(parts, [*map(_signature, gaps), _signature(tail)], codes)


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
    """A gap without its spaces, each number as 0 and null as n."""
    return _NUMBER.sub("0", gap).replace("null", "n").replace(" ", "")


def _sound(parts: Any, gaps: list[str], codes: NDArray[np.int32]) -> Plain | None:
    """The texts, if each gap follows from the one before.

    Args:
        parts: Texts and gaps.
        gaps: Signatures of the different gaps, and of what follows the last text.
        codes: Which one follows each text but the last.
    """
    follows = np.array([[_walk(state, gap) for gap in gaps[:-1]] for state in range(6)], np.int8)
    depth_of = np.array([_depth(gap) for gap in gaps[:-1]], np.int8)
    depth = np.ones(len(codes) + 1, np.int32)
    np.cumsum(depth_of[codes], out=depth[1:])
    depth[1:] += 1
    if depth.min() < 1 or depth.max() > 4:  # noqa: PLR2004 - an object, its list, a group, its list
        return None
    value = np.zeros(len(depth), np.bool_)
    value[1:] = np.array([gap.endswith(":") for gap in gaps[:-1]])[codes]
    state = np.array([-1, _KEY, _ELEMENT, _GROUP_KEY, _GROUP_ELEMENT], np.int8)[depth]
    state += value  # a value's number follows that of its key
    if (follows[state[:-1], codes] != state[1:]).any() or not _ends(int(state[-1]), gaps[-1]):
        return None
    all_codes = np.append(codes, len(gaps) - 1)
    row = np.zeros(len(depth), np.int32)
    np.cumsum(np.array([gap.count("\n") for gap in gaps])[codes], out=row[1:])
    group = np.full(len(depth), -1, np.int32)
    opened = np.array([gap.count("{") - gap.count("\n") for gap in gaps])
    np.cumsum(opened[codes], out=group[1:])
    group[1:] -= 1
    return Plain(
        parts=parts,
        state=state,
        value=np.array([_value(gap) for gap in gaps], np.int8)[all_codes],
        row=row,
        group=group,
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
