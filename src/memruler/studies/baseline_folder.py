"""The folder of a baseline: what of a run is kept in a repository, under checksums.

It holds the manifest without what the person typed, the summary, every query's scores, and a
digest of each question in place of its text: a data set whose licence forbids copies leaves none.
"""

import hashlib
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa

from memruler.compare.load import LoadedRun, QueryKey, QueryText, read_scores
from memruler.errors import ChecksumError, FormatError, UsageError, printable
from memruler.model.run import SCHEMA_VERSION as RUN_VERSION
from memruler.model.run import Manifest
from memruler.model.summary import Summary
from memruler.store.anchor import resolve
from memruler.store.folder import RunFolder
from memruler.store.migrate import migrate_manifest, require_readable
from memruler.store.safe import make_dir, read_bytes, write_atomic
from memruler.store.tables import read_table, write_table

__all__ = [
    "BASELINE",
    "FILES",
    "SCHEMA_VERSION",
    "SUMS",
    "exists",
    "install",
    "read_baseline",
    "replaced_by",
    "sums_digest",
    "verified",
    "write_baseline",
]

SCHEMA_VERSION = 1
"""Version of the folder's format; raised with every change that an old reader would misread."""

BASELINE: Final = "baseline.json"
SUMS: Final = "SHA256SUMS"
FILES: Final = (BASELINE, "questions.parquet", "scores.parquet", "summary.json")
"""What a baseline always has, beside `SUMS`, which `sha256sum --check` reads too."""

_TELLING = (BASELINE, FILES[1], SUMS)
"""A run folder has files of the other names too."""

_ABSENT = "(the baseline has another text, of which it keeps only the digest)"
_DIGEST_BYTES = 8
_RESTORE = "take the folder back from version control, or remove it and begin anew"
_COLUMNS: dict[str, pa.DataType] = {
    "instance": pa.int32(),
    "instance_key": pa.string(),
    "query": pa.int32(),
    "id": pa.string(),
    "category": pa.string(),
    "text_sha256": pa.binary(_DIGEST_BYTES),
}
_SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in _COLUMNS.items()])


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    """What `baseline.json` holds; `replaces` is the baseline that it was proposed against."""

    schema_version: int
    replaces: str | None
    manifest: dict[str, Any]


def exists(path: Path) -> bool:
    """Whether a baseline, or a part of one, stands in a folder; a run folder is none."""
    return any((path / name).exists() for name in _TELLING)


def write_baseline(run: Path, out: Path, *, replaces: str | None) -> None:
    """Write what of a finished run is kept.

    The same run gives the same bytes.

    Args:
        run: Its folder, loaded and found sound before.
        out: The folder to write into; made if missing.
        replaces: `sums_digest` of the baseline it is to replace; None for the first.

    Raises:
        FormatError: The run was not scored.
        InstrumentError: The disk failed.
    """
    source = RunFolder.open(run)
    manifest = source.manifest()
    if manifest is None:
        raise FormatError("this run was not scored", where=run, hint="measure it anew")
    # What was typed names files of a machine; what is in force stands in the fingerprint.
    kept = msgspec.structs.replace(manifest, chosen={}, defaulted={})
    make_dir(out)
    folder = RunFolder(resolve(out))
    write_table(folder, "questions", _questions(source))
    folder.write("scores.parquet", source.read("scores.parquet"))
    folder.write("summary.json", source.read("summary.json"))
    header = _Header(
        schema_version=SCHEMA_VERSION, replaces=replaces, manifest=msgspec.to_builtins(kept)
    )
    folder.write(BASELINE, msgspec.json.format(msgspec.json.encode(header), indent=2) + b"\n")
    lines = (f"{_sha256(folder.read(name))}  {name}\n" for name in FILES)
    folder.write(SUMS, "".join(lines).encode())


def verified(path: Path) -> dict[str, bytes]:
    """The files of a baseline by name, each held against its checksum; `SUMS` is among them.

    Raises:
        UsageError: There is no baseline.
        ChecksumError: A file is missing, or its bytes are not those that were accepted.
    """
    if not exists(path):
        raise UsageError(
            "there is no baseline here",
            where=path,
            hint="memruler baseline propose RUN, then memruler baseline accept",
        )
    place = resolve(path)
    missing = [name for name in (SUMS, *FILES) if not (place / name).exists()]
    if missing:
        raise ChecksumError(f"the baseline lacks {', '.join(missing)}", where=path, hint=_RESTORE)
    found = {name: read_bytes(place / name, resolved=True) for name in (*FILES, SUMS)}
    wanted = "".join(f"{_sha256(found[name])}  {name}\n" for name in FILES)
    # A checkout on Windows may end lines otherwise.
    listed = found[SUMS].replace(b"\r\n", b"\n")
    if listed != wanted.encode():
        lines = set(listed.decode(errors="replace").splitlines())
        bad = [line.partition("  ")[2] for line in wanted.splitlines() if line not in lines]
        what = ", ".join(bad) or SUMS
        raise ChecksumError(
            f"the baseline was changed by hand or damaged: {printable(what)} does not fit {SUMS}",
            where=path,
            hint=_RESTORE,
        )
    return found


def sums_digest(files: dict[str, bytes]) -> str:
    """What a baseline is known by: the SHA-256 of its list of checksums, as hex."""
    return _sha256(files[SUMS].replace(b"\r\n", b"\n"))


def replaced_by(files: dict[str, bytes], path: Path) -> str | None:
    """The `sums_digest` of the baseline that this one was proposed to replace.

    Raises:
        FormatError: Its header cannot be read.
    """
    return _header(files, path).replaces


def read_baseline(path: Path, files: dict[str, bytes], like: LoadedRun | None = None) -> LoadedRun:
    """A baseline as a comparison needs it.

    Args:
        path: Its folder.
        files: What `verified` gave.
        like: The run it is held against: where a question's digest fits, its text is taken from
            there. None leaves every text out.

    Raises:
        FormatError: It is of a version that cannot be read, or its files disagree.
    """
    manifest = _manifest(_header(files, path), path)
    try:
        summary = msgspec.json.decode(files["summary.json"], type=Summary)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(
            f"the baseline's summary cannot be read: {error}", where=path, hint="propose it anew"
        ) from error
    if summary.tables.get("scores") != _sha256(files["scores.parquet"]):
        raise FormatError(
            "the baseline's scores are not those of its summary", where=path, hint=_RESTORE
        )
    folder = RunFolder(resolve(path))
    rows = read_table(folder, "questions").to_pylist()
    keys = {
        (row["instance"], row["query"]): QueryKey(row["instance_key"], row["query"]) for row in rows
    }
    queries = {
        keys[row["instance"], row["query"]]: QueryText(row["id"], _text(row, like), row["category"])
        for row in rows
    }
    if len(queries) != len(rows):
        raise FormatError("the baseline names a query twice", where=path, hint=_RESTORE)
    return LoadedRun(
        name=manifest.stem,
        manifest=manifest,
        summary=summary,
        queries=queries,
        scores=read_scores(folder, keys),
    )


def install(files: dict[str, bytes], path: Path) -> None:
    """Put the files of a proposal into place; the checksums last, so that half of it is seen.

    Raises:
        UsageError, InstrumentError: The folder cannot be written to.
    """
    make_dir(path)
    place = resolve(path)
    for name in (*FILES, SUMS):
        write_atomic(place / name, files[name], resolved=True)


def _header(files: dict[str, bytes], path: Path) -> _Header:
    try:
        header = msgspec.json.decode(files[BASELINE], type=_Header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(
            f"{BASELINE} cannot be read: {error}", where=path, hint=_RESTORE
        ) from error
    if header.schema_version > SCHEMA_VERSION:
        raise FormatError(
            f"the baseline has schema version {header.schema_version}, this memruler reads up to "
            f"{SCHEMA_VERSION}",
            where=path,
            hint="update memruler",
        )
    return header


def _manifest(header: _Header, path: Path) -> Manifest:
    raw = header.manifest
    try:
        version = int(raw["schema_version"])
        require_readable(version, path)
        plain = raw if version == RUN_VERSION else migrate_manifest(raw, version)
        return msgspec.convert(plain, Manifest)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"the manifest in {BASELINE} cannot be read: {error}", where=path, hint=_RESTORE
        ) from error


def _questions(source: RunFolder) -> pa.Table:
    names = ["instance", "instance_key", "query", "id", "category", "text"]
    rows = read_table(source, "queries", columns=names).to_pylist()
    return pa.Table.from_pylist(
        [{**row, "text_sha256": _text_digest(row["text"])} for row in rows], _SCHEMA
    )


def _text(row: dict[str, Any], like: LoadedRun | None) -> str:
    other = like.queries.get(QueryKey(row["instance_key"], row["query"])) if like else None
    if other is not None and _text_digest(other.text) == row["text_sha256"]:
        return other.text
    return _ABSENT


def _text_digest(text: str) -> bytes:
    # A lone surrogate can stand in a question of a JSON file.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_DIGEST_BYTES]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
