"""Small finished run folders, made from rankings that a test writes down as strings.

`x` is a rank that holds gold, `.` one that does not: `.x.` with gold 2 is a list of three in
which one of two gold ids stands second.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pytest

from memruler.metrics import definitions
from memruler.model.run import SCHEMA_VERSION, Determinism, Manifest
from memruler.model.summary import (
    ContextSize,
    Cutoff,
    HitCounts,
    Macro,
    Omitted,
    PopulationCounts,
    Slice,
    StoreCounts,
    Summary,
)
from memruler.scoring.slices import slice_name
from memruler.store.binding import file_sha256, table_digests
from memruler.store.folder import RunFolder
from memruler.store.tables import INGEST, LINEAGE, QUERIES, TIMINGS, TRACE, write_table

METRICS = ("recall_all", "recall_any", "recall_micro", "precision", "mrr", "ndcg")
LEVELS = ("session", "turn")


class Q(NamedTuple):
    """One query of a test's run: its ranking at the session level and at the turn level."""

    session: str
    turn: str
    gold: int = 1
    category: str = "single"
    text: str = "Where did Ada go?"
    excluded: str | None = None
    instance: str = "conv-1"
    turns: tuple[tuple[int, int], ...] = ()
    family: str | None = None


QUERIES_A = (
    Q(".x...", "x....", category="single"),
    Q("x....", "..x..", category="single"),
    Q("x..x.", "x...x", gold=2, category="multi"),
    Q(".....", ".....", category="multi", instance="conv-2"),
    Q(".....", ".....", excluded="unanswerable", instance="conv-2"),
)


def fingerprint() -> dict[str, Any]:
    return {
        "corpus": {
            "name": "tiny",
            "version": "1",
            "sha256": "c" * 64,
            "tier": "local-file",
            "instances": "all",
            "queries": "all",
        },
        "population": {"name": "answerable", "rule": "strict", "digest": "d" * 64},
        "ingest": {
            "granularity": "turn",
            "timeline": "anchored",
            "order": "time",
            "text": {"speaker": True, "date": False, "captions": True},
        },
        "retrieval": {"limit": 20},
        "system": {
            "name": "builtin:dense",
            "version": "1",
            "digest": "e" * 64,
            "settings": {"decay": True, "decay_rate": 0.03, "mmr": False},
        },
        "embedder": {"kind": "onnx", "model": "minilm", "model_sha256": "f" * 64},
        "ruler": {"version": "1"},
    }


def put(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *parts, last = dotted.split(".")
    for part in parts:
        tree = tree[part]
    tree[last] = value


def keyed(queries: tuple[Q, ...]) -> list[tuple[int, int, Q]]:
    """Positions of each query: its instance's, and its own within the instance."""
    names = list(dict.fromkeys(q.instance for q in queries))
    seen: Counter[str] = Counter()
    rows = []
    for q in queries:
        rows.append((names.index(q.instance), seen[q.instance], q))
        seen[q.instance] += 1
    return sorted(rows, key=lambda row: row[:2])


def value(metric: str, q: Q, level: str, k: int) -> float | None:
    ranks: str = getattr(q, level)
    if q.excluded is not None or len(ranks) < k:
        return None
    found = [c == "x" for c in ranks]
    return float(getattr(definitions, metric)(found, q.gold, k))


def padded_value(metric: str, q: Q, level: str, k: int) -> float:
    ranks = "" if q.excluded else getattr(q, level)
    found = [c == "x" for c in ranks.ljust(k, ".")]
    return float(getattr(definitions, metric)(found, q.gold, k))


def cutoff(rows: list[tuple[int, int, Q]], level: str, k: int) -> Cutoff | None:
    counted = [r for r in rows if value("recall_all", r[2], level, k) is not None]
    if not counted:
        return None
    # A failed search keeps its place in `of`.
    measured = [r for r in rows if r[2].excluded in {None, "search_failed"}]
    members = hashlib.sha256(repr([r[:2] for r in counted]).encode()).hexdigest()
    return Cutoff(
        level=level,
        k=k,
        counted=len(counted),
        of=len(measured),
        members=members,
        attainable=sum(r[2].gold <= k for r in counted),
        values={m: fsum(value(m, r[2], level, k) for r in counted) / len(counted) for m in METRICS},
        padded={
            m: fsum(padded_value(m, r[2], level, k) for r in measured) / len(measured)
            for m in METRICS
        },
    )


def summarise(queries: tuple[Q, ...], cutoffs: tuple[int, ...], levels: tuple[str, ...]) -> Summary:
    rows = keyed(queries)
    measured = [r for r in rows if r[2].excluded is None]
    cells = [(level, k) for level in levels for k in cutoffs]
    names = sorted({r[2].category for r in measured})
    parts = {slice_name(n): [r for r in rows if r[2].category == n] for n in names}
    groups = {"all": rows, **parts}
    slices = tuple(
        Slice(
            name=name,
            queries=sum(r[2].excluded is None for r in group),
            cutoffs=tuple(c for cell in cells if (c := cutoff(group, *cell)) is not None),
        )
        for name, group in groups.items()
    )
    there = {(c.level, c.k) for c in slices[0].cutoffs}
    macro = []
    for level, k in sorted(there):
        of = [c for part in slices[1:] for c in part.cutoffs if (c.level, c.k) == (level, k)]
        means = {m: fsum(c.values[m] for c in of) / len(of) for m in METRICS}
        macro.append(Macro(level=level, k=k, categories=len(of), values=means))
    gone = [
        Omitted(level=v, k=k, reason="no list is so long") for v, k in cells if (v, k) not in there
    ]
    gone += [
        Omitted(level=v, k=None, reason="one item a session") for v in LEVELS if v not in levels
    ]
    excluded = Counter(r[2].excluded for r in rows if r[2].excluded is not None)
    return Summary(
        schema_version=1,
        tables={},
        target="raw",
        population=PopulationCounts(
            name="answerable",
            rule="strict",
            corpus_queries=len(rows),
            members=len(measured),
            measured=len(measured),
            partial_gold=0,
            excluded=dict(excluded),
            digest="d" * 64,
        ),
        clusters=len({r[0] for r in measured}),
        slices=slices,
        macro=tuple(macro),
        omitted=tuple(gone),
        hits=HitCounts(total=100, unattributed=dict.fromkeys(levels, 0), tied=0),
        store=StoreCounts(stored=50, lost={}, lost_gold={}, queries_hurt=0, known=True),
        context=ContextSize(
            queries=len(measured), chars_over_4=321.5, tokens=None, tokenizer="not installed"
        ),
        without_gold={},
        errors={},
    )


def scores_table(
    queries: tuple[Q, ...], cutoffs: tuple[int, ...], levels: tuple[str, ...]
) -> pa.Table:
    rows = [(level, *row) for level in levels for row in keyed(queries)]
    columns: dict[str, Any] = {
        "instance": pa.array([r[1] for r in rows], pa.int32()),
        "query": pa.array([r[2] for r in rows], pa.int32()),
        "category": pa.array([r[3].category for r in rows]),
        "level": pa.array([r[0] for r in rows]),
        "observed": pa.array([len(getattr(r[3], r[0])) for r in rows], pa.int32()),
        "gold": pa.array([r[3].gold for r in rows], pa.int32()),
        "excluded": pa.array([r[3].excluded for r in rows], pa.string()),
    }
    for k in cutoffs:
        for metric in METRICS:
            values = [value(metric, r[3], r[0], k) for r in rows]
            columns[f"{metric}@{k}"] = pa.array(values, pa.float64())
    return pa.table(columns)


def evidence(q: Q) -> dict[str, Any]:
    return {
        "rule": "labels",
        "status": "ok",
        "sessions": sorted({session for session, _ in q.turns}),
        "turns": [{"session": session, "turn": turn} for session, turn in q.turns],
        "references": [],
        "unresolved": [],
    }


def queries_table(queries: tuple[Q, ...]) -> pa.Table:
    rows = [
        {
            "instance": instance,
            "instance_key": q.instance,
            "query": position,
            "id": f"{q.instance}/{position}",
            "text": q.text,
            "category": q.category,
            "answer": "Paris",
            "answer_json": '"Paris"',
            "answerable": q.excluded is None,
            "excluded": q.excluded,
            "family": q.family,
            "evidence": [evidence(q)] if q.turns else [],
        }
        for instance, position, q in keyed(queries)
    ]
    return pa.Table.from_pylist(rows, QUERIES)


def other_tables(queries: tuple[Q, ...]) -> dict[str, pa.Table]:
    rows = [{"instance": i, "query": p, "repeat": 0} for i, p, _ in keyed(queries)]
    instances = sorted({row["instance"] for row in rows})
    return {
        "lineage": LINEAGE.empty_table(),
        "trace": pa.Table.from_pylist(
            [{**row, "items": [], "scores": [], "context_chars": 0} for row in rows], TRACE
        ),
        "timings": pa.Table.from_pylist([{**row, "latency_ms": 2.0} for row in rows], TIMINGS),
        "ingest": pa.Table.from_pylist(
            [
                {
                    "instance": i,
                    "key": f"conv-{i + 1}",
                    "sessions": 5,
                    "turns": 50,
                    "ingest_ms": 10.0,
                    "batched": False,
                }
                for i in instances
            ],
            INGEST,
        ),
    }


def manifest(stem: str, changes: dict[str, Any], fields: dict[str, Any]) -> Manifest:
    parts = fingerprint()
    for key, new in changes.items():
        put(parts, key, new)
    made = Manifest(
        schema_version=SCHEMA_VERSION,
        stem=stem,
        state="sealed",
        fingerprint=parts,
        chosen={"limit": 20},
        defaulted={"timeline": "anchored", "system.settings.mmr": False},
        tool={"version": "0.1.0", "source_sha256": "a" * 64, "commit": "b" * 40, "dirty": False},
        machine={"system": "Linux", "cores": 2},
        packages={"python": "3.11.7", "numpy": "2.4.6"},
        clock=datetime(2026, 1, 2, 3, 4, 5),
        started=datetime(2026, 1, 2, 3, 4, 5),
        finished=datetime(2026, 1, 2, 3, 5, 5),
        counts={"instances": 2, "sessions": 10, "turns": 100, "queries": 5},
        span_days=(10.0, 20.5),
        determinism=Determinism(instances=1, queries=3, identical=3, of=3, other_process=True),
        lineage_exported=True,
    )
    return msgspec.structs.replace(made, **fields)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Build a run folder; `changes` are dotted keys of the fingerprint."""

    def build(
        stem: str,
        queries: tuple[Q, ...] = QUERIES_A,
        *,
        changes: dict[str, Any] | None = None,
        fields: dict[str, Any] | None = None,
        summary: dict[str, Any] | None = None,
        cutoffs: tuple[int, ...] = (1, 3, 5),
        levels: tuple[str, ...] = LEVELS,
    ) -> Path:
        with RunFolder.claim(tmp_path, stem) as folder:
            write_table(folder, "queries", queries_table(queries))
            write_table(folder, "scores", scores_table(queries, cutoffs, levels))
            for name, table in other_tables(queries).items():
                write_table(folder, name, table)
            tables = table_digests(folder)
            folder.write_manifest(
                manifest(stem, changes or {}, {"tables": tables, **(fields or {})})
            )
            scored = {name: tables[name] for name in ("queries", "lineage", "trace")}
            scored["scores"] = file_sha256(folder, "scores.parquet")
            found = summarise(queries, cutoffs, levels)
            found = msgspec.structs.replace(found, **{"tables": scored, **(summary or {})})
            folder.write("summary.json", msgspec.json.encode(found))
            return folder.path

    return build


@pytest.fixture
def queries_a() -> tuple[Q, ...]:
    return QUERIES_A


@pytest.fixture
def query() -> type[Q]:
    return Q


@pytest.fixture
def padded_value_of() -> Callable[[str, Q, str, int], float]:
    return padded_value


@pytest.fixture
def value_of() -> Callable[[str, Q, str, int], float | None]:
    return value
