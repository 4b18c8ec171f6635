"""Ranked lists out of plain lines by their quotes alone: twice as fast as a parser of any JSON.

A plain line is an object of texts and of lists of texts, without an escape:
`{"query_id":"q1","category":"c","ranked":["a","b"]}`. Then a text is what stands between two
quotes, and all of the structure is in the gaps between texts, of which there are few different
ones. Every gap is checked, so that whatever is not such a line is left to the parser.
"""

from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["plain_ranked"]

_Ints = NDArray[np.integer]

_QUOTE, _COMMA, _SPACE, _NEWLINE = b'", \n'
_NEXT, _KEY, _KEY_OF_LIST, _LIST_ENDS, _ROW_ENDS, _BOTH_END = range(6)
_GAPS: Final = {
    b",": _NEXT,
    b":": _KEY,
    b":[": _KEY_OF_LIST,
    b"],": _LIST_ENDS,
    b"}\n{": _ROW_ENDS,
    b"]}\n{": _BOTH_END,
}
"""What stands between two texts, without spaces, and what it says of the first of them."""

_TEXTS = ("query_id", "category", "cluster", "instance")
_RANKED = "ranked"


class _Texts(msgspec.Struct, frozen=True, eq=False):
    """The texts of a block.

    Attributes:
        parts: What stands between quotes, each with the quote before it: a text, a gap, a text...
        gap: Which of `_GAPS` follows each text [N].
        row: The line of each text [N].
        key: Whether a text is a key [N].
    """

    parts: Any
    gap: NDArray[np.int8]
    row: _Ints
    key: NDArray[np.bool_]

    def take(self, at: _Ints) -> Any:
        """Some texts, each with the quote before it."""
        return self.parts.take(pa.array(2 * at))


def plain_ranked(data: bytes) -> pa.Table | None:
    """The rows of a block of plain lines; None where a line is not plain.

    Args:
        data: Whole lines in sound UTF-8, without white space at either end.

    Returns:
        `query_id`, `category`, `cluster`, `instance` and `ranked`, whose lists are of dictionary
        type.
    """
    texts = _texts(data)
    if texts is None:
        return None
    keys = np.flatnonzero(texts.key)
    names = texts.take(keys).dictionary_encode()
    listed = texts.gap[keys] == _KEY_OF_LIST
    rows = int(texts.row[-1]) + 1
    columns: dict[str, Any] = {}
    for name in (*_TEXTS, _RANKED):
        code = pc.index(names.dictionary, '"' + name).as_py()
        of_name = names.indices.to_numpy() == code
        mine = keys[of_name]
        row = texts.row[mine]
        if (row[1:] == row[:-1]).any() or (listed[of_name] != (name == _RANKED)).any():
            return None
        if name in {"query_id", _RANKED} and len(mine) != rows:
            return None
        columns[name] = _lists(texts, mine) if name == _RANKED else _values(texts, mine, rows)
        if columns[name] is None:
            return None
    return pa.table(columns)


def _texts(data: bytes) -> _Texts | None:
    """Where the texts and the gaps are, if every gap is one of the known."""
    if b"\\" in data or not data.startswith(b'{"') or not data.endswith((b'"}', b'"]}')):
        return None
    letters = np.frombuffer(data, np.uint8)
    if np.count_nonzero(letters < _SPACE) != np.count_nonzero(letters == _NEWLINE):
        return None
    quotes = np.flatnonzero(letters == _QUOTE).astype(np.int32)
    if len(quotes) % 2:
        return None
    offsets: Any = quotes
    parts: Any = pa.StringArray.from_buffers(
        len(quotes) - 1, pa.py_buffer(offsets), pa.py_buffer(data)
    )
    ends = quotes[1::2]
    gap = np.zeros(len(ends), np.int8)
    gap[-1] = _BOTH_END if data.endswith(b"]}") else _ROW_ENDS
    # Nearly all gaps are a comma; only the others are looked at one by one.
    plain = (quotes[2::2] - ends[:-1] == 2) & (letters[ends[:-1] + 1] == _COMMA)  # noqa: PLR2004
    other = np.flatnonzero(~plain)
    found = parts.take(pa.array(2 * other + 1)).dictionary_encode()
    known = [_GAPS.get(one.encode()[1:].replace(b" ", b"")) for one in found.dictionary.to_pylist()]
    if None in known:
        return None
    gap[other] = np.array(known, np.int8)[found.indices.to_numpy()]
    return _sound(parts, gap)


def _sound(parts: Any, gap: NDArray[np.int8]) -> _Texts | None:
    """The texts, if keys, values and lists follow each other as in an object."""
    opens = gap == _KEY_OF_LIST
    closes = (gap == _LIST_ENDS) | (gap == _BOTH_END)
    depth = np.zeros(len(gap), np.int8)
    depth[1:] = np.cumsum(opens[:-1].view(np.int8) - closes[:-1].view(np.int8), dtype=np.int8)
    inside = depth == 1
    if (depth < 0).any() or (depth > 1).any():
        return None
    value = np.zeros(len(gap), np.bool_)
    value[1:] = gap[:-1] == _KEY
    key = ~(inside | value)
    sound = np.where(
        inside,
        (gap == _NEXT) | closes,
        np.where(value, (gap == _NEXT) | (gap == _ROW_ENDS), opens | (gap == _KEY)),
    )
    if not sound.all() or (inside & value).any():
        return None
    ends = (gap == _ROW_ENDS) | (gap == _BOTH_END)
    row = np.zeros(len(gap), np.int32)
    np.cumsum(ends[:-1], out=row[1:])
    return _Texts(parts, gap, row, key)


def _values(texts: _Texts, keys: _Ints, rows: int) -> Any:
    """The text after each key, by row; nulls where a row has no such key."""
    place = np.full(rows, -1)
    place[texts.row[keys]] = 2 * (keys + 1)
    found = texts.parts.take(pa.array(place, mask=place < 0))
    return pc.utf8_slice_codeunits(found, 1)


def _lists(texts: _Texts, keys: _Ints) -> Any:
    """The list after each key, as an array of lists of dictionary type."""
    closes = np.flatnonzero((texts.gap == _LIST_ENDS) | (texts.gap == _BOTH_END))
    lengths = closes[np.searchsorted(closes, keys + 1)] - keys
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    at = np.arange(ends[-1], dtype=np.int32) + np.repeat(
        (keys + 1 - ends[:-1]).astype(np.int32), lengths
    )
    items = texts.take(at).dictionary_encode()
    names = pc.utf8_slice_codeunits(items.dictionary, 1)
    offsets: Any = pa.array(ends)
    return pa.ListArray.from_arrays(offsets, pa.DictionaryArray.from_arrays(items.indices, names))
