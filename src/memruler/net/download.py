"""A file from a URL: resumed after a drop, checked, and placed in one step.

The bytes go to `NAME.part` beside the destination; `NAME.part.json` says which URL and which
version of it they are of. Both stay after a drop, so that the next call goes on, and go when the
bytes turn out wrong. Two processes must not download to one destination at once: the caller locks.
"""

import hashlib
import io
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import httpx2
import msgspec

from memruler.errors import ChecksumError, InstrumentError, MemrulerError
from memruler.net.client import Client
from memruler.net.errors import HttpError
from memruler.net.faults import shown
from memruler.store.anchor import anchor
from memruler.store.faults import explained
from memruler.store.safe import make_dir, open_append, read_bytes, write_atomic

__all__ = ["Downloaded", "Progress", "download", "part_of"]

Progress = Callable[[int, int | None], None]
"""Called with the bytes there are and the bytes there will be (None when not known)."""

_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18})", re.ASCII)
_RANGE_NOT_SATISFIABLE = 416


class Downloaded(NamedTuple):
    """What was placed: its length in bytes and its SHA-256 in hex."""

    size: int
    sha256: str


class _Note(msgspec.Struct, frozen=True):
    """Which version of which URL a `.part` file holds the beginning of."""

    url: str
    validator: str


def part_of(destination: Path) -> Path:
    """Where the bytes of an unfinished download to `destination` are."""
    return destination.with_name(destination.name + ".part")


def download(
    client: Client,
    url: str,
    destination: Path,
    *,
    size: int | None = None,
    sha256: str | None = None,
    progress: Progress | None = None,
) -> Downloaded:
    """Download a file; what stood at the destination stays until the new file is whole and right.

    Args:
        client: Its retry policy covers drops in the middle, too.
        url: Where from.
        destination: The file to make or replace; missing folders are made.
        size: The length it must have, in bytes; None when not known.
        sha256: The digest it must have; None when not known.
        progress: Told about every piece.

    Raises:
        ChecksumError: The bytes are not those expected; nothing is placed.
        HttpError: The server failed; what came is kept for the next call.
        InstrumentError: The disk failed.
        UsageError: The destination cannot be a file.
    """
    make_dir(destination.parent)
    part = _Part(part_of(destination))
    try:
        with open_append(part.path) as file:
            transfer = _Transfer(
                client=client, url=url, part=part, file=file, size=size, progress=progress
            )
            client.retrying(transfer.run)
            with explained("write the file", part.path):
                file.flush()
                os.fsync(file.fileno())
            # Read back, not summed up on the way: what counts is what is on the disk.
            size_there = file.seek(0, os.SEEK_END)
            file.seek(0)
            got = Downloaded(
                size_there,
                hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest(),
            )
        _check(got, url, size, sha256)
    except ChecksumError:
        part.remove()
        raise
    with anchor(destination) as place, explained("place the file", destination):
        place.take(part.path.name)
        place.sync()
    part.forget()
    return got


class _Part:
    """The `.part` file's path and its note."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_name(path.name + ".json")

    def validator(self, url: str) -> str | None:
        """What makes the server say whether `url` still has this version; None when unknown."""
        try:
            note = msgspec.json.decode(read_bytes(self._note), type=_Note)
        except (MemrulerError, msgspec.DecodeError):
            return None  # missing or damaged: start from zero
        usable = note.url == url and note.validator.isascii() and note.validator.isprintable()
        return note.validator if usable else None

    def remember(self, url: str, response: httpx2.Response) -> None:
        """Note the version that `response` begins; without a strong validator there is none."""
        etag = response.headers.get("ETag", "")
        # RFC 9110, 13.1.5: If-Range takes no weak entity tag.
        validator = etag if etag.startswith('"') else response.headers.get("Last-Modified")
        if validator:
            write_atomic(self._note, msgspec.json.encode(_Note(url, validator)))
        else:
            self.forget()

    def forget(self) -> None:
        """Remove the note."""
        with explained("remove the file", self._note):
            self._note.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file and the note."""
        self.forget()
        with explained("remove the file", self.path):
            self.path.unlink(missing_ok=True)


class _CannotResumeError(Exception):
    """The answer does not continue what is there."""


@dataclass(frozen=True, kw_only=True)
class _Transfer:
    """Brings the `.part` file to its full length; every try goes on where the last one ended."""

    client: Client
    url: str
    part: _Part
    file: BinaryIO
    size: int | None
    progress: Progress | None

    def run(self) -> None:
        """One try.

        Raises:
            ChecksumError: The length is wrong.
            HttpError: The server failed.
        """
        have = self.file.seek(0, os.SEEK_END)
        validator = self.part.validator(self.url) if have else None
        if validator is not None and have == self.size:
            return  # a kill came between the last byte and the placing
        if validator is not None and (self.size is None or have < self.size):
            with suppress(_CannotResumeError):
                self._receive(have, validator)
                return
        self.file.truncate(0)
        self._receive(0, None)

    def _receive(self, have: int, validator: str | None) -> None:
        """Ask for what is missing after `have` bytes, and append it."""
        headers = {"Accept-Encoding": "identity"}  # lengths and ranges are of the bytes themselves
        if validator is not None:
            headers |= {"Range": f"bytes={have}-", "If-Range": validator}
        try:
            with self.client.open("GET", self.url, headers=headers) as response:
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    raise self._unusable("the server sends it compressed, although not asked to")
                if validator is not None and response.status_code == httpx2.codes.PARTIAL_CONTENT:
                    self._append(response, have, _continued(response, have, validator))
                else:
                    self._append(response, 0, self._begun(response))
        except HttpError as error:
            if validator is not None and error.status == _RANGE_NOT_SATISFIABLE:
                raise _CannotResumeError from error
            raise

    def _begun(self, response: httpx2.Response) -> int | None:
        """Begin anew with the whole file that `response` brings; its length, if it says so."""
        if response.status_code != httpx2.codes.OK:
            raise self._unusable(f"the server answered {response.status_code} instead of the file")
        self.file.truncate(0)
        self.part.remember(self.url, response)
        said = response.headers.get("Content-Length", "")
        if _LENGTH.fullmatch(said):
            return int(said)
        if self.size is None and "Transfer-Encoding" not in response.headers:
            # The end of such a body looks the same as a broken connection.
            raise self._unusable("the server does not say how long the file is")
        return None

    def _append(self, response: httpx2.Response, have: int, total: int | None) -> None:
        if total is not None and self.size is not None and total != self.size:
            raise ChecksumError(
                f"the server offers {total} bytes where {self.size} are pinned",
                where=shown(response.url),
                hint="something else answers at this address (a login page, a changed file)",
            )
        total = self.size if total is None else total
        _check_room(self.part.path, 0 if total is None else total - have)
        self._tell(have, total)
        for chunk in response.iter_raw():
            self.file.write(chunk)
            have += len(chunk)
            if total is not None and have > total:
                raise ChecksumError(f"more than the {total} bytes expected came", where=self._where)
            self._tell(have, total)
        if total is not None and have < total:
            raise HttpError(
                f"the file ended after {have} of {total} bytes", where=self._where, transient=True
            )

    def _tell(self, have: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(have, total)

    @property
    def _where(self) -> str:
        return shown(self.url)

    def _unusable(self, what: str) -> HttpError:
        return HttpError(what, where=self._where, hint="fetch it from another place")


def _continued(response: httpx2.Response, have: int, validator: str) -> int:
    """The whole length according to a 206 answer that goes on after `have` bytes.

    Raises:
        _CannotResumeError: It goes on elsewhere, or in another version of the file.
    """
    span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    version = response.headers.get("ETag")
    if span is None or int(span[1]) != have:
        raise _CannotResumeError
    if validator.startswith('"') and version not in {None, validator}:
        raise _CannotResumeError  # a server that knows ranges, but not If-Range
    return int(span[2])


def _check(got: Downloaded, url: str, size: int | None, sha256: str | None) -> None:
    """Hold what came against what was expected."""
    for name, is_, should in (("length", got.size, size), ("SHA-256", got.sha256, sha256)):
        if should is not None and is_ != should:
            raise ChecksumError(
                f"the file that came is not the one that is pinned: its {name} is {is_}, "
                f"and {should} is expected",
                where=shown(url),
                hint="nothing was kept; try again, or on another network",
            )


def _check_room(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise InstrumentError(
            f"not enough room on the disk: {needed} bytes are still to come, {free} are free",
            where=path.parent,
            hint="free some space, or choose a folder on another disk",
        )
