"""Names of items while they are read: places in the dictionary of the block that they stand in."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Coded", "coded", "labels", "one_array", "unified"]

_ROOM = 1 << 31  # bytes that the plain type of strings can count


class Coded(msgspec.Struct, eq=False):
    """Names in order.

    Attributes:
        dictionaries: The distinct names of each block, Arrow arrays of strings.
        places: Which of them each name of the block is.
    """

    dictionaries: list[Any] = []
    places: list[NDArray[np.int32]] = []

    def add(self, names: Any) -> None:
        """Append a block of names: an Arrow array of strings without nulls."""
        encoded = names if isinstance(names, pa.DictionaryArray) else names.dictionary_encode()
        self.dictionaries.append(encoded.dictionary)
        self.places.append(encoded.indices.to_numpy().astype(np.int32, copy=False))


def coded(names: Any) -> Coded:
    """One block of names."""
    found = Coded()
    found.add(names)
    return found


def unified(names: Coded) -> tuple[Any, NDArray[np.int32]]:
    """The distinct names of all blocks, in order of first mention, and which each name is."""
    if not names.dictionaries:
        return pa.array([], pa.string()), np.zeros(0, np.int32)
    ends = np.cumsum([len(one) for one in names.dictionaries])
    encoded = one_array(names.dictionaries).dictionary_encode()
    parts = np.split(encoded.indices.to_numpy(), ends[:-1])
    numbers = [part.take(places) for part, places in zip(parts, names.places, strict=True)]
    return encoded.dictionary, np.concatenate(numbers).astype(np.int32, copy=False)


def one_array(parts: Sequence[Any]) -> Any:
    """Arrow arrays of strings as one, of a type that has room for them."""
    wide = sum(part.nbytes for part in parts) >= _ROOM
    kind = pa.large_string() if wide else pa.string()
    return pa.concat_arrays([part.cast(kind) for part in parts] or [pa.array([], kind)])


def labels(column: Any) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """A column of a few different texts as places in their list; -1 where there is none."""
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not isinstance(encoded, pa.DictionaryArray):
        encoded = encoded.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places, tuple(encoded.dictionary.to_pylist())
