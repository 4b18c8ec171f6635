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
    return [
        float(scored.by_target[name].values["ndcg", 10][scored.served(name)].mean())
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
    """A plain scorer, called for each query, target and cut-off."""
    run, gold = _read(data)
    means = []
    for target in TARGETS:
        total = served = 0.0
        scores = []
        for name, ranked in run.items():
            ids = set(gold[name][target])
            if ids:
                found = [_score(ranked, ids, k) for k in CUTOFFS]
                scores.append(found)
                total += found[CUTOFFS.index(10)][-1]
                served += 1
        means.append(total / served)
    return means


def _score(ranked: Sequence[str], gold: set[str], k: int) -> tuple[float, ...]:
    hits = [place for place, name in enumerate(ranked[:k], start=1) if name in gold]
    dcg = sum(1 / math.log2(place + 1) for place in hits)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), k) + 1))
    return (
        float(bool(hits) and hits[0] == 1),
        float(bool(hits)),
        float(len(hits) == len(gold)),
        len(hits) / len(gold),
        1 / hits[0] if hits else 0.0,
        dcg / ideal,
    )


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
        means.append(sum(row["ndcg_cut_10"] for row in scores.values()) / len(scores))
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
        means.append(float(found["ndcg@10"]))
    return means


SCORERS: dict[str, Callable[[Path], list[float]]] = {
    scorer.__name__: scorer for scorer in (sealed, jsonl, floor, python, pytrec, ranx)
}

if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    means = SCORERS[name](folder)
    text = " ".join(f"{target} {mean!r}" for target, mean in zip(TARGETS, means, strict=False))
    (folder / name).with_suffix(".mean").write_text(text + "\n")
