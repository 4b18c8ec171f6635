"""Writes rankings and targets as JSON Lines, Parquet or TREC files, each whole or not at all."""

import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from memruler.errors import UsageError
from memruler.exchange.mapping import IDS
from memruler.store.safe import atomic_file, make_dir

__all__ = ["escaped", "unescaped", "write_hits", "write_jsonl", "write_parquet", "write_trec"]

_ROWS = 1024
_PACK = 6
_TAG = "memruler"
_UNSAFE = re.compile(r"[\s%]")


def write_jsonl(folder: Path, trace: pa.Table, mapping: pa.Table) -> list[Path]:
    """Write `trace.jsonl.gz`, a ranked list a line, and `targets.jsonl.gz`.

    The same rows give the same bytes.

    Raises:
        UsageError: The files cannot be put there.
        InstrumentError: The disk failed.
    """
    kept = [name for name in trace.schema.names if name != "scores"]
    return _packed(folder, _lines(trace.select(kept)), _lines(mapping))


def write_hits(folder: Path, trace: pa.Table, mapping: pa.Table) -> list[Path]:
    """Write `trace.jsonl.gz`, one hit a line, and `targets.jsonl.gz`.

    A query that was answered with nothing has no line. The same rows give the same bytes.

    Raises:
        UsageError: The files cannot be put there.
        InstrumentError: The disk failed.
    """
    return _packed(folder, _hits(trace), _lines(mapping))


def _packed(folder: Path, trace: Iterator[bytes], mapping: Iterator[bytes]) -> list[Path]:
    paths = [folder / "trace.jsonl.gz", folder / "targets.jsonl.gz"]
    make_dir(folder)
    for path, lines in zip(paths, (trace, mapping), strict=True):
        with (
            atomic_file(path) as file,
            gzip.GzipFile("", "wb", _PACK, file, mtime=0) as packed,
        ):
            for line in lines:
                packed.write(line)
    return paths


def _hits(trace: pa.Table) -> Iterator[bytes]:
    for batch in trace.to_batches(_ROWS):
        for row in batch.to_pylist():
            same = {name: row[name] for name in ("category", "cluster") if row[name] is not None}
            scores = row.get("scores") or [None] * len(row["ranked"])
            for rank, (item, score) in enumerate(zip(row["ranked"], scores, strict=True), start=1):
                hit = {"query_id": row["query_id"], "retrieved_id": item, "rank": rank}
                told = {} if score is None else {"score": score}
                yield msgspec.json.encode({**hit, **told, **same}) + b"\n"


def _lines(table: pa.Table) -> Iterator[bytes]:
    for batch in table.to_batches(_ROWS):
        for row in batch.to_pylist(maps_as_pydicts="strict"):
            plain = {name: _plain(value) for name, value in row.items() if value is not None}
            yield msgspec.json.encode(plain) + b"\n"


def _plain(value: Any) -> Any:
    """A value without the empty parts of groups that JSON leaves out."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [
            {key: one for key, one in group.items() if one or key not in {"grades", "sets"}}
            for group in value
        ]
    return value


def write_parquet(folder: Path, trace: pa.Table, mapping: pa.Table) -> list[Path]:
    """Write `trace.parquet` and `targets.parquet`.

    Raises:
        UsageError: The files cannot be put there.
        InstrumentError: The disk failed.
    """
    paths = [folder / "trace.parquet", folder / "targets.parquet"]
    make_dir(folder)
    kept = [name for name in trace.schema.names if name != "scores"]
    for path, table in zip(paths, (trace.select(kept), mapping), strict=True):
        with atomic_file(path) as file:
            pq.write_table(table, file, compression="zstd", row_group_size=16_384)
    return paths


def write_trec(folder: Path, trace: pa.Table, mapping: pa.Table) -> list[Path]:
    """Write `run.trec`, and for each target `qrels.<target>.trec` with its items as grade 1.

    Scores are the ranks below zero, so that programs that sort by score keep the order. Names get
    `%20` for a space, and `%25` for a percent sign.

    Raises:
        UsageError: Targets have grades or sets, which qrels cannot hold; or the files cannot be put
            there.
        InstrumentError: The disk failed.
    """
    inside = (
        mapping.schema.field("groups").type.value_type if "groups" in mapping.schema.names else ()
    )
    for field in inside:
        if field.name in {"grades", "sets"}:
            raise UsageError(
                f"qrels cannot hold {field.name}: a grade there is a whole number, and each item "
                "stands alone",
                hint="choose --format jsonl or parquet",
            )
    make_dir(folder)
    written: dict[Path, Callable[[BinaryIO], None]] = {
        folder / "run.trec": lambda file: _write_run(file, trace)
    }
    for name in mapping.schema.names:
        if name.endswith(IDS):
            target = re.sub(r"[^A-Za-z0-9._-]", "-", name.removesuffix(IDS))
            written[folder / f"qrels.{target}.trec"] = _qrels(mapping, name)
    for path, write in written.items():
        with atomic_file(path) as file:
            write(file)
    return list(written)


def _write_run(file: BinaryIO, trace: pa.Table) -> None:
    for batch in trace.select(["query_id", "ranked"]).to_batches(_ROWS):
        text = io.StringIO()
        for query, ranked in zip(*batch.to_pydict().values(), strict=True):
            head = escaped(query)
            for rank, item in enumerate(ranked, 1):
                text.write(f"{head} Q0 {escaped(item)} {rank} {-rank} {_TAG}\n")
        file.write(text.getvalue().encode())


def _qrels(mapping: pa.Table, column: str) -> Callable[[BinaryIO], None]:
    def write(file: BinaryIO) -> None:
        for batch in mapping.select(["query_id", column]).to_batches(_ROWS):
            for query, items in zip(*batch.to_pydict().values(), strict=True):
                head = escaped(query)
                file.writelines(f"{head} 0 {escaped(item)} 1\n".encode() for item in items)

    return write


def escaped(name: str) -> str:
    """A name without white space: that and the percent sign as percent and hexadecimal digits."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), name)


def unescaped(name: str) -> str:
    """What `escaped` was given."""
    return re.sub(
        r"(?:%[0-9A-F]{2})+",
        lambda found: bytes.fromhex(found.group().replace("%", "")).decode(),
        name,
    )
