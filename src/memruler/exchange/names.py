"""Names of items as small numbers: a block at a time while reading, one numbering at the end."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Coded", "Numbering", "coded", "labels", "numbered"]


class Coded(msgspec.Struct, eq=False):
    """Names in order, as places in the dictionaries of the blocks that they were read in."""

    dictionaries: list[Any] = []
    places: list[NDArray[np.int32]] = []

    def add(self, names: Any) -> None:
        """Append a block of names: an Arrow array of strings without nulls."""
        encoded = names if isinstance(names, pa.DictionaryArray) else names.dictionary_encode()
        self.dictionaries.append(encoded.dictionary)
        self.places.append(encoded.indices.to_numpy().astype(np.int32, copy=False))

    def __len__(self) -> int:
        return sum(map(len, self.places))


def coded(names: Any) -> Coded:
    """One block of names."""
    found = Coded()
    found.add(names)
    return found


class Numbering(msgspec.Struct, frozen=True, eq=False):
    """Which number each name has.

    Attributes:
        names: An Arrow array of strings; the place of a name is its number.
        maps: Dictionary by its id() to the numbers of its entries.
    """

    names: Any
    maps: dict[int, NDArray[np.int32]]

    def of(self, names: Coded) -> NDArray[np.int32]:
        """The numbers of names, in their order."""
        parts = [
            self.maps[id(dictionary)].take(places)
            for dictionary, places in zip(names.dictionaries, names.places, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)


def numbered(groups: Sequence[Coded]) -> Numbering:
    """Number every name that occurs, in order of first mention.

    Args:
        groups: All that shall share the numbering.
    """
    dictionaries = [one for group in groups for one in group.dictionaries]
    if not dictionaries:
        return Numbering(pa.array([], pa.string()), {})
    whole = pa.concat_arrays([one.cast(pa.large_string()) for one in dictionaries])
    encoded = whole.dictionary_encode()
    numbers = encoded.indices.to_numpy().astype(np.int32, copy=False)
    ends = np.cumsum([len(one) for one in dictionaries])
    parts = np.split(numbers, ends[:-1])
    return Numbering(
        encoded.dictionary,
        {id(one): part for one, part in zip(dictionaries, parts, strict=True)},
    )


def labels(column: Any) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """A column of a few different texts as places in their list; -1 where there is none."""
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not isinstance(encoded, pa.DictionaryArray):
        encoded = encoded.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places, tuple(encoded.dictionary.to_pylist())
