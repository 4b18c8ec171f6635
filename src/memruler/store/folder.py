"""The run folder: who may write to it, and what may be read from it."""

import re
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import msgspec

from memruler.errors import FormatError, UsageError, printable
from memruler.model.run import SCHEMA_VERSION, Manifest
from memruler.store.anchor import anchor, resolve
from memruler.store.faults import explained
from memruler.store.journal import Journal
from memruler.store.lock import LOCK, lock_folder
from memruler.store.migrate import migrate_manifest, require_readable
from memruler.store.safe import (
    TEMPORARY,
    atomic_file,
    make_dir,
    open_read,
    read_bytes,
    write_atomic,
)

if TYPE_CHECKING:  # reading a run needs no lock, and should not wait for it
    import filelock

__all__ = ["JOURNAL", "LOCK", "LOGS", "MANIFEST", "TABLES", "RunFolder", "check_stem"]

MANIFEST: Final = "manifest.json"
JOURNAL: Final = "journal.jsonl"
LOGS: Final = "logs"
"""Folder of what started servers printed; it outlives a run of which nothing counts."""

TABLES: Final = ("queries", "lineage", "trace", "timings", "ingest")
"""What a sealed run always has, each as `<name>.parquet`."""

_LONGEST_STEM = 120
# What Windows keeps for devices, with any extension: a run folder should travel.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_NAME_A_RUN = "name a folder that a run wrote, such as runs/<stem>"
_FORBIDDEN = frozenset('/\\<>:"|?*')


def check_stem(stem: str) -> None:
    """Refuse a name that is no plain folder name everywhere.

    Raises:
        UsageError: With the rule that it breaks.
    """
    rules = {
        "is empty": not stem,
        f"is longer than {_LONGEST_STEM} characters": len(stem) > _LONGEST_STEM,
        "begins with a dot": stem.startswith("."),
        "ends with a dot or a space": stem.endswith((".", " ")),
        "has a character that folder names cannot hold": bool(_FORBIDDEN & set(stem)),
        "has a character that cannot be printed": not stem.isprintable(),
        "is reserved on Windows": _RESERVED.fullmatch(stem) is not None,
    }
    for rule, broken in rules.items():
        if broken:
            raise UsageError(
                f"the stem {rule}", where=stem, hint="use letters, digits, `-`, `_` and `.`"
            )


def _require_outermost(path: Path, resolved: Path) -> None:
    """Refuse answers and grades, which have manifests of their own, and name their run."""
    if any((resolved / name).exists() for name in (JOURNAL, f"{TABLES[0]}.parquet")):
        return  # a run, whatever the folders around it are called
    for inner in (resolved, *resolved.parents[:2]):
        run = inner.parent.parent
        if inner.parent.name == "answers" and (run / MANIFEST).is_file():
            raise FormatError(
                "not a run folder: it is part of a run's answers",
                where=path,
                hint=f"name the run, {printable(run)}, and --answers {printable(inner.name)}",
            )


def _no_run(path: Path, resolved: Path) -> FormatError:
    """What a person named in place of a run folder."""
    what, hint = f"not a run folder: it has no {MANIFEST}", _NAME_A_RUN
    if resolved.is_file():
        what, hint = "not a run folder: it is a file", f"name its folder: {printable(path.parent)}"
    elif not resolved.exists():
        what, guess = "no such folder", Path("runs") / path
        if (guess / MANIFEST).is_file():
            hint = f"did you mean {printable(guess)}?"
    return FormatError(what, where=path, hint=hint)


class _Version(msgspec.Struct):
    schema_version: int


class RunFolder:
    """One run's folder, claimed for writing or opened for reading.

    Attributes:
        path: The folder, every link in its path resolved.
        version: Schema version of what is on disk.
    """

    def __init__(self, path: Path, lock: "filelock.BaseFileLock | None" = None) -> None:
        self.path = path
        self.version = SCHEMA_VERSION
        self._lock = lock

    @classmethod
    def claim(cls, root: Path, stem: str) -> Self:
        """Make or take up `root/stem` and lock it until `release` (or the end of a `with`).

        The operating system frees the lock when the process ends in any way.

        Args:
            root: Where run folders stand; made if missing.
            stem: Name of the run folder.

        Raises:
            UsageError: A bad stem, a folder of something else, or another process holds it.
            FormatError: The run in it is of a schema version that cannot be taken up.
            InstrumentError: The folder cannot be written to.
        """
        check_stem(stem)
        path = resolve(root) / stem
        make_dir(path, resolved=True)
        folder = cls(path)
        folder._require_ours()
        folder._lock = lock_folder(
            path, named="the run folder", busy="writing to this run folder", option="--stem"
        )
        try:
            folder.sweep()
            folder.manifest()
        except BaseException:
            folder.release()
            raise
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a finished run for reading; nothing in it is locked or changed.

        Raises:
            FormatError: It is no run folder, of another schema version, not sealed, or a table
                is missing.
        """
        folder = cls(resolve(path))
        _require_outermost(path, folder.path)
        manifest = folder.manifest() if folder.path.is_dir() else None
        if manifest is None:
            raise _no_run(path, folder.path)
        if manifest.state != "sealed":
            raise FormatError(
                "the run is not finished", where=path, hint="resume it with the same command"
            )
        for table in TABLES:
            if not folder.has(f"{table}.parquet"):
                raise FormatError(
                    f"the run folder lacks {table}.parquet", where=path, hint="measure it anew"
                )
        return folder

    def _require_ours(self) -> None:
        with explained("list the folder", self.path):
            names = {entry.name for entry in self.path.iterdir()}
        foreign = {name for name in names - {LOCK, LOGS} if not name.startswith(TEMPORARY)}
        if foreign and not names & {MANIFEST, JOURNAL}:
            raise UsageError(
                "the folder is not empty and holds no run",
                where=self.path,
                hint="choose another --stem",
            )

    def sweep(self) -> None:
        """Remove temporary files that a kill left behind; under the lock nobody else's are here."""
        for left in self.path.glob(f"{TEMPORARY}*.tmp"):
            self.remove(left.name)

    def manifest(self) -> Manifest | None:
        """The manifest, in today's schema; None where there is none yet.

        Raises:
            FormatError: It is damaged, or of a schema version that cannot be read.
        """
        if not self.has(MANIFEST):
            return None
        data, where = self.read(MANIFEST), self.path / MANIFEST
        try:
            self.version = msgspec.json.decode(data, type=_Version).schema_version
            require_readable(self.version, where)
            if self.version == SCHEMA_VERSION:
                return msgspec.json.decode(data, type=Manifest)
            raw = migrate_manifest(msgspec.json.decode(data), self.version)
            return msgspec.convert(raw, Manifest)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise FormatError(
                f"the manifest cannot be read: {error}", where=where, hint="measure it anew"
            ) from error

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest in one step.

        Raises:
            InstrumentError: The disk failed; the manifest from before is unchanged.
        """
        data = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        self.write(MANIFEST, data + b"\n")
        self.version = manifest.schema_version

    def journal(self) -> Journal:
        """Open the journal, cutting off what a kill left unfinished; see `Journal.open`."""
        return Journal.open(self.path / JOURNAL, resolved=True)

    def write(self, name: str, data: bytes) -> None:
        """Write or replace the file `name` in one step; see `safe.write_atomic`."""
        write_atomic(self.path / name, data, resolved=True)

    def read(self, name: str) -> bytes:
        """The file `name`; see `safe.open_read`."""
        return read_bytes(self.path / name, resolved=True)

    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write the file `name` as a stream; see `safe.atomic_file`."""
        return atomic_file(self.path / name, resolved=True)

    def source(self, name: str) -> BinaryIO:
        """Open the file `name` for reading; see `safe.open_read`."""
        return open_read(self.path / name, resolved=True)

    def has(self, name: str) -> bool:
        """Whether something stands at `name` (a dangling link does)."""
        with anchor(self.path / name, resolved=True) as place:
            return place.stat() is not None

    def remove(self, name: str) -> None:
        """Remove the file `name`; that it is gone already is no error."""
        with (
            anchor(self.path / name, resolved=True) as place,
            explained("remove the file", self.path / name),
        ):
            place.unlink()
            place.sync()

    def discard(self) -> None:
        """Take a run back of which nothing counts yet: the folder goes with it, if it is empty.

        Only under the lock; a process that waited for it finds its file gone and starts anew.
        """
        for name in (MANIFEST, JOURNAL, LOCK):
            self.remove(name)
        self.release()
        with suppress(OSError):  # it holds something else, or somebody took it up again
            self.path.rmdir()

    def release(self) -> None:
        """Give up the lock; the file stays, since removing it would race with the next claim."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
