"""A text file, packed or not, as blocks of whole lines in bounded memory."""

import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memruler.errors import CorpusError
from memruler.store.faults import explained
from memruler.store.safe import open_read

__all__ = ["LONGEST", "Block", "blocks", "head", "sound_text"]

LONGEST = 64 << 20
"""Bytes that one line may have."""

_BLOCK = 4 << 20
_CHUNK = 1 << 18
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_WRAPPED = 31  # zlib's name for a gzip wrapper with the largest window


class Block(NamedTuple):
    """Whole lines.

    Attributes:
        first: Number of the first one, from 1.
        data: Their bytes, without the newline of the last one.
    """

    first: int
    data: bytes


def blocks(path: Path) -> Iterator[Block]:
    """Yield the lines of a file, in blocks of a few megabytes.

    A gzip file is known by its first bytes, not by its name, and unpacked as it is read. A byte
    order mark is left out, and lines may end in CR LF: both say nothing.

    Raises:
        UsageError: It is missing, or no regular file.
        CorpusError: It is no sound gzip file, or a line is longer than `LONGEST`.
        InstrumentError: It cannot be read.
    """
    with open_read(path, managed=False) as file, explained("read the file", path):
        first, kept, size, whole = 1, list[bytes | memoryview](), 0, 0
        for piece in _pieces(file, path):
            cut = piece.rfind(b"\n")
            whole = size + cut if cut >= 0 else whole  # up to the last newline of all that is kept
            if size + len(piece) - whole > LONGEST:
                raise CorpusError(
                    f"a line has more than {LONGEST >> 20} MB",
                    where=path,
                    hint="one query, or one hit, a line",
                )
            if cut < 0 or whole < _BLOCK:
                kept.append(piece)
                size += len(piece)
                continue
            view = memoryview(piece)  # the one copy is that of joining
            block = _plain(b"".join([*kept, view[:cut]]), first)
            kept, whole = [view[cut + 1 :]], 0
            size = len(kept[0])
            yield block
            first += block.data.count(b"\n") + 1
        if size:
            yield _plain(b"".join(kept).removesuffix(b"\n"), first)


def _plain(data: bytes, first: int) -> Block:
    if first == 1:
        data = data.removeprefix(_BOM)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return Block(first, data)


def _pieces(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """What is in the file, at most about `_BLOCK` bytes at a time."""
    data = file.read(_CHUNK)
    if not data.startswith(_GZIP):
        while data:
            yield data
            data = file.read(_BLOCK)
        return
    while data:  # a member after the other, as `cat a.gz b.gz` makes them
        data = yield from _member(file, data, path)
        while data == bytes(len(data)):  # zeros that fill a tape's block
            data = file.read(_CHUNK)
            if not data:
                return


def _member(file: BinaryIO, data: bytes, path: Path) -> Generator[bytes, None, bytes]:
    """What is in a gzip member that begins with `data`; returns what was read behind it."""
    unpack = zlib.decompressobj(_WRAPPED)
    while True:
        try:
            piece = unpack.decompress(data, _BLOCK)
        except zlib.error as error:
            raise CorpusError(
                f"no sound gzip: {error}", where=path, hint="pack or copy it again"
            ) from None
        if piece:
            yield piece
        if unpack.eof:
            return unpack.unused_data.lstrip(b"\0") or file.read(_CHUNK)
        data = unpack.unconsumed_tail or file.read(_CHUNK)
        if not data:
            raise CorpusError("the gzip file is truncated", where=path, hint="copy it again")


def sound_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def head(path: Path) -> bytes:
    """The first bytes of a file, unpacked: enough to see what it is.

    Raises:
        CorpusError: As `blocks`.
        UsageError: As `blocks`.
        InstrumentError: As `blocks`.
    """
    with open_read(path, managed=False) as file, explained("read the file", path):
        return next(_pieces(file, path), b"").removeprefix(_BOM)
