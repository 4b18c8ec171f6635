"""A finished run as items: every per-query score, and what queries can be clustered by."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memruler.compare.headline import LEVELS
from memruler.compare.items import Items
from memruler.compare.load import LoadedRun, QueryKey
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["run_items"]

_SHORT = "its list is shorter than the cut-off"


def run_items(path: Path | None, run: LoadedRun) -> Items:
    """The queries of a run, with metrics called `session:recall_all@5`.

    Args:
        path: Its folder; None where there is none, and then there is no key `evidence`.
        run: What `load` read from it.
    """
    names = {key: f"{key.instance}#{key.query}" for key in run.queries}
    values: dict[str, dict[str, float]] = {}
    absent: dict[str, dict[str, str]] = {}
    for level in LEVELS:
        scores = run.scores.get(level)
        for column, found in (scores.columns if scores else {}).items():
            metric = f"{level}:{column}"
            values[metric] = {names[key]: value for key, value in found.items()}
            absent[metric] = {
                names[key]: scores.excluded.get(key, _SHORT) if scores else _SHORT
                for key in run.queries
                if key not in found
            }
    measured = run.manifest.determinism
    return Items(
        name=run.name,
        source="run",
        ids=tuple(names.values()),
        values=values,
        absent=absent,
        keys={
            "conversation": {names[key]: key.instance for key in run.queries},
            "category": {names[key]: query.category for key, query in run.queries.items()},
            **({} if path is None else {"evidence": _named(names, _families(path))}),
        },
        deterministic=measured is not None and 0 < measured.queries == measured.identical,
        declared=run.manifest.fingerprint,
        degraded=tuple(sorted(set(run.manifest.degraded))),
    )


def _named(names: Mapping[QueryKey, str], families: Mapping[QueryKey, str]) -> dict[str, str]:
    return {names[key]: family for key, family in families.items()}


def _families(path: Path) -> dict[QueryKey, str]:
    """The evidence family of each query: its corpus's own, else queries that share a gold turn.

    Sharing is transitive: a query that shares one turn with each of two others joins them.
    """
    columns = ["instance_key", "query", "family", "evidence"]
    rows = read_table(RunFolder.open(path), "queries", columns=columns).to_pylist()
    found: dict[QueryKey, str] = {}
    turns: dict[QueryKey, set[tuple[int, int]]] = {}
    for row in rows:
        key = QueryKey(row["instance_key"], row["query"])
        if row["family"] is not None:
            found[key] = f"{key.instance}/{row['family']}"
        else:
            turns[key] = {_place(turn) for rule in row["evidence"] for turn in rule["turns"]}
    return found | _joined(turns)


def _place(turn: Mapping[str, int] | Sequence[int]) -> tuple[int, int]:
    values = list(turn.values()) if isinstance(turn, Mapping) else list(turn)
    return values[0], values[1]


def _joined(turns: Mapping[QueryKey, set[tuple[int, int]]]) -> dict[QueryKey, str]:
    parent = {key: key for key in turns}

    def root(key: QueryKey) -> QueryKey:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    first: dict[tuple[str, tuple[int, int]], QueryKey] = {}
    for key, own in turns.items():
        for turn in sorted(own):
            other = root(first.setdefault((key.instance, turn), key))
            parent[root(key)] = other
    return {key: f"{root(key).instance}#{root(key).query}" for key in turns}
