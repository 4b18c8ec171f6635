"""Reads what a comparison needs from a finished run folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memruler.compare.headline import HEADLINE, LEVELS
from memruler.compare.record import Side
from memruler.errors import FormatError
from memruler.model.run import Manifest
from memruler.model.summary import Cutoff, Level, Summary
from memruler.store.binding import file_sha256, require_own_tables
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = [
    "LoadedRun",
    "QueryKey",
    "QueryText",
    "Scores",
    "load",
    "name_of",
    "names",
    "read_scores",
    "side",
]

_AGAIN = "score the run again"


class QueryKey(NamedTuple):
    """A query across runs: the key of its instance and its position there, never its text."""

    instance: str
    query: int


class QueryText(NamedTuple):
    """What a person recognises a query by."""

    id: str
    text: str
    category: str


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one level.

    Attributes:
        excluded: Query to the reason why it has no value; only queries that have none.
        columns: Metric id (`recall_all@5`) to the values of all queries that have one.
    """

    excluded: Mapping[QueryKey, str]
    columns: Mapping[str, Mapping[QueryKey, float]]


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run, as far as a comparison needs it.

    Attributes:
        name: What to call it: its folder as the call named it.
        queries: Every query of the run, in corpus order.
        scores: Level to its scores; a level that was not scored is not there.
    """

    name: str
    manifest: Manifest
    summary: Summary
    queries: Mapping[QueryKey, QueryText]
    scores: Mapping[Level, Scores]

    def cutoffs(self, name: str = "all") -> dict[tuple[Level, int], Cutoff]:
        """The cut-offs of one slice by level and depth; empty for an unknown slice."""
        return {
            (cutoff.level, cutoff.k): cutoff
            for part in self.summary.slices
            if part.name == name
            for cutoff in part.cutoffs
        }

    def counted(self, level: Level, k: int) -> AbstractSet[QueryKey]:
        """The queries that have a value at one level and depth; all metrics have the same."""
        scores = self.scores.get(level)
        return scores.columns.get(f"{HEADLINE}@{k}", {}).keys() if scores else frozenset()

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the slices other than `all`, in the summary's order."""
        return tuple(part.name for part in self.summary.slices[1:])


def names(base: Path, candidate: Path) -> tuple[str, str]:
    """What to call two run folders: their own names, or the paths as given where these are equal.

    A manifest would not do: a copied or renamed folder keeps the stem it was measured under.
    """
    own, other = name_of(base), name_of(candidate)
    return (own, other) if own != other else (_text(base), _text(candidate))


def name_of(path: Path) -> str:
    """A folder's own name as text that can be written: bytes that are no UTF-8 become escapes."""
    # `.` and `..` have no name of their own.
    return _text(path.name if path.name not in {"", ".."} else path.resolve().name)


def _text(path: str | Path) -> str:
    return str(path).encode("utf-8", "backslashreplace").decode()


def load(path: Path, name: str) -> LoadedRun:
    """Read a finished run.

    Args:
        path: Its folder.
        name: What to call it.

    Raises:
        FormatError: It is no finished run folder, was not scored, or its files disagree or are
            another run's.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    if manifest is None or not folder.has("summary.json") or not folder.has("scores.parquet"):
        raise FormatError("this run was not scored", where=path, hint=_AGAIN)
    corpus = manifest.fingerprint.get("corpus")
    if not isinstance(corpus, dict) or not corpus.keys() >= {"name", "version", "sha256"}:
        raise FormatError(
            "the manifest does not say which corpus was measured", where=path, hint="measure anew"
        )
    try:
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(
            f"summary.json cannot be read: {error}", where=path, hint=_AGAIN
        ) from error
    _require_one_run(folder, manifest, summary)
    if not summary.slices or summary.slices[0].name != "all":
        raise FormatError("summary.json has no slice `all`", where=path, hint=_AGAIN)
    if len({part.name for part in summary.slices}) != len(summary.slices):
        raise FormatError("summary.json names a slice twice", where=path, hint=_AGAIN)
    rows = read_table(
        folder, "queries", columns=["instance", "instance_key", "query", "id", "text", "category"]
    ).to_pylist()
    keys = {(row["instance"], row["query"]): _key(row) for row in rows}
    queries = {_key(row): QueryText(row["id"], row["text"], row["category"]) for row in rows}
    if len(keys) != len(rows) or len(queries) != len(rows):
        raise FormatError("queries.parquet names a query twice", where=path)
    return LoadedRun(
        name=name,
        manifest=manifest,
        summary=summary,
        queries=queries,
        scores=read_scores(folder, keys),
    )


def _require_one_run(folder: RunFolder, manifest: Manifest, summary: Summary) -> None:
    """The tables, the scores and the summary were made from each other, and not for another run."""
    require_own_tables(folder, manifest, ("queries", "lineage", "trace"))
    scored = {name: digest for name, digest in summary.tables.items() if name != "scores"}
    if any(manifest.tables.get(name) != digest for name, digest in scored.items()):
        raise FormatError(
            "summary.json was made from the tables of another run", where=folder.path, hint=_AGAIN
        )
    if summary.tables.get("scores") != file_sha256(folder, "scores.parquet"):
        raise FormatError(
            "scores.parquet is not the table that summary.json was made with",
            where=folder.path,
            hint=_AGAIN,
        )


def side(run: LoadedRun) -> Side:
    """What stands beside the means of a run."""
    summary = run.summary
    return Side(
        name=run.name,
        stem=run.manifest.stem,
        tool=run.manifest.tool,
        started=run.manifest.started,
        context=summary.context,
        hits=summary.hits,
        lost=summary.store.lost,
        queries_hurt=summary.store.queries_hurt,
        lineage_known=summary.store.known,
    )


def _key(row: Mapping[str, Any]) -> QueryKey:
    return QueryKey(row["instance_key"], row["query"])


def read_scores(folder: RunFolder, keys: Mapping[tuple[int, int], QueryKey]) -> dict[Level, Scores]:
    """Read `scores.parquet`.

    Args:
        folder: Where it stands.
        keys: Position of the instance, and of the query in it, to the query's key.

    Raises:
        FormatError: It does not hold one row per query and level, or lacks a column.
    """
    columns = read_table(folder, "scores").to_pydict()
    lacking = {"instance", "query", "level", "excluded"} - set(columns)
    if lacking:
        raise FormatError(
            f"scores.parquet lacks {', '.join(sorted(lacking))}", where=folder.path, hint=_AGAIN
        )
    places = list(zip(columns["level"], columns["instance"], columns["query"], strict=True))
    per_level = Counter(level for level, _, _ in places)
    whole = all(count == len(keys) for count in per_level.values())
    if len(set(places)) != len(places) or not whole or {p[1:] for p in places} - set(keys):
        raise FormatError(
            "scores.parquet does not hold one row per query and level",
            where=folder.path,
            hint=_AGAIN,
        )
    return {
        level: _level(columns, [i for i, place in enumerate(places) if place[0] == level], keys)
        for level in LEVELS
        if per_level[level]
    }


def _level(
    columns: Mapping[str, list[Any]],
    rows: Sequence[int],
    keys: Mapping[tuple[int, int], QueryKey],
) -> Scores:
    at = [(i, keys[columns["instance"][i], columns["query"][i]]) for i in rows]
    return Scores(
        excluded={
            key: columns["excluded"][i] for i, key in at if columns["excluded"][i] is not None
        },
        columns={
            name: {key: value for i, key in at if (value := values[i]) is not None}
            for name, values in columns.items()
            if "@" in name
        },
    )
