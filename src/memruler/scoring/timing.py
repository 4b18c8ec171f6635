"""Latency and throughput of a run: wall time, so never part of what must be identical."""

import numpy as np
import pyarrow.compute as pc

from memruler.model.summary import Timing
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["timing"]


def timing(folder: RunFolder) -> Timing:
    """Summarise the wall times of a sealed run.

    Failed searches are left out: the time to an error is no latency. Percentiles are the linear
    ones of numpy.
    """
    trace = read_table(folder, "trace", columns=["error"])
    times = read_table(folder, "timings", columns=["latency_ms"])
    done = np.asarray(pc.is_null(trace.column("error")))
    values = np.asarray(times.column("latency_ms"))[done]
    ingest = read_table(folder, "ingest", columns=["turns", "ingest_ms", "batched"])
    batched = bool(pc.any(ingest.column("batched")).as_py())
    seconds = float(np.sum(np.asarray(ingest.column("ingest_ms")))) / 1000
    turns = int(np.sum(np.asarray(ingest.column("turns"))))
    p50, p95 = (None, None) if batched or not len(values) else np.percentile(values, [50, 95])
    return Timing(
        mean_ms=float(np.mean(values)) if len(values) else None,
        p50_ms=None if p50 is None else float(p50),
        p95_ms=None if p95 is None else float(p95),
        queries=len(values),
        basis=(
            "share of a batch of known queries; --one-by-one times each search"
            if batched
            else "each search by itself, one after the other"
        ),
        ingest_turns_per_s=turns / seconds if seconds else None,
    )
