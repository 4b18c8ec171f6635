"""The scorers of `rescoring.py`, each run as a process of its own: `SCORER FOLDER`.

Each ends with every value of every query in its hands, and writes the mean nDCG@10 of each target,
over the queries that it can serve, beside the data.
"""
# ruff: noqa: PLC0415 - what a scorer imports is part of its time

import gzip
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

CUTOFFS = (1, 3, 5, 10, 20, 60)
TARGETS = ("raw", "source", "canonical")
MEAN_AT = 10


def sealed(data: Path) -> list[float]:
    """Memruler, from its sealed run."""
    from memruler.scoring.from_run import traced_from_run
    from memruler.targets.forms import NAMED

    return _own(traced_from_run(data / "run", [NAMED[name] for name in TARGETS]))


def jsonl(data: Path) -> list[float]:
    """Memruler, from jsonl.gz."""
    from memruler.exchange.read import read_traced

    return _own(read_traced(data / "trace.jsonl.gz", data / "targets.jsonl.gz", TARGETS))


def _own(traced: Any) -> list[float]:
    from memruler.scoring.traced import score_traced

    scored = score_traced(traced, CUTOFFS, "id")
    for name in TARGETS:  # most values are made when they are asked for
        for values in scored.by_target[name].values.values():
            values[scored.served(name)].mean()
    return [
        float(scored.by_target[name].values["ndcg", MEAN_AT][scored.served(name)].mean())
        for name in TARGETS
    ]


def floor(data: Path) -> list[float]:
    """Decode the tables, and nothing else."""
    from memruler.store.folder import RunFolder
    from memruler.store.tables import read_table

    folder = RunFolder.open(data / "run")
    read_table(folder, "queries", ["instance", "query", "category", "excluded", "evidence"])
    read_table(folder, "lineage", ["instance", "kind", "sessions", "turns"])
    read_table(folder, "trace", ["instance", "query", "repeat", "items", "error"])
    return []


def _read(data: Path) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    try:
        from orjson import loads
    except ImportError:
        from json import loads
    with gzip.open(data / "trace.jsonl.gz") as lines:
        run = {row["query_id"]: row["ranked"] for row in map(loads, lines)}
    with gzip.open(data / "targets.jsonl.gz") as lines:
        gold = {
            row["query_id"]: {name: row[f"{name}_ids"] for name in TARGETS}
            for row in map(loads, lines)
        }
    return run, gold


def python(data: Path) -> list[float]:
    """A plain scorer as the formulas read, called for each query, target and cut-off."""
    run, gold = _read(data)
    means = []
    for target in TARGETS:
        scores = {
            (name, k): _score(ranked, gold[name][target], k)
            for name, ranked in run.items()
            if gold[name][target]
            for k in CUTOFFS
        }
        ndcg = [score["ndcg"] for (_, k), score in scores.items() if k == MEAN_AT]
        means.append(sum(ndcg) / len(ndcg))
    return means


def _score(ranked: Sequence[str], gold: Sequence[str], k: int) -> dict[str, float]:
    relevant = set(gold)
    hits = [item in relevant for item in ranked[:k]]
    dcg = sum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits, start=1))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))
    first = next((rank for rank, hit in enumerate(hits, start=1) if hit), 0)
    return {
        "top1": float(first == 1),
        "recall_any": float(any(hits)),
        "recall_all": float(sum(hits) == len(relevant)),
        "recall_micro": sum(hits) / len(relevant),
        "mrr": 1 / first if first else 0.0,
        "ndcg": dcg / ideal,
    }


def pytrec(data: Path) -> list[float]:
    """pytrec_eval: success, recall, P, nDCG at the cut-offs, and the reciprocal rank."""
    import pytrec_eval

    ranked, gold = _read(data)
    run = {
        name: {item: float(-place) for place, item in enumerate(items)}
        for name, items in ranked.items()
    }
    depths = ",".join(map(str, CUTOFFS))
    measures = {f"{name}.{depths}" for name in ("success", "recall", "P", "ndcg_cut")}
    means = []
    for target in TARGETS:
        qrels = {name: dict.fromkeys(of[target], 1) for name, of in gold.items() if of[target]}
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures | {"recip_rank"})
        scores = evaluator.evaluate(run)
        means.append(sum(row[f"ndcg_cut_{MEAN_AT}"] for row in scores.values()) / len(scores))
    return means


def ranx(data: Path) -> list[float]:
    """ranx: hit_rate, recall, precision, mrr and nDCG at the cut-offs."""
    from ranx import Qrels, Run, evaluate

    ranked, gold = _read(data)
    run = {
        name: {item: float(-place) for place, item in enumerate(items)}
        for name, items in ranked.items()
    }
    names = ("hit_rate", "recall", "precision", "mrr", "ndcg")
    measures = [f"{name}@{k}" for name in names for k in CUTOFFS]
    means = []
    for target in TARGETS:
        qrels = {name: dict.fromkeys(of[target], 1) for name, of in gold.items() if of[target]}
        mine = {name: run[name] for name in qrels}
        found = evaluate(Qrels(qrels), Run(mine), measures, return_mean=True)
        means.append(float(found[f"ndcg@{MEAN_AT}"]))
    return means


SCORERS: dict[str, Callable[[Path], list[float]]] = {
    scorer.__name__: scorer for scorer in (sealed, jsonl, floor, python, pytrec, ranx)
}

if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    means = SCORERS[name](folder)
    text = " ".join(f"{target} {mean!r}" for target, mean in zip(TARGETS, means, strict=False))
    (folder / name).with_suffix(".mean").write_text(text + "\n")
