"""Blocks of JSON Lines as Arrow tables: parsed by Arrow, judged line by line where it must be.

Arrow's parser is fast and lax: it takes two objects on a line, one object over two, NaN, and it
can be crashed by a bare `null`. So a block goes to it only when each of its lines is certain to be
one object; any other block is first read line by line with a strict decoder, which also finds the
words for what is wrong.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from memruler.corpora.jsontext import decode
from memruler.errors import CorpusError
from memruler.exchange.faults import Faults
from memruler.exchange.lines import Block, blocks, sound_text
from memruler.scoring.traced import MOST_NAMES

__all__ = ["buffer", "first_objects", "holes", "json_tables", "objects"]

# None of these is wrong in every place, but each one deserves the strict decoder.
_SUSPECT = ((b"\\", b"\\u0000"), (b"N", b"NaN"), (b"I", b"Infinity"))
_BARE = re.compile(rb"\}[ \t\r]*+[^\s,}\]]")
"""Something else than a comma, a bracket or the end of the line behind an object."""

_NEWLINE, _OPENS, _CLOSES = b"\n{}"

_Extra = Callable[[list[bytes]], pa.Table]
"""Makes a table of lines that hold what Arrow cannot parse."""


def objects(block: Block) -> Iterator[tuple[int, bytes]]:
    """Each line of a block that is not blank, with its number."""
    for number, line in enumerate(block.data.split(b"\n"), start=block.first):
        if line.strip():
            yield number, line


def json_tables(
    path: Path,
    source: Iterator[Block],
    schema: pa.Schema,
    line: type,
    *,
    special: tuple[tuple[bytes, ...], _Extra] | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a file, a block at a time.

    Args:
        path: Named in errors.
        source: Its blocks.
        schema: Columns to read; those that are not nullable are in every line. Other keys of a
            line are left alone.
        line: The same as a record, for the strict decoder.
        special: Words whose mere presence in a block sends it to a parser of its own.

    Raises:
        FaultyFile: Lines are no JSON, or not of that shape.
    """
    for block in source:
        data = block.data.strip()
        if not data:
            continue
        odd = special is not None and any(word in data for word in special[0])
        if not odd and _certain(data):
            table = _parsed(data, schema)
            if table is not None:
                yield table
                continue
        lines = _judged(path, block, line)
        if special is not None and odd:
            yield special[1](lines)
            continue
        table = _parsed(b"\n".join(lines), schema)
        if table is None:
            raise CorpusError(
                "some line is no JSON object of this format",
                where=f"{path}:{block.first} and what follows",
                hint="see docs/exchange.md for the formats",
            )
        yield table


def _certain(data: bytes) -> bool:
    """Whether each line is an object or no JSON at all, in sound UTF-8."""
    if not (data.startswith(b"{") and data.endswith(b"}")):
        return False
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if (text[ends - 1] != _CLOSES).any() or (text[ends + 1] != _OPENS).any():
        return False
    # A single byte is found far faster than a word, and most files have none of these.
    if any(first in data and word in data for first, word in _SUSPECT) or _BARE.search(data):
        return False
    return data.isascii() or sound_text(data)


def _parsed(data: bytes, schema: pa.Schema) -> pa.Table | None:
    """The rows, or None where something is wrong with them."""
    read = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    parse = pj.ParseOptions(explicit_schema=_lenient(schema), unexpected_field_behavior="ignore")
    try:
        table = pj.read_json(buffer(data), read_options=read, parse_options=parse)
    except pa.ArrowException:
        return None
    table = table.combine_chunks()
    if table.num_rows != data.count(b"\n") + 1:
        return None
    return None if holes(table, schema) else table


def buffer(data: bytes) -> Any:
    """Bytes as Arrow's readers take them."""
    return pa.BufferReader(data)  # the stubs know files alone


def _lenient(schema: pa.Schema) -> pa.Schema:
    """The schema with every column nullable: Arrow would put a zero or nothing otherwise."""
    return pa.schema([field.with_nullable(nullable=True) for field in schema])


def holes(table: pa.Table, schema: pa.Schema) -> str | None:
    """The first column with a null or an empty name where neither may be.

    That is in every list, and where the column is not nullable.
    """
    for field in schema:
        column = table.column(field.name)
        if not field.nullable and (column.null_count or not _named(column)):
            return field.name
        if not all(_no_holes(chunk) for chunk in column.chunks):
            return field.name
    return None


def _no_holes(array: Any) -> bool:
    if isinstance(array, pa.MapArray):
        inner = [array.keys, array.items]
    elif isinstance(array, pa.ListArray):
        inner = [array.flatten()]
    elif isinstance(array, pa.DictionaryArray):
        inner = [array.dictionary]
    elif isinstance(array, pa.StructArray):
        return all(_no_holes(part) for part in array.flatten())
    else:
        return True
    return all(not one.null_count and _named(one) and _no_holes(one) for one in inner)


def _named(array: Any) -> bool:
    return not pa.types.is_string(array.type) or pc.min(pc.binary_length(array)).as_py() != 0


def _judged(path: Path, block: Block, line: type) -> list[bytes]:
    """The lines of a block, all of which are sound.

    Raises:
        FaultyFile: Some are not; the first ones, and why.
    """
    faults = Faults(path)

    def wrong() -> Iterator[tuple[int, str]]:
        for number, data in objects(block):
            try:
                decode(data, line, where=number)
            except CorpusError as error:
                yield number, str(error.what)

    for number, what in islice(wrong(), MOST_NAMES):
        faults.add(what, [f"line {number}"])
    faults.refuse()
    return [data for _, data in objects(block)]


def first_objects(path: Path, most: int = 100) -> list[dict[str, Any]]:
    """The first lines of a file as objects; those that are none are left out."""
    found: list[dict[str, Any]] = []
    for block in blocks(path):
        for _, data in islice(objects(block), most):
            try:
                found.append(decode(data, dict[str, Any], where=path))
            except CorpusError:
                continue
        break
    return found
