"""A text file, packed or not, as blocks of whole lines in bounded memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

import pyarrow as pa

from memruler.errors import CorpusError
from memruler.store.faults import explained
from memruler.store.safe import open_read

if TYPE_CHECKING:
    import io

__all__ = ["LONGEST", "Block", "blocks", "head", "sound_text"]

LONGEST = 64 << 20
"""Bytes that one line may have."""

_BLOCK = 4 << 20
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


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
    """What is in the file, at most `_BLOCK` bytes at a time."""
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    if not packed:
        while data := file.read(_BLOCK):
            yield data
        return
    # Arrow's is twice as fast as Python's, and reads one member after the other as well.
    try:
        with pa.CompressedInputStream(
            pa.PythonFile(cast("io.IOBase", file), "r"), "gzip"
        ) as stream:
            while data := stream.read(_BLOCK):
                yield data
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the data
        raise CorpusError(
            f"no sound gzip: {error}", where=path, hint="pack or copy it again"
        ) from None


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
