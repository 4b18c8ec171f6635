"""Rankings and targets of other tools as the record that everything here is scored from."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.exchange.checks import agree, mapping_notices, refuse_stray_grades, unknown_items
from memruler.exchange.formats import is_target, read_mapping, read_rankings, targets_in
from memruler.exchange.gold import PARTS, SOURCE, known_targets, supports_of, target_entries
from memruler.exchange.mapping import Mapping
from memruler.exchange.names import labels
from memruler.exchange.numbering import number_items
from memruler.exchange.rankings import matrix, some_names
from memruler.model.credit import CreditLevel
from memruler.scoring.traced import Notice, Traced

__all__ = ["ABSENT", "NO_RANKING", "NO_TARGETS", "read_traced", "stem"]

NO_RANKING = "no_ranking"
"""Why a query is not scored: the targets name it and the trace does not."""

NO_TARGETS = "no_targets"
"""Why a query is not scored: the trace has it and the targets do not."""

ABSENT = "absent-query"
"""Kind of the notice about queries without a ranking."""

_PACKED = (".gz", ".jsonl", ".ndjson", ".json", ".parquet", ".trec", ".run", ".txt")
_ENDINGS = frozenset([*_PACKED, ".ranked", ".trace", ".hits"])


def read_traced(
    trace: Path,
    targets: Path | None = None,
    names: Sequence[str] = (),
    level: CreditLevel = "turn",
    *,
    items: Path | None = None,
) -> Traced:
    """Read rankings and what earns credit.

    Args:
        trace: JSON Lines (packed or not), Parquet, or a TREC run.
        targets: JSON Lines, Parquet, or TREC qrels; None where the lines of the trace have them.
        names: Targets wanted, in this order; none for all that the first lines name.
        level: What the file's anchors are.
        items: JSON Lines with the `id` of every stored item, to find names that are not.

    Raises:
        UsageError: A file is missing, or a target is not in it.
        FaultyFile: Rankings or targets are wrong; every kind of fault of the file is told.
        CorpusError: A file is damaged, or of no format that is known.
        InstrumentError: A file cannot be read.
    """
    where = trace if targets is None else targets
    for name in names:
        if not is_target(name):
            raise UsageError(
                f"'{name}' is no name of a target",
                where=where,
                hint="names are letters, digits, and `_ . : + -`, such as raw or kind:fact",
            )
    wanted = list(dict.fromkeys(names or targets_in(where)))
    with ThreadPoolExecutor(1) as beside:  # both files are unpacked and parsed at once
        every = list(dict.fromkeys([*wanted, SOURCE, *PARTS]))
        reading = beside.submit(_mapping, where, every)
        rankings = read_rankings(trace)
        mapping = reading.result()
    known = known_targets(mapping)
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"the target '{name}' is not in the file",
                where=where,
                hint=f"it has {', '.join(known) or 'none'}",
            )
    query, at, reason = _joined(rankings.query, mapping.query)
    numbers, item_names = number_items(rankings, mapping, at)
    hits = matrix(trace, rankings, numbers, item_names)
    lists = mapping.ids if mapping.group_query is None else mapping.groups
    entries = {name: target_entries(lists, name) for name in known}
    refuse_stray_grades(where, mapping, entries)
    absent = len(query) - len(hits)
    if absent:
        hits = np.concatenate([hits, np.full((absent, hits.shape[1]), -1, np.int32)])
    chosen = wanted or known
    with ThreadPoolExecutor(2) as both:
        odd = both.submit(mapping_notices, mapping, entries)
        made = both.map(
            lambda name: supports_of(mapping, name, entries[name], at, len(query)), chosen
        )
        supports = dict(zip(chosen, made, strict=True))
        oddities = odd.result()
    category, categories = labels(rankings.category)
    cluster, _ = labels(rankings.cluster)
    return Traced(
        name=stem(trace),
        origin="file",
        query=query,
        category=np.append(category, np.full(absent, -1)),
        categories=categories,
        cluster=_alone(np.append(cluster, np.full(absent, -1))),
        hits=hits,
        reason=reason,
        reasons=(NO_RANKING, NO_TARGETS),
        supports=supports,
        level=level,
        anchored=mapping.group_query is not None,
        items=item_names,
        notices=(
            *rankings.notices,
            *_unscored(query, reason),
            *oddities,
            *(unknown_items(items, item_names) if items is not None else ()),
        ),
    )


def _mapping(path: Path, names: Sequence[str]) -> Mapping:
    found = read_mapping(path, names)
    agree(found)
    return found


def stem(path: Path) -> str:
    """The name of a file without the endings that only say how it is written."""
    name = path.name
    while (shorter := Path(name)).suffix.lower() in _ENDINGS and shorter.stem:
        name = shorter.stem
    return name


def _joined(ranked: Any, mapped: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """All queries, which of them each mapped one is, and why some are not scored."""
    found = pc.index_in(mapped, value_set=ranked)
    lost = found.is_null().to_numpy(zero_copy_only=False)
    at = found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    at[lost] = len(ranked) + np.arange(lost.sum())
    query = pa.concat_arrays([ranked, mapped.filter(pa.array(lost))]) if lost.any() else ranked
    reason = np.full(len(query), 1, np.int64)
    reason[at] = -1
    reason[len(ranked) :] = 0
    return query, at, reason


def _alone(cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters in which a query without one stands alone."""
    left = cluster < 0
    cluster[left] = cluster.max(initial=-1) + 1 + np.arange(left.sum())
    return cluster


def _unscored(query: Any, reason: NDArray[np.int64]) -> list[Notice]:
    told = (
        (ABSENT, "queries with targets and no ranking; they are not scored"),
        ("no-targets", "queries with a ranking and no targets; they are not scored"),
    )
    notices = []
    for place, (kind, what) in enumerate(told):
        rows = np.flatnonzero(reason == place)
        if len(rows):
            names = tuple(some_names(query, rows))
            notices.append(Notice(kind=kind, what=what, count=len(rows), names=names))
    return notices
