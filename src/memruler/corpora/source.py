"""A corpus file on disk: its digest, and proof that it stayed the same while it was read."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from memruler.errors import CorpusError
from memruler.model.corpus import Tier

__all__ = ["Identify", "Provenance", "Source", "as_local_file", "file_state"]

_CHUNK = 1 << 20


class Provenance(NamedTuple):
    """How the bytes of a corpus were pinned, and as which version of the data."""

    tier: Tier
    version: str


Identify = Callable[[str], Provenance]
"""From the SHA-256 of a file to its provenance; the registry knows the pins, a loader does not."""


def as_local_file(sha256: str) -> Provenance:
    """The provenance of a file that no pin is known for."""
    del sha256
    return Provenance("local-file", "unknown")


def file_state(path: Path) -> os.stat_result:
    """The state of a regular file.

    Raises:
        CorpusError: It is missing, unreadable, or not a regular file.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        raise CorpusError("no such file", where=path, hint="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CorpusError(f"cannot read the file: {_reason(error)}", where=path) from None
    if stat.S_ISDIR(state.st_mode):
        raise CorpusError("is a folder, not a file", where=path, hint="name the file itself")
    if not stat.S_ISREG(state.st_mode):
        # A pipe cannot be read twice, and a device may never end.
        raise CorpusError("is not a regular file", where=path, hint="save it to a file first")
    if state.st_size == 0:
        raise CorpusError("the file is empty", where=path, hint="fetch or write it again")
    return state


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class Source:
    """One file, hashed on construction.

    Args:
        path: A regular file.

    Attributes:
        path: The file.
        sha256: Hex digest of its bytes.

    Raises:
        CorpusError: It is missing, unreadable, empty, or not a regular file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        state = file_state(path)
        self._signature = _signature(state)
        digest = hashlib.sha256()
        with self.open() as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        self.sha256 = digest.hexdigest()

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open for one whole reading; leaving normally proves that nothing changed meanwhile.

        Raises:
            CorpusError: It cannot be read, or it is not the file that was hashed any more.
        """
        try:
            with self.path.open("rb") as file:
                self._verify(os.fstat(file.fileno()))
                yield file
                self._verify(self.path.stat())
        except OSError as error:
            raise CorpusError(f"cannot read the file: {_reason(error)}", where=self.path) from error

    def _verify(self, state: os.stat_result) -> None:
        if _signature(state) != self._signature:
            raise CorpusError(
                "the file changed while it was in use",
                where=self.path,
                hint="let nothing write to it, then start again",
            )


def _signature(state: os.stat_result) -> tuple[int, int, int, int]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
