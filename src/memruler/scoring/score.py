"""Scores a sealed run: attribution, metrics at every level and cut-off, and their summary.

Reads only the run folder and writes `scores.parquet` and `summary.json` back. The same folder
gives the same bytes.
"""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from memruler.errors import Refusal
from memruler.metrics.names import METRICS
from memruler.model.summary import Level, Summary
from memruler.scoring.context import context_size
from memruler.scoring.levels import LevelScores, counted, exclusions, score_level
from memruler.scoring.load import RunArrays, load
from memruler.scoring.losses import store_counts
from memruler.scoring.summarise import summarise
from memruler.store.binding import file_sha256
from memruler.store.folder import RunFolder
from memruler.store.tables import write_table

__all__ = ["score"]

_TARGET = "raw"


def _table(run: RunArrays, levels: list[LevelScores]) -> pa.Table:
    """One row per query and level; a metric is null exactly where it does not count."""
    metrics = [name for name, metric in METRICS.items() if metric.kind == "per-query"]
    parts: list[pa.Table] = []
    for scores in levels:
        columns: dict[str, Any] = {
            "instance": pa.array(run.instance, pa.int32()),
            "query": pa.array(run.query, pa.int32()),
            "category": pa.array(run.category.tolist(), pa.string()),
            "level": pa.array([scores.level] * len(run.query), pa.string()),
            "observed": pa.array(scores.observed, pa.int32()),
            "gold": pa.array(scores.gold, pa.int32()),
            "excluded": pa.array(scores.excluded.tolist(), pa.string()),
        }
        for k in scores.matrix.cutoffs:
            for name in metrics:
                values = scores.matrix.values(name, k)
                columns[f"{name}@{k}"] = pa.array(
                    values.data, pa.float64(), mask=np.ma.getmaskarray(values)
                )
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def score(folder: RunFolder, cutoffs: tuple[int, ...]) -> Summary:
    """Score a sealed run and write its scores and summary.

    Args:
        folder: A claimed, sealed run folder.
        cutoffs: Ascending, distinct, at least 1.

    Raises:
        Refusal: Not one query counts, or not one hit names its source.
        FormatError: The folder's tables do not fit together.
    """
    run = load(folder, _TARGET)
    turnless = run.manifest.fingerprint["ingest"]["granularity"] == "session"
    names: tuple[Level, ...] = ("session",) if turnless else ("session", "turn")
    levels = [score_level(run, level, cutoffs) for level in names]
    excluded = exclusions(run)
    measured = counted(excluded)
    if not measured.any():
        found, number = np.unique(excluded.astype(str), return_counts=True)
        raise Refusal(
            [f"{n} queries: {reason}" for reason, n in zip(found, number, strict=True)],
            where=folder.path,
            hint="nothing is left to score; see the reasons",
        )
    if all(scores.blind and not scores.transformed for scores in levels):
        raise Refusal(
            [f"none of {levels[0].unattributed} hits names the turn or session it came from"],
            where=folder.path,
            hint="give each hit its `sources`: the keys of the turns it was made from; or tell "
            "it in a file: memruler score RUN --lineage FILE",
        )
    write_table(folder, "scores", _table(run, levels))
    summary = summarise(
        run,
        levels,
        tables={
            **{name: run.manifest.tables[name] for name in ("queries", "lineage", "trace")},
            "scores": file_sha256(folder, "scores.parquet"),
        },
        target=_TARGET,
        store=store_counts(folder, run, measured, levels[-1].level),
        context=context_size(folder, run, measured),
        turnless=turnless,
    )
    folder.write("summary.json", msgspec.json.format(msgspec.json.encode(summary), indent=1))
    return summary
