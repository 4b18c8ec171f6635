"""Latency and throughput of a run: wall time, so never part of what must be identical."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memruler.model.summary import Timing
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["timing"]

_WORK = ("ingest_embedded", "ingest_cached", "search_embedded", "search_cached")
_INGEST = ["turns", "ingest_ms", "batched", *_WORK]


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


def timing(folder: RunFolder) -> Timing:
    """Summarise the wall times of a sealed run.

    Failed searches are left out: the time to an error is no latency. Percentiles are the linear
    ones of numpy.
    """
    trace = read_table(folder, "trace", columns=["error"])
    times = read_table(folder, "timings", columns=["latency_ms"])
    done = np.asarray(pc.is_null(trace.column("error")))
    values = np.asarray(times.column("latency_ms"))[done]
    ingest = read_table(folder, "ingest", columns=_INGEST)
    batched = bool(pc.any(ingest.column("batched")).as_py())
    seconds = float(np.sum(np.asarray(ingest.column("ingest_ms")))) / 1000
    turns = int(np.sum(np.asarray(ingest.column("turns"))))
    p50, p95 = (None, None) if batched or not len(values) else np.percentile(values, [50, 95])
    return Timing(
        mean_ms=float(np.mean(values)) if len(values) else None,
        p50_ms=None if p50 is None else float(p50),
        p95_ms=None if p95 is None else float(p95),
        queries=len(values),
        basis="; ".join([_basis(batched), *_vectors(ingest)]),
        ingest_turns_per_s=turns / seconds if seconds else None,
    )
