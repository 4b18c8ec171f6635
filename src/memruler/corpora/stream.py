"""A huge JSON list of objects, read one object at a time in bounded memory."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import msgspec

from memruler.corpora.jsontext import explain
from memruler.errors import CorpusError

__all__ = ["LARGEST", "Element", "check_ends", "elements"]

LARGEST = 256 << 20
"""Bytes that one element may have. The largest of LongMemEval-M has about 6 MB."""

_CHUNK = 1 << 20
_EDGE = 4096
_SPACE = b" \t\r\n"
_PRINTABLE = re.compile(rb"[!-~]")
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_HINT = "the file is damaged, or not this kind of corpus; fetch it again"
# Up to and including the next bracket that stands outside a string. Possessive, so that a miss
# (the buffer ends first) costs one pass and no backtracking.
_TO_BRACKET = re.compile(
    rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL
)


class Element(NamedTuple):
    """One object of the list: its 0-based place, its first byte in the file, its bytes."""

    position: int
    offset: int
    data: bytes


class _Window:
    """A view of the file that grows: `data` begins at byte `base`, and is read up to `at`."""

    def __init__(self, file: BinaryIO, where: object) -> None:
        self.file = file
        self.where = where
        self.data = b""
        self.base = 0
        self.at = 0

    def fault(self, what: str) -> CorpusError:
        """The error that names the byte where the reading stands."""
        where = f"{self.where}: byte {self.base + self.at}"
        return CorpusError(what, where=where, hint=_HINT)

    def more(self) -> bool:
        """Read on, dropping what stands before `at`; False at the end of the file.

        Reading as much as is kept already makes all rescans of a long string together linear.
        """
        kept = self.data[self.at :]
        chunk = self.file.read(max(_CHUNK, len(kept)))
        self.data = kept + chunk
        self.base += self.at
        self.at = 0
        return bool(chunk)

    def peek(self) -> bytes:
        """The next byte that is no white space, left unread; empty at the end of the file."""
        while True:
            if found := _NOT_SPACE.search(self.data, self.at):
                self.at = found.start()
                return found.group()
            self.at = len(self.data)
            if not self.more():
                return b""

    def take(self, wanted: bytes, between: str) -> bytes:
        """Read one of the bytes in `wanted`.

        Args:
            wanted: The bytes that may come next.
            between: Where this is, for the error.
        """
        byte = self.peek()
        if not byte:
            raise self.fault(f"truncated: the file ends {between}")
        if byte not in wanted:
            listed = " or ".join(repr(chr(one)) for one in wanted)
            raise self.fault(f"expected {listed} {between}, found {_shown(byte)}")
        self.at += 1
        return byte


def _shown(byte: bytes) -> str:
    return repr(byte.decode()) if _PRINTABLE.match(byte) else f"byte 0x{byte[0]:02x}"


def elements(file: BinaryIO, *, where: object, largest: int = LARGEST) -> Iterator[Element]:
    """Yield the objects of the list that the file is, one at a time.

    Only brackets and strings are looked at here; the inside of an element is left to its
    decoder. At most about three times the largest element is held.

    Args:
        file: Open for reading bytes, at its start.
        where: Named in errors.
        largest: Bytes that one element may have.

    Raises:
        CorpusError: The file is no list of objects, is truncated, or goes on after the list;
            with the byte, and the index of the element.
    """
    window = _Window(file, where)
    window.take(b"[", "at the start of a JSON list")
    index = 0
    closed = window.peek() == b"]"
    while not closed:
        between = f"where element {index} begins"
        window.take(b"{", between)
        window.at -= 1
        yield _element(window, index, largest)
        closed = window.take(b",]", f"after element {index}") == b"]"
        index += 1
    if index == 0:
        window.take(b"]", "at the end of an empty list")
    if byte := window.peek():
        raise window.fault(f"goes on after the end of the list with {_shown(byte)}")


def _element(window: _Window, index: int, largest: int) -> Element:
    """Read the object that begins at `window.at`."""
    offset = window.base + window.at
    depth = 0
    scanned = 0  # bytes of the element that are behind the last bracket found
    while True:
        found = _TO_BRACKET.match(window.data, window.at + scanned)
        if found:
            scanned = found.end() - window.at
            depth += 1 if found.group(1) in b"[{" else -1
        if scanned > largest or (not found and len(window.data) - window.at > largest):
            raise window.fault(f"element {index} has more than {largest:,} bytes")
        if found and depth == 0:
            data = window.data[window.at : window.at + scanned]
            window.at += scanned
            return Element(index, offset, data)
        if not found and not window.more():
            raise window.fault(
                f"the file ends inside element {index}: {_why(window.data[window.at :])}"
            )


def _why(data: bytes) -> str:
    """Why an element that never closes is not JSON."""
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return explain(data, error)
    return "malformed JSON"  # never reached: what decodes has its brackets closed


def check_ends(file: BinaryIO, *, where: object) -> None:
    """Look at both ends of the file only, so that most damage shows before any work begins.

    Args:
        file: Open for reading bytes, seekable.
        where: Named in errors.

    Raises:
        CorpusError: It does not begin and end as a JSON list with something in it.
    """
    head = file.read(_EDGE)
    size = file.seek(0, 2)
    file.seek(max(0, size - _EDGE))
    tail = file.read(_EDGE).rstrip(_SPACE)
    first = head.lstrip(_SPACE)
    if head.startswith(b"\xef\xbb\xbf"):
        raise CorpusError(
            "starts with a byte order mark", where=where, hint="save it as UTF-8 without one"
        )
    if not first.startswith(b"["):
        raise CorpusError("the top level is not a JSON list", where=where, hint=_HINT)
    if not tail.endswith(b"]"):
        last = _shown(tail[-1:]) if tail else "white space"
        raise CorpusError(
            f"truncated, or something follows the list: the file ends with {last}",
            where=f"{where}: byte {size}",
            hint=_HINT,
        )
    if first[1:].strip(_SPACE) == b"]":
        raise CorpusError("the corpus is empty: a list without elements", where=where, hint=_HINT)
