"""TREC files: runs of six columns, qrels of four.

In a run the rank column decides, as everywhere here, though TREC's own programs sort by score;
where these would read another order it is said. Names are taken as they stand.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import csv

from memruler.exchange.ahead import ahead
from memruler.exchange.arrays import distinct
from memruler.exchange.faults import Faults
from memruler.exchange.hits_form import ranked_hits
from memruler.exchange.json_lines import buffer
from memruler.exchange.lines import Block, blocks
from memruler.exchange.mapping import Lists, Mapping
from memruler.exchange.names import Coded, coded, unified
from memruler.exchange.ranked_form import whole
from memruler.exchange.rankings import Rankings, some_names
from memruler.scoring.traced import MOST_NAMES, Notice

__all__ = ["GRADED", "QRELS", "qrels_mapping", "run_rankings"]

QRELS = "qrels"
"""The target of a qrels file: everything with a grade above 0, fully."""

GRADED = "qrels-graded"
"""The same with its grade divided by the largest grade of the file."""

_RUN: dict[str, pa.DataType] = {
    "query_id": pa.string(),
    "q0": pa.string(),
    "retrieved_id": pa.string(),
    "rank": pa.int64(),
    "score": pa.float64(),
    "tag": pa.string(),
}
_QRELS: dict[str, pa.DataType] = {
    "query_id": pa.string(),
    "iteration": pa.string(),
    "retrieved_id": pa.string(),
    "grade": pa.int64(),
}


def run_rankings(path: Path) -> Rankings:
    """The rankings of a run file.

    Raises:
        FaultyFile: A line has other columns, or the ranks of a query are not 1 to n.
    """
    queries, items, ranks, scores = Coded(), Coded(), [], []
    for table in _tables(path, _RUN):
        for batch in table.to_batches():
            queries.add(batch.column("query_id"))
            items.add(batch.column("retrieved_id"))
            ranks.append(batch.column("rank").to_numpy())
            scores.append(batch.column("score").to_numpy())
    faults = Faults(path)
    names, query = unified(queries)
    score = np.concatenate(scores)
    rankings = ranked_hits(faults, names, query, np.concatenate(ranks))
    wild = distinct(query[~np.isfinite(score)])
    faults.add("a score is no finite number", some_names(names, wild), len(wild))
    faults.refuse()
    order = rankings.order if rankings.order is not None else slice(None)
    query, score = query[order], score[order]
    again = distinct(query[1:][(query[1:] == query[:-1]) & (score[1:] >= score[:-1])])
    notices: tuple[Notice, ...] = ()
    if len(again):
        notices = (
            Notice(
                kind="scores-disagree",
                what="scores that do not fall with the rank; the rank decides here, and TREC's "
                "programs sort by score",
                count=len(again),
                names=tuple(some_names(names, again)),
            ),
        )
    none = pa.nulls(len(names), pa.string())
    return msgspec.structs.replace(
        rankings, category=none, cluster=none, items=items, notices=notices
    )


def qrels_mapping(path: Path) -> Mapping:
    """The targets `qrels` and `qrels-graded` of a qrels file; each item is an anchor of its own.

    Raises:
        FaultyFile: A line has other columns, or an item is judged twice for a query.
    """
    table = pa.concat_tables(_tables(path, _QRELS)).combine_chunks()
    faults = Faults(path)
    queries, items = (coded(whole(table.column(name))) for name in ("query_id", "retrieved_id"))
    names = queries.dictionaries[0]
    query = queries.places[0].astype(np.int64)
    grade = whole(table.column("grade")).to_numpy()
    pair = query * (len(items.dictionaries[0]) + 1) + items.places[0]
    values, counts = np.unique(pair, return_counts=True)
    twice = distinct(values[counts > 1] // (len(items.dictionaries[0]) + 1))
    faults.add("an item is judged twice", some_names(names, twice), len(twice))
    faults.refuse()
    relevant = np.flatnonzero(grade > 0)
    order = relevant[np.argsort(query[relevant], kind="stable")]
    lists = Lists()
    lists.owner.append(query[order])
    lists.given.append(np.arange(len(names)))
    lists.items.append(items.dictionaries[0].take(pa.array(items.places[0][order])))
    share = grade[order] / max(int(grade.max(initial=1)), 1)
    return Mapping(
        query=names,
        group_query=None,
        groups={},
        ids={QRELS: lists, GRADED: lists} if (share != 1).any() else {QRELS: lists},
        grades=Lists(owner=lists.owner, items=lists.items),
        grade=share,
        sets={},
        ungraded=frozenset({QRELS}),
    )


def _tables(path: Path, kinds: dict[str, pa.DataType]) -> Iterator[pa.Table]:
    """The lines of a file whose columns are separated by spaces or tabs."""
    for block in ahead(blocks(path)):
        table = _parsed(block, kinds)
        if table is None:
            _judge(path, block, kinds)
        elif table.num_rows:
            yield table


def _parsed(block: Block, kinds: dict[str, pa.DataType]) -> pa.Table | None:
    """The rows, or None where something is wrong with them."""
    data = block.data
    if b"\t" in data or b"  " in data or b" \n" in data or b"\n " in data or data[:1] == b" ":
        lines = (b" ".join(line.split()) for line in data.split(b"\n"))
        data = b"\n".join(line for line in lines if line)
    if not data.strip():
        return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    try:
        return csv.read_csv(
            buffer(data),
            read_options=csv.ReadOptions(
                use_threads=False, column_names=list(kinds), block_size=len(data) + 1
            ),
            parse_options=csv.ParseOptions(
                delimiter=" ", quote_char=False, escape_char=False, ignore_empty_lines=True
            ),
            convert_options=csv.ConvertOptions(
                column_types=kinds, null_values=[], strings_can_be_null=False, check_utf8=True
            ),
        )
    except pa.ArrowException:
        return None


def _judge(path: Path, block: Block, kinds: dict[str, pa.DataType]) -> None:
    """Say which lines are wrong, and how.

    Raises:
        FaultyFile: Always.
    """
    faults = Faults(path)
    found = 0
    for number, line in enumerate(block.data.split(b"\n"), start=block.first):
        cells = line.split()
        what = _wrong(cells, kinds) if cells else None
        if what:
            faults.add(what, [f"line {number}"])
            found += 1
        if found == MOST_NAMES:
            break
    if not found:
        faults.add("the lines cannot be read", [f"from line {block.first}"])
    faults.refuse()


def _wrong(cells: list[bytes], kinds: dict[str, pa.DataType]) -> str | None:
    if len(cells) != len(kinds):
        return f"a line has not the {len(kinds)} columns {' '.join(kinds)}"
    for cell, (name, kind) in zip(cells, kinds.items(), strict=True):
        try:
            text = cell.decode()
            if kind == pa.int64():
                np.int64(int(text))
            elif kind == pa.float64():
                float(text)
        except UnicodeDecodeError:
            return f"{name} is not UTF-8"
        except (ValueError, OverflowError):
            return f"{name} is not {'a whole number' if kind == pa.int64() else 'a number'}"
    return None
