"""A sealed run as rankings with the gold of each target; texts and ids stay on disk."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.errors import FormatError, UsageError
from memruler.metrics.credit_steps import places
from memruler.model.credit import CreditLevel
from memruler.scoring.graded import OwnTarget, graded
from memruler.scoring.levels import SEARCH_FAILED
from memruler.scoring.lineage_map import mapped
from memruler.scoring.run_notices import doubts, of_hits, of_no_kind, one_draw
from memruler.scoring.run_terms import terms_of
from memruler.scoring.traced import Notice, Traced
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms, Gold, descents, eligible
from memruler.targets.forms import Admits

__all__ = ["forms_of", "traced_from_run"]

_Ints = NDArray[np.int64]
_TABLES = ("queries", "lineage", "trace")
_UNTOLD = "the system does not export its lineage, so which transformed forms it holds is not known"


def traced_from_run(
    path: Path,
    targets: Sequence[Admits | OwnTarget],
    level: CreditLevel = "turn",
    lineage: Path | None = None,
) -> Traced:
    """Read a sealed run, and find the items that earn credit under each target.

    Args:
        path: The run folder.
        targets: At least one.
        level: What an anchor is; at `item` the anchors are turns, and each item counts by itself.
        lineage: A file that tells where items come from, see `memruler.scoring.lineage_map`.

    Raises:
        CorpusError: The lineage file cannot be read.
        FormatError: No run, not sealed, or its tables do not fit together.
        Refusal: Items came back, and of none of them is a source known.
        UsageError: The run has no turns to be anchors.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    asked = terms_of(manifest, folder.path)
    if level != "session" and asked.granularity == "session":
        raise UsageError(
            "a whole session is stored as one item, so no item is of one turn",
            where=path,
            hint="use --level session",
        )
    columns = ["instance", "instance_key", "query", "category", "excluded", "evidence"]
    known = manifest.lineage_exported
    notices: tuple[Notice, ...] = ()
    # Two hands: one reads lineage and trace, the other what they are held against.
    with ThreadPoolExecutor(1) as beside:
        stored = beside.submit(forms_of, folder)
        queries = read_table(folder, "queries", columns=columns)
        instance = _ints(queries, "instance")
        reading = beside.submit(_trace, folder, instance << 32 | _ints(queries, "query"))
        gold = _gold(queries, asked.rule, level, instance)
        told = () if lineage is None else ("ingest",)  # it names instances by their keys
        require_own_tables(folder, manifest, (*_TABLES, *told))
        forms = stored.result()
        owner = forms.instance
        if lineage is not None:
            forms, complete, notices = mapped(lineage, folder, forms, exported=known)
            known |= complete
        found = descents(gold, forms)
        hits, failed = reading.result()
        reason, reasons = _reasons(queries, failed, np.diff(gold.offsets), level)
        own = beside.submit(_require_own_items, folder, hits, owner, instance)
        oddities = beside.submit(of_hits, hits, forms, reason < 0)
        # Looked up once for all targets: each keeps some of the pairs.
        owners = np.repeat(np.arange(len(hits)), np.diff(gold.offsets))
        ranks = places(hits, owners[found.anchor], found.item)
        # What is not told may be there: its anchors stay in, and what is derived cannot be asked.
        asked_for = [t for t in targets if known or t.name in {"raw", "source"}]
        unserved = {t.name: _UNTOLD for t in targets if t not in asked_for}
        admits = [target for target in asked_for if isinstance(target, Admits)]
        halves = [
            beside.submit(eligible, target, gold, forms, found, keep=not known, ranks=ranks)
            for target in admits[1::2]
        ]
        made = {
            target.name: eligible(target, gold, forms, found, keep=not known, ranks=ranks)
            for target in admits[::2]
        }
        own.result()
        notices += (*oddities.result(), *one_draw(manifest))
        made.update({t.name: half.result() for t, half in zip(admits[1::2], halves, strict=True)})
    notices += tuple(doubts(gold, forms, found, known=known))
    for target in asked_for:
        if isinstance(target, Admits):
            notices += tuple(of_no_kind(target, forms))
            continue
        made[target.name] = graded(target, gold, folder, forms, found)
        notices += (
            Notice(
                kind="own-target",
                what=f"{target.name} is a target of one's own: code with this SHA-256",
                count=1,
                names=(target.digest,),
            ),
        )
    supports = {target.name: made[target.name] for target in asked_for}
    categories = pc.dictionary_encode(_column(queries, "category"))
    return Traced(
        name=folder.path.name,
        origin="run",
        query=pc.binary_join_element_wise(
            _column(queries, "instance_key"), pc.cast(_column(queries, "query"), pa.string()), ":"
        ),
        category=np.asarray(categories.indices, np.int64),
        categories=tuple(categories.dictionary.to_pylist()),
        cluster=instance,
        hits=hits,
        reason=reason,
        reasons=reasons,
        supports=supports,
        unserved=unserved,
        level=level,
        population=asked.population,
        identity={"corpus": asked.corpus, "population": manifest.fingerprint["population"]},
        notices=notices,
        forms=forms,
        asked=asked.limit,
    )


def forms_of(folder: RunFolder) -> Forms:
    """The stored items of a run, each a few numbers."""
    table = read_table(folder, "lineage", columns=["instance", "kind", "sessions", "turns"])
    kinds: Any = pc.dictionary_encode(_column(table, "kind"))
    sessions, turns = _column(table, "sessions"), _column(table, "turns")
    flat = pc.list_flatten(turns)
    return Forms(
        instance=_ints(table, "instance"),
        kind=np.asarray(kinds.indices, np.int64),
        kinds=tuple(kinds.dictionary.to_pylist()),
        sources=ItemSources(
            session_offsets=_ends(_lengths(sessions)),
            sessions=np.asarray(pc.list_flatten(sessions), np.int64),
            turn_offsets=_ends(_lengths(turns)),
            turn_sessions=np.asarray(pc.struct_field(flat, "session"), np.int64),
            turn_turns=np.asarray(pc.struct_field(flat, "turn"), np.int64),
        ),
    )


def _ends(lengths: _Ints) -> _Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _lengths(lists: Any) -> _Ints:
    return np.asarray(pc.list_value_length(lists).fill_null(0), np.int64)


def _column(table: pa.Table, name: str) -> Any:
    return table.column(name).combine_chunks()


def _ints(table: pa.Table, name: str) -> _Ints:
    return np.asarray(_column(table, name), np.int64)


def _trace(folder: RunFolder, key: _Ints) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The first draw of every query as a matrix, and which searches failed."""
    trace = read_table(folder, "trace", columns=["instance", "query", "repeat", "items", "error"])
    if pc.any(pc.not_equal(trace.column("repeat"), pa.scalar(0, pa.int16()))).as_py():
        trace = trace.filter(pc.equal(trace.column("repeat"), pa.scalar(0, pa.int16())))
    traced = _ints(trace, "instance") << 32 | _ints(trace, "query")
    order: _Ints | slice = slice(None)  # as they are, without a copy
    if not np.array_equal(traced, key):
        row, found = np.argsort(key), np.argsort(traced)
        if not np.array_equal(key[row], traced[found]) or np.any(np.diff(key[row]) == 0):
            raise FormatError(
                "the trace does not hold exactly one ranking per query",
                where=folder.path,
                hint="measure it anew",
            )
        order = found[np.argsort(row)]
    items = _column(trace, "items")
    lengths = _lengths(items)
    flat = np.asarray(pc.list_flatten(items), np.int32)
    width = int(lengths.max(initial=0))
    if np.all(lengths == width):
        hits = flat.reshape(len(lengths), width)
    else:
        hits = np.full((len(lengths), width), -1, np.int32)
        hits[np.arange(width) < lengths[:, None]] = flat
    failed = np.asarray(pc.is_valid(_column(trace, "error")))
    return hits[order], failed[order]


def _require_own_items(
    folder: RunFolder, hits: NDArray[np.int32], owner: _Ints, instance: _Ints
) -> None:
    """Every hit is an item of its own query's instance.

    The items of an instance stand in one piece, so that its ends say it all.
    """
    low = np.searchsorted(owner, instance, "left")[:, None]
    high = np.searchsorted(owner, instance, "right")[:, None]
    outside = (hits != -1) & ((hits < low) | (hits >= high))
    if np.any(np.diff(owner) < 0) or outside.any():
        raise FormatError(
            "the trace names an item that its instance does not have",
            where=folder.path,
            hint="measure it anew",
        )


def _gold(queries: pa.Table, rule: str, level: CreditLevel, instance: _Ints) -> Gold:
    """The anchors of each query under the population's rule; none for those it leaves out."""
    evidence = _column(queries, "evidence")
    flat = pc.list_flatten(evidence)
    at = np.flatnonzero(np.asarray(pc.equal(pc.struct_field(flat, "rule"), pa.scalar(rule))))
    if len(at) != len(evidence):
        raise FormatError(
            f"the run's queries lack evidence under the rule `{rule}`", hint="measure it anew"
        )
    reading = flat.take(pa.array(at))
    field = "sessions" if level == "session" else "turns"
    lists = pc.struct_field(reading, field)
    values = pc.list_flatten(lists)
    lengths = _lengths(lists)
    turns = level != "session"
    session = pc.struct_field(values, "session") if turns else values
    return Gold(
        offsets=_ends(lengths),
        instance=np.repeat(instance, lengths),
        session=np.asarray(session, np.int64),
        turn=np.asarray(pc.struct_field(values, "turn"), np.int64) if turns else None,
    )


def _reasons(
    queries: pa.Table, failed: NDArray[np.bool_], anchors: _Ints, level: CreditLevel
) -> tuple[_Ints, tuple[str, ...]]:
    """Why a query is not scored; the population's reason comes first, then a failed search."""
    words = pc.dictionary_encode(_column(queries, "excluded"))
    names = [*words.dictionary.to_pylist(), SEARCH_FAILED, f"no_{_anchor(level)}_gold"]
    reason = np.asarray(words.indices.fill_null(-1), np.int64).copy()
    open_ = reason < 0
    reason[open_ & (anchors == 0)] = len(names) - 1
    reason[open_ & failed] = len(names) - 2
    return reason, tuple(names)


def _anchor(level: CreditLevel) -> str:
    return "session" if level == "session" else "turn"
