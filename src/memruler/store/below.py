"""What the folders below a run share: how they are claimed, and manifests that may be replaced."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memruler.errors import FormatError
from memruler.model.answers import ANSWERS_VERSION
from memruler.store.folder import MANIFEST, RunFolder
from memruler.store.lock import lock_folder
from memruler.store.safe import make_dir

__all__ = [
    "NewerFormatError",
    "claim_below",
    "read_below",
    "same_but_for_the_call",
    "standing_below",
    "write_below",
]

_Manifest = TypeVar("_Manifest", bound=msgspec.Struct)
_OF_THE_CALL = {"started", "finished", "usage", "tool"}


class NewerFormatError(FormatError):
    """What lies there was written by a newer memruler: it is sound, and must not be replaced."""


@contextmanager
def claim_below(path: Path, *, named: str, busy: str) -> Iterator[RunFolder]:
    """Make or take up a folder below a run, lock it, and clear what a kill left in it.

    Args:
        path: The folder, every link in its path resolved.
        named: See `lock_folder`.
        busy: Likewise.

    Raises:
        UsageError: Another process holds it.
        InstrumentError: It cannot be written to.
    """
    make_dir(path, resolved=True)
    lock = lock_folder(path, named=named, busy=busy, option="--name")
    with RunFolder(path, lock) as folder:
        folder.sweep()
        yield folder


def read_below(folder: RunFolder, kind: type[_Manifest], *, named: str, again: str) -> _Manifest:
    """The manifest of a folder below a run.

    Args:
        folder: Which has one.
        kind: Its record.
        named: What the folder holds: `answers`, `grades`.
        again: How it is made anew.

    Raises:
        NewerFormatError: A newer memruler wrote it.
        FormatError: It is damaged, or of an older version.
    """
    where = folder.path / MANIFEST
    try:
        raw = msgspec.json.decode(folder.read(MANIFEST))
        version = raw.get("version") if isinstance(raw, dict) else None
        if version != ANSWERS_VERSION:
            what = f"{named} of version {version}, and this memruler reads {ANSWERS_VERSION}"
            if isinstance(version, int) and version > ANSWERS_VERSION:
                raise NewerFormatError(what, where=where, hint="upgrade memruler")
            raise FormatError(what, where=where, hint=again)
        return msgspec.convert(raw, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"the manifest cannot be read: {error}", where=where, hint=again
        ) from error


def standing_below(
    folder: RunFolder, kind: type[_Manifest], *, named: str, again: str
) -> _Manifest | None:
    """The manifest that stands there; None where that is nothing, or damaged.

    Raises:
        NewerFormatError: A newer memruler wrote it.
    """
    try:
        if not folder.has(MANIFEST):
            return None
        return read_below(folder, kind, named=named, again=again)
    except NewerFormatError:
        raise
    except FormatError:  # its hint is to make it again, which must then be possible
        return None


def same_but_for_the_call(one: _Manifest, other: _Manifest) -> bool:
    """Whether two differ in nothing but when they were made, and who had paid for the replies."""
    left, right = (
        {key: value for key, value in fields.items() if key not in _OF_THE_CALL}
        for fields in (_plain(one), _plain(other))
    )
    return left == right


def write_below(folder: RunFolder, manifest: msgspec.Struct) -> None:
    """Write or replace the manifest in one step; from now on the folder counts."""
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    folder.write(MANIFEST, data + b"\n")


def _plain(manifest: msgspec.Struct) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(manifest)
    return found
