"""From scored rankings to a folder of files in one of the formats."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pyarrow as pa

from memruler.errors import UsageError
from memruler.exchange.bundle import write_bundle
from memruler.exchange.folder import new_folder
from memruler.exchange.mapping_table import mapping_table
from memruler.exchange.tables import item_names, scores_of, trace_table
from memruler.exchange.write import write_hits, write_jsonl, write_parquet, write_trec
from memruler.scoring.traced import Scored, Traced

__all__ = ["Form", "export", "unsaid"]

Form = Literal["trec", "jsonl", "hits", "parquet", "bundle"]

_WRITERS: dict[str, Callable[[Path, pa.Table, pa.Table], list[Path]]] = {
    "trec": write_trec,
    "jsonl": write_jsonl,
    "hits": write_hits,
    "parquet": write_parquet,
}


def export(scored: Scored, run: Path | None, form: Form, out: Path) -> list[str]:
    """Write a folder; it is there as a whole or not at all.

    Args:
        scored: Rankings with their targets; a bundle has the scores as well.
        run: The run folder that they are from; None for a file of another tool.
        form: Which format.
        out: A folder that does not exist, or is empty.

    Returns:
        The files in it.

    Raises:
        UsageError: Something stands there, or the format cannot hold a target.
        Refusal: A ranking has an item twice.
        InstrumentError: The disk failed.
    """
    traced = scored.traced
    if traced.unserved:
        name, reason = next(iter(traced.unserved.items()))
        served = ",".join(traced.supports)
        raise UsageError(
            f"the target {name} cannot be written: {reason}",
            where=traced.name,
            hint=f"--target {served}" if served else "give --lineage",
        )
    names = item_names(traced, run)
    trace = trace_table(traced, names)
    if form == "hits" and run is not None:
        trace = trace.append_column("scores", scores_of(run, trace))
    tables = trace, mapping_table(traced, names)
    with new_folder(out) as folder:
        if form == "bundle":
            write_bundle(folder, scored, *tables)
        else:
            _WRITERS[form](folder, *tables)
        return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def unsaid(traced: Traced, form: Form) -> str | None:
    """What a format cannot say about these rankings, in words; None where it says everything.

    A run of hits has no line for a query that was answered with nothing.
    """
    empty = int((traced.hits[traced.counts()] < 0).all(axis=1).sum())
    if not empty or form not in {"trec", "hits"}:
        return None
    return (
        f"{empty} queries were answered with nothing, which this format cannot say: read from it, "
        "they are absent and not misses; jsonl and parquet keep them"
    )
