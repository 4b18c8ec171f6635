"""Every fault of a memruler corpus file at once, by file, line and field."""

from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import inspect as types

from memruler.corpora.jsonl_format import HeaderLine, InstanceLine
from memruler.corpora.jsonl_sense import sense_faults
from memruler.corpora.jsontext import blemishes, explain
from memruler.corpora.mismatch import Mismatch, mismatches
from memruler.corpora.source import Source
from memruler.corpora.whole_document import HEAD, whole_document
from memruler.errors import printable

__all__ = ["LONGEST", "Fault", "check", "find_faults", "is_header", "lines"]

LONGEST = 256 << 20
"""Bytes that one line may have."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault.

    Attributes:
        file: The file as it was named.
        line: 1-based; 0 for the file as a whole.
        field: Path in the line (`sessions[2].turns[0].text`); empty for the line as a whole.
        what: What is wrong, in words.
    """

    file: str
    line: int
    field: str
    what: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return printable(": ".join(part for part in (place, self.field, self.what) if part))


def check(path: Path) -> list[Fault]:
    """Every fault of the file, in order of lines; empty when it is sound.

    Raises:
        CorpusError: The file is missing, empty, or cannot be read.
    """
    return list(find_faults(Source(path)))


def find_faults(source: Source) -> Iterator[Fault]:
    """Yield the faults of an opened file; see `check`."""
    file = str(source.path)
    with source.open() as handle:
        what = whole_document(handle.read(HEAD))
    if what:
        yield Fault(file=file, line=0, field="", what=what)
        return
    first_line: dict[str, int] = {}
    sound = True
    with source.open() as handle:
        for number, data in lines(handle):
            for found in _line_faults(number, data, first_line):
                sound = False
                yield Fault(file=file, line=number, field=found.path, what=found.what)
    if sound and not first_line:
        yield Fault(file=file, line=0, field="", what="the corpus is empty: no instance")


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its 1-based number; one over `LONGEST` is the last, and cut."""
    for number in count(1):
        data = file.readline(LONGEST + 1)
        if not data:
            return
        yield number, data
        if len(data) > LONGEST:
            return


def is_header(value: Any) -> bool:
    """Whether a decoded line is the one that tells about the corpus."""
    return isinstance(value, dict) and "corpus" in value


@cache
def _kind(record: type) -> types.Type:
    return types.type_info(record)


def _line_faults(number: int, data: bytes, first_line: dict[str, int]) -> Iterator[Mismatch]:
    if not data.strip():
        yield Mismatch("", "is a blank line")
        return
    if len(data) > LONGEST:
        yield Mismatch("", f"has more than {LONGEST:,} bytes; nothing behind it was looked at")
        return
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        yield Mismatch("", explain(data, error))
        return
    yield from (Mismatch(*blemish) for blemish in blemishes(data))
    if is_header(value):
        yield from mismatches(value, _kind(HeaderLine))
        if number > 1:
            yield Mismatch("", "tells about the corpus, which only the first line may")
        return
    yield from _shape_faults(data, value)
    if isinstance(value, dict):
        yield from sense_faults(value)
        name = value.get("id")
        if isinstance(name, str) and first_line.setdefault(name, number) != number:
            yield Mismatch("id", f"the instance of line {first_line[name]} has this id too")


def _shape_faults(data: bytes, value: Any) -> Iterator[Mismatch]:
    """What the types say: the fast decoder first, the walk only where it refuses."""
    try:
        msgspec.json.decode(data, type=InstanceLine)
    except msgspec.ValidationError as error:
        found = list(mismatches(value, _kind(InstanceLine)))
        yield from found or [Mismatch("", str(error))]
