"""Checks a bundle that somebody else made: its checksums, its scores and its fixtures."""

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from memruler.errors import CorpusError, FormatError, MemrulerError
from memruler.exchange.bundle import CASES, SCORES, SUMMARY, TARGETS, TRACE, encoded, rescored
from memruler.exchange.bundle_record import (
    MANIFEST,
    SCHEMA_VERSION,
    BundleFile,
    BundleManifest,
    Check,
    Fixture,
    Verification,
)
from memruler.exchange.fixtures import value_of
from memruler.exchange.read import ABSENT
from memruler.exchange.summary import summary_of
from memruler.scoring.per_query import per_query
from memruler.scoring.traced import Scored
from memruler.store.anchor import resolve
from memruler.store.safe import open_read, read_bytes

__all__ = ["verify"]

_LARGEST = 16 << 20  # of a JSON file
_CHUNK = 1 << 20
_NEEDED = (TRACE, TARGETS, SCORES, SUMMARY, CASES)


class _Version(msgspec.Struct):
    schema_version: int


def verify(folder: Path) -> Verification:
    """Check a bundle; nothing in it is changed.

    Args:
        folder: The unpacked bundle.

    Raises:
        FormatError: It is no bundle, a newer one, or names files outside of it.
    """
    root = resolve(folder)
    manifest = _manifest(root, folder)
    checks = [_checksums(root, manifest), _listed(root, manifest)]
    if checks[0].passed:
        checks += _values(root, manifest)
    else:
        # What was tampered with is not parsed.
        checks += [
            Check(name=name, passed=None, what="the checksums are wrong")
            for name in ("scores", "summary", "manifest", "fixtures")
        ]
    return Verification(
        bundle=root.name,
        name=manifest.name,
        passed=all(check.passed for check in checks),
        checks=tuple(checks),
    )


def _manifest(root: Path, shown: Path) -> BundleManifest:
    path = root / MANIFEST
    if not path.is_file():
        raise FormatError(
            f"not a bundle: it has no {MANIFEST}",
            where=shown,
            hint="name the folder that `memruler export --format bundle` wrote",
        )
    data = _small(path)
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise FormatError(
                f"the bundle has schema version {version}, this memruler knows {SCHEMA_VERSION}",
                where=shown,
                hint="use a newer memruler",
            )
        manifest = msgspec.json.decode(data, type=BundleManifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"the manifest cannot be read: {error}", where=path, hint="fetch the bundle again"
        ) from None
    for file in manifest.files:
        if not _inside(file.path):
            raise FormatError(
                f"the manifest names a file outside of the bundle: {file.path}",
                where=path,
                hint="do not trust this bundle",
            )
    if not manifest.targets:
        raise FormatError("the manifest names no target", where=path, hint="ask whoever made it")
    lacking = sorted(set(_NEEDED) - {file.path for file in manifest.files})
    if lacking:
        raise FormatError(
            f"the manifest lacks {lacking[0]}", where=path, hint="fetch the bundle again"
        )
    return manifest


def _small(path: Path) -> bytes:
    if path.stat().st_size > _LARGEST:
        raise FormatError(
            f"the file has more than {_LARGEST >> 20} MB", where=path, hint="it is no such file"
        )
    return read_bytes(path)


def _inside(name: str) -> bool:
    """Whether a path is a plain one below the folder, on every operating system."""
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and not PurePosixPath(name).is_absolute()
        and not PureWindowsPath(name).drive
        and not set(name) & set("\\\0:")
        and ".." not in parts
        and str(PurePosixPath(name)) == name
    )


def _checksums(root: Path, manifest: BundleManifest) -> Check:
    wrong = [file.path for file in manifest.files if not _sound(root, file)]
    if wrong:
        what = f"{len(wrong)} of {len(manifest.files)} files are not what they were: "
        return Check(name="checksums", passed=False, what=what + ", ".join(wrong))
    return Check(name="checksums", passed=True, what=f"{len(manifest.files)} files")


def _sound(root: Path, file: BundleFile) -> bool:
    """Whether the file is there, is no link on any part of its way, and has its checksum."""
    digest, size = hashlib.sha256(), 0
    try:
        with open_read(root / file.path, resolved=True) as handle:
            while chunk := handle.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except MemrulerError:
        return False
    return (digest.hexdigest(), size) == (file.sha256, file.bytes)


def _listed(root: Path, manifest: BundleManifest) -> Check:
    known = {MANIFEST, *(file.path for file in manifest.files)}
    there = {
        p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_symlink() or p.is_file()
    }
    more = sorted(there - known)
    if more:
        return Check(
            name="files", passed=False, what="not in the manifest: " + ", ".join(more[:10])
        )
    return Check(name="files", passed=True, what="nothing else is in the folder")


def _values(root: Path, manifest: BundleManifest) -> Iterator[Check]:
    try:
        scored = rescored(
            root,
            name=manifest.name,
            targets=manifest.targets,
            cutoffs=manifest.cutoffs,
            rule=manifest.rule,
            level=manifest.level,
        )
    except (MemrulerError, ValueError) as error:
        yield Check(name="scores", passed=False, what=f"cannot be scored: {error}")
    else:
        yield _scores(root, scored)
        same = _small(root / SUMMARY) == encoded(summary_of(scored))
        what = "the means are the same" if same else "the means differ"
        yield Check(name="summary", passed=same, what=what)
        yield _described(manifest, scored)
    yield _fixtures(root)


def _described(manifest: BundleManifest, scored: Scored) -> Check:
    """Whether the manifest counts what is there."""
    traced = scored.traced
    absent = sum(notice.count for notice in traced.notices if notice.kind == ABSENT)
    there = {
        "queries": len(traced.reason),
        "rankings": len(traced.reason) - absent,
        "anchored": traced.anchored,
        "rule": scored.rule,
    }
    wrong = [name for name, value in there.items() if getattr(manifest, name) != value]
    what = f"not as described: {', '.join(wrong)}" if wrong else "describes what is there"
    return Check(name="manifest", passed=not wrong, what=what)


def _scores(root: Path, scored: Scored) -> Check:
    now = per_query(scored)
    try:
        with open_read(root / SCORES) as file:
            then = pq.read_table(file, use_threads=False, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        return Check(name="scores", passed=False, what=f"the scores cannot be read: {error}")
    if then.schema.names != now.schema.names or then.num_rows != now.num_rows:
        return Check(name="scores", passed=False, what="other columns or queries than scored here")
    wrong = [name for name in now.schema.names if not _equal(then.column(name), now.column(name))]
    values = sum(
        len(column) - column.null_count
        for name, column in zip(now.schema.names, now.columns, strict=True)
        if "@" in name or name == "top1"
    )
    if wrong:
        return Check(name="scores", passed=False, what="values differ in " + ", ".join(wrong))
    return Check(name="scores", passed=True, what=f"{values:,} values are the same bit for bit")


def _equal(one: Any, other: Any) -> bool:
    if one.type != other.type:
        return False
    if pa.types.is_floating(one.type):
        mine, theirs = (
            np.asarray(part.fill_null(0.0), np.float64).view(np.int64) for part in (one, other)
        )
        return bool(one.is_null().equals(other.is_null()) and np.array_equal(mine, theirs))
    return bool(one.equals(other))


def _fixtures(root: Path) -> Check:
    try:
        cases = msgspec.json.decode(_small(root / CASES), type=tuple[Fixture, ...])
        wrong = [case.name for case in cases if not _holds(case)]
    except (msgspec.MsgspecError, UnicodeDecodeError, CorpusError, ValueError) as error:
        return Check(name="fixtures", passed=False, what=f"cannot be worked out: {error}")
    if not cases or not all(case.expected for case in cases):
        return Check(name="fixtures", passed=False, what="there are none, or some without a value")
    if wrong:
        return Check(name="fixtures", passed=False, what="other values: " + "; ".join(wrong))
    return Check(name="fixtures", passed=True, what=f"{len(cases)} cases")


def _holds(case: Fixture) -> bool:
    credit = value_of(case)
    return all(getattr(credit, metric, None) == value for metric, value in case.expected.items())
