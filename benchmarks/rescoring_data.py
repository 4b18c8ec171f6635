"""Makes what `rescoring.py` scores: a sealed run, and the same rankings as jsonl.gz.

    python rescoring_data.py FOLDER QUERIES

Conversations of 500 turns with 200 queries each. A turn is stored as it is and in up to three
derived forms, and a fifth of the turns has none. A query has 1 to 8 gold turns; its 60 hits lie
around a place of the conversation, so that some gold is found at most depths.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from memruler.model.corpus import Evidence, TurnRef
from memruler.model.run import (
    SCHEMA_VERSION,
    Begin,
    End,
    ItemRecord,
    Manifest,
    QueryRecord,
    TraceRecord,
)
from memruler.store.binding import table_digests
from memruler.store.folder import RunFolder
from memruler.store.seal import discard_journal, seal

EACH, TURNS, DEPTH = 200, 500, 60


def main(folder: Path, queries: int) -> None:
    """Write `run`, `trace.jsonl.gz` and `targets.jsonl.gz`; the run last."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    with (
        RunFolder.claim(folder, "new") as run,
        gzip.open(folder / "trace.jsonl.gz", "wt") as trace,
        gzip.open(folder / "targets.jsonl.gz", "wt") as targets,
    ):
        with run.journal() as journal:
            for instance in range(-(-queries // EACH)):
                turn_of = np.repeat(
                    np.arange(TURNS), 1 + rng.choice(4, TURNS, p=[0.2, 0.2, 0.1, 0.5])
                )
                asked = list(questions(rng, turn_of, min(EACH, queries - instance * EACH)))
                ids = [
                    f"mem_{(instance << 16 | row) * 2654435761 % 2**64:016x}"
                    for row in range(len(turn_of))
                ]
                for record in records(instance, turn_of, ids, asked):
                    journal.append(record)
                journal.commit()
                for number, (gold, hits) in enumerate(asked):
                    name = f"c{instance}:{number}"
                    print(line(query_id=name, ranked=[ids[row] for row in hits]), file=trace)
                    print(line(query_id=name, **mapping(gold, turn_of, ids)), file=targets)
        seal(run)
        made = manifest()
        run.write_manifest(made)
        run.write_manifest(manifest(table_digests(run)))
        discard_journal(run)
    (folder / "new").rename(folder / "run")


def questions(
    rng: np.random.Generator, turn_of: Any, count: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Gold turns and hits of each question of a conversation."""
    size = len(turn_of)
    for _ in range(count):
        centre = rng.integers(size)
        near = np.abs(centre + np.rint(rng.laplace(0, 60, 400)).astype(int)) % size
        gold = np.abs(centre + np.rint(rng.laplace(0, 40, rng.integers(1, 9))).astype(int)) % size
        hits = rng.permutation(np.unique(near))[:DEPTH]
        yield sorted(set(turn_of[gold].tolist())), hits.tolist()


def records(
    instance: int, turn_of: Any, ids: list[str], asked: list[tuple[list[int], list[int]]]
) -> Iterator[Any]:
    """One conversation as its journal has it."""
    yield Begin(instance=instance, key=f"c{instance}")
    for number, (gold, _) in enumerate(asked):
        evidence = Evidence(
            rule="strict", status="ok", turns=tuple(TurnRef(0, t) for t in gold), sessions=(0,)
        )
        yield QueryRecord(
            instance=instance, query=number, id=f"q{number}", text="?", category=f"k{number % 4}",
            answer=None, answer_raw=None, answerable=True, family=None, evidence=(evidence,),
            excluded=None, time=None,
        )  # fmt: skip
    for row, turn in enumerate(turn_of.tolist()):
        raw = row == 0 or turn_of[row - 1] != turn
        yield ItemRecord(
            item=row, id=ids[row], kind="turn" if raw else "fact", sessions=(0,),
            turns=((0, turn),), status="stored", reason=None, text=None,
        )  # fmt: skip
    for number, (_, hits) in enumerate(asked):
        scores = tuple(1.0 - place / DEPTH for place in range(len(hits)))
        yield TraceRecord(
            query=number, items=tuple(hits), scores=scores, context_chars=None, latency_ms=1.0
        )
    yield End(
        instance=instance, items=len(turn_of), queries=len(asked), traces=len(asked), sessions=1,
        turns=TURNS, ingest_ms=1.0, batched=True, exported=True,
    )  # fmt: skip


def mapping(gold: list[int], turn_of: Any, ids: list[str]) -> dict[str, Any]:
    """The eligible ids of a question, as scorers that count per id read them."""
    raw_ids: list[str] = []
    canonical: list[str] = []
    for turn in gold:
        rows: list[int] = np.flatnonzero(turn_of == turn).tolist()
        raw_ids.append(ids[rows[0]])
        canonical += [ids[row] for row in rows[1:]]
    return {"raw_ids": raw_ids, "source_ids": raw_ids + canonical, "canonical_ids": canonical}


def line(**fields: Any) -> str:
    """A JSON line."""
    return json.dumps(fields, separators=(",", ":"))


def manifest(tables: dict[str, str] | None = None) -> Manifest:
    """What re-scoring reads of a manifest."""
    day = datetime(2024, 1, 1)  # noqa: DTZ001 - all times are naive
    return Manifest(
        schema_version=SCHEMA_VERSION, stem="run", state="sealed",
        fingerprint={
            "corpus": {"name": "synthetic", "sha256": "00"},
            "population": {"name": "all", "rule": "strict"},
            "ingest": {"granularity": "turn"},
            "retrieval": {"limit": DEPTH},
        },
        chosen={}, defaulted={}, tool={}, machine={}, packages={}, clock=day, started=day,
        lineage_exported=True, tables=tables or {},
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
