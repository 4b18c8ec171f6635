"""What a file is, by what is in it: its name says nothing."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from memruler.errors import CorpusError
from memruler.exchange.ahead import ahead
from memruler.exchange.hits_form import HITS, HitLine, from_hits
from memruler.exchange.json_lines import first_objects, json_tables
from memruler.exchange.lines import blocks, head
from memruler.exchange.mapping import IDS, Mapping, mapping_schema
from memruler.exchange.mapping_build import from_tables
from memruler.exchange.mapping_json import mapping_tables
from memruler.exchange.parquet import columns, parquet_tables
from memruler.exchange.ranked_form import RANKED, RankedLine, from_ranked
from memruler.exchange.rankings import Rankings
from memruler.exchange.trec import qrels_mapping, run_rankings

__all__ = ["is_target", "read_mapping", "read_rankings", "targets_in"]

_TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,63}")
_HINT = "see docs/exchange.md for the formats"


def _sniff(path: Path) -> Literal["parquet", "json", "trec"]:
    """Whether a file is Parquet, JSON Lines or a TREC file.

    Raises:
        CorpusError: It is empty.
        UsageError: It is missing.
    """
    start = head(path).lstrip()
    if not start:
        raise CorpusError("the file is empty", where=path, hint=_HINT)
    if start.startswith(b"PAR1"):
        return "parquet"
    return "json" if start.startswith((b"{", b"[")) else "trec"


def read_rankings(path: Path) -> Rankings:
    """The rankings of a file of any format.

    Raises:
        FaultyFile: Something in it is wrong; every kind of fault is told.
        CorpusError: It is empty, damaged, or of no format that is known.
    """
    kind = _sniff(path)
    if kind == "trec":
        return run_rankings(path)
    if kind == "parquet":
        found = columns(path)
        if "ranked" in found:
            return from_ranked(path, parquet_tables(path, RANKED))
        return from_hits(path, parquet_tables(path, HITS))
    source = ahead(blocks(path))
    if b'"retrieved_id"' in head(path).lstrip().split(b"\n", 1)[0]:
        return from_hits(path, json_tables(path, source, HITS, HitLine))
    return from_ranked(path, json_tables(path, source, RANKED, RankedLine))


def read_mapping(path: Path, names: Sequence[str]) -> Mapping:
    """The targets of a file of any format.

    Args:
        path: The file.
        names: Targets to read; others in the file are left alone.

    Raises:
        FaultyFile: Something in it is wrong; every kind of fault is told.
        CorpusError: It is empty, damaged, or of no format that is known.
    """
    kind = _sniff(path)
    if kind == "trec":
        return qrels_mapping(path)
    if kind == "json":
        return from_tables(path, mapping_tables(path, names), names)
    schema = mapping_schema(names, full=True)
    return from_tables(path, parquet_tables(path, schema), names)


def targets_in(path: Path) -> list[str]:
    """The targets that a file names in its first lines, in their order."""
    kind = _sniff(path)
    if kind == "parquet":
        named = list(_in_columns(columns(path)))
    elif kind == "json":
        named = [name for line in first_objects(path) for name in _in_line(line)]
    else:
        named = []
    return [name for name in dict.fromkeys(named) if is_target(name)]


def is_target(name: str) -> bool:
    """Whether a target can have that name in a file."""
    return _TARGET.fullmatch(name) is not None and name not in {"anchor", "grades", "sets"}


def _in_line(line: dict[str, Any]) -> Iterator[str]:
    for name, value in line.items():
        if name.endswith(IDS) and isinstance(value, list):
            yield name.removesuffix(IDS)
    groups = line.get("groups")
    for group in groups if isinstance(groups, list) else ():
        for name, value in group.items() if isinstance(group, dict) else ():
            if isinstance(value, list):
                yield name
            elif name == "sets" and isinstance(value, dict):
                yield from value


def _in_columns(found: dict[str, Any]) -> Iterator[str]:
    for name, kind in found.items():
        if name.endswith(IDS) and _listed(kind):
            yield name.removesuffix(IDS)
        elif name == "groups" and _listed(kind) and pa.types.is_struct(kind.value_type):
            yield from (field.name for field in kind.value_type if _listed(field.type))


def _listed(kind: Any) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)
