"""Parquet files with the columns of the other formats."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from memruler.errors import CorpusError
from memruler.exchange.faults import Faults
from memruler.exchange.json_lines import holes
from memruler.store.safe import open_read

__all__ = ["columns", "parquet_tables"]

_ROWS = 16_384


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    with open_read(path, managed=False) as file:
        try:
            # No threads: one that still reads a Python file when the program ends early takes the
            # whole process down.
            yield pq.ParquetFile(file, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise CorpusError(
                f"the Parquet file cannot be read: {error}", where=path, hint="write it again"
            ) from error


def columns(path: Path) -> dict[str, pa.DataType]:
    """The columns of a file and their types."""
    with _opened(path) as file:
        return {field.name: field.type for field in file.schema_arrow}


def parquet_tables(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a file, some thousands at a time.

    Args:
        path: The file.
        schema: Columns to read. Those that are not nullable must be there; of the others, the
            ones that the file lacks are full of nulls. Fields of a struct that the file lacks are
            left out.

    Raises:
        CorpusError: A column is missing, or of another type, or the file is damaged.
    """
    with _opened(path) as file:
        have = {field.name: field.type for field in file.schema_arrow}
        lacking = [f.name for f in schema if not f.nullable and f.name not in have]
        if lacking:
            raise CorpusError(
                f"the file lacks the column {lacking[0]}",
                where=path,
                hint="see docs/exchange.md for the formats",
            )
        wanted = [field for field in schema if field.name in have]
        kinds = {field.name: _present(field.type, have[field.name]) for field in wanted}
        first = 0
        for batch in file.iter_batches(
            _ROWS, columns=[field.name for field in wanted], use_threads=False
        ):
            arrays = []
            for field in schema:
                if field.name not in kinds:
                    arrays.append(pa.nulls(len(batch), field.type))
                    continue
                arrays.append(_cast(path, field.name, batch.column(field.name), kinds[field.name]))
            table = pa.Table.from_arrays(arrays, names=schema.names)
            missing = holes(table, schema)
            if missing:
                faults = Faults(path)
                faults.add(f"nothing in {missing}", [f"rows from {first + 1}"])
                faults.refuse()
            yield table
            first += len(batch)


def _present(wanted: Any, have: Any) -> Any:
    """The wanted type without the fields of structs that the file lacks."""
    if pa.types.is_list(wanted) and (pa.types.is_list(have) or pa.types.is_large_list(have)):
        return pa.list_(_present(wanted.value_type, have.value_type))
    if pa.types.is_struct(wanted) and pa.types.is_struct(have):
        names = {field.name: field.type for field in have}
        return pa.struct(
            [(f.name, _present(f.type, names[f.name])) for f in wanted if f.name in names]
        )
    return wanted


def _cast(path: Path, name: str, array: Any, kind: Any) -> Any:
    """An array as another type of the same sense: no number becomes a text, nor a text a number."""
    try:
        if _family(array.type) == _family(kind):
            return _selected(array, kind).cast(kind)
    except (pa.ArrowException, KeyError):
        pass
    raise CorpusError(
        f"the column {name} is {array.type}, where {kind} is wanted",
        where=path,
        hint="see docs/exchange.md for the formats",
    )


def _selected(array: Any, kind: Any) -> Any:
    """An array of lists of structs with the fields of `kind`, in its order."""
    if pa.types.is_large_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return array
    inner = array.values
    parts = [inner.field(field.name) for field in kind.value_type]
    fields = [pa.field(f.name, part.type) for f, part in zip(kind.value_type, parts, strict=True)]
    mask = inner.is_null() if inner.null_count else None
    built = pa.StructArray.from_arrays(parts, fields=fields, mask=mask)
    offsets = array.offsets
    return pa.ListArray.from_arrays(
        offsets, built, mask=array.is_null() if array.null_count else None
    )


def _family(kind: Any) -> Any:
    """What a type is about, whatever its width."""
    if pa.types.is_dictionary(kind):
        return _family(kind.value_type)
    if pa.types.is_map(kind):
        return ("map", _family(kind.key_type), _family(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return ("list", _family(kind.value_type))
    is_one: dict[str, Callable[[Any], bool]] = {
        "struct": pa.types.is_struct,
        "string": lambda one: pa.types.is_string(one) or pa.types.is_large_string(one),
        "integer": pa.types.is_integer,
        "float": pa.types.is_floating,
    }
    return next((name for name, test in is_one.items() if test(kind)), str(kind))
