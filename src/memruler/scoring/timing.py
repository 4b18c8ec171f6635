"""Latency and throughput of a run: wall time, so never part of what must be identical."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.model.summary import Timing
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["Latencies", "Searches", "latencies", "searches", "timing"]

_WORK = ("ingest_embedded", "ingest_cached", "search_embedded", "search_cached")
_INGEST = ["turns", "ingest_ms", "batched", *_WORK]


class Searches(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Every search of a run, in the order of the trace, each array [n].

    Attributes:
        instances, queries: Position of its instance, and of its query in it.
        values: Milliseconds.
        failed: Whether it ended in an error.
        first: Whether it is the first of its category; nowhere where there were batches.
        batches: As in `Latencies`.
    """

    instances: NDArray[np.int64]
    queries: NDArray[np.int64]
    values: NDArray[np.float64]
    failed: NDArray[np.bool_]
    first: NDArray[np.bool_]
    batches: int


class Latencies(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Wall times of searches.

    Attributes:
        values: Milliseconds, in the order of the trace [n].
        warmup: Searches without error that were left out as the first of their category.
        batches: Instances whose queries were searched in one go; 0 where each was timed by itself.
    """

    values: NDArray[np.float64]
    warmup: int
    batches: int


def _basis(batched: bool) -> str:
    if batched:
        return "share of a batch of known queries; --one-by-one times each search"
    return "each search by itself, one after the other"


def _vectors(ingest: pa.Table) -> list[str]:
    """Where the vectors came from: a cached one costs no embedding, so it must be said."""
    sums = [pc.sum(ingest.column(name)).as_py() for name in _WORK]
    if any(total is None for total in sums) or not any(sums):
        return []
    written, kept, asked, known = sums
    sentence = (
        f"embedded {written:,} texts while writing ({kept:,} from the cache) "
        f"and {asked:,} while searching ({known:,} from the cache)"
    )
    return [sentence]


def latencies(folder: RunFolder) -> Latencies:
    """The wall times that count: of searches without error, and past the warm-up.

    The first search of each category fills caches and compiles statements for those that follow,
    so it is no sample of them, and is left out. A search that failed is left out too: the time to
    an error is no latency. Where queries were searched in batches there is no first one, and each
    value is a share of its batch.
    """
    found = searches(folder)
    return Latencies(
        values=found.values[~found.failed & ~found.first],
        warmup=int((~found.failed & found.first).sum()),
        batches=found.batches,
    )


def searches(folder: RunFolder) -> Searches:
    """Every search, also those that do not count."""
    trace = read_table(folder, "trace", columns=["instance", "query", "error"])
    times = read_table(folder, "timings", columns=["latency_ms"])
    batches = int(pc.sum(read_table(folder, "ingest", ["batched"]).column("batched")).as_py() or 0)
    first = np.zeros(len(trace), dtype=np.bool_)
    if not batches and len(trace):
        first[_first_of_each(_categories(folder, trace))] = True
    return Searches(
        instances=np.asarray(trace.column("instance"), dtype=np.int64),
        queries=np.asarray(trace.column("query"), dtype=np.int64),
        values=np.asarray(times.column("latency_ms"), dtype=np.float64),
        failed=~np.array(pc.is_null(trace.column("error"))),
        first=first,
        batches=batches,
    )


def _categories(folder: RunFolder, trace: pa.Table) -> "pa.ChunkedArray[Any]":
    """Category of each search, in the order of the trace."""
    queries = read_table(folder, "queries", columns=["instance", "query", "category"])
    asked = trace.select(["instance", "query"]).append_column("at", pa.array(np.arange(len(trace))))
    return asked.join(queries, ["instance", "query"]).sort_by("at").column("category")


def _first_of_each(names: "pa.ChunkedArray[Any]") -> NDArray[np.int64]:
    """Place of the first of every distinct value."""
    codes = names.combine_chunks().dictionary_encode(null_encoding="encode").indices
    _, places = np.unique(np.asarray(codes), return_index=True)
    return places


def timing(folder: RunFolder) -> Timing:
    """Summarise the wall times of a sealed run; see `latencies` for what counts.

    Percentiles are the linear ones of numpy.
    """
    found = latencies(folder)
    ingest = read_table(folder, "ingest", columns=_INGEST)
    seconds = float(np.sum(np.asarray(ingest.column("ingest_ms")))) / 1000
    turns = int(np.sum(np.asarray(ingest.column("turns"))))
    values, batched = found.values, found.batches > 0
    p50, p95 = (None, None) if batched or not len(values) else np.percentile(values, [50, 95])
    return Timing(
        mean_ms=float(np.mean(values)) if len(values) else None,
        p50_ms=None if p50 is None else float(p50),
        p95_ms=None if p95 is None else float(p95),
        queries=len(values),
        warmup=found.warmup,
        basis="; ".join([_basis(batched), *_warmup(found.warmup), *_vectors(ingest)]),
        ingest_turns_per_s=turns / seconds if seconds else None,
    )


def _warmup(count: int) -> list[str]:
    return [f"the first of each category left out as warm-up: {count}"] if count else []
