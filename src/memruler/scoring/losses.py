"""What a store refused or evicted, and which gold went with it."""

import numpy as np
from numpy.typing import NDArray

from memruler.model.summary import Level, StoreCounts
from memruler.scoring.load import Items, RunArrays
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["store_counts"]

_Pair = tuple[int, int]


def store_counts(
    folder: RunFolder, run: RunArrays, measured: NDArray[np.bool_], level: Level
) -> StoreCounts:
    """Count items kept and lost, and the gold that was lost with them.

    Args:
        folder: A sealed run folder.
        run: The same run as arrays.
        measured: Which queries count [Q].
        level: The finest level of the run: what gold is counted in.
    """
    items = run.items
    gone = _gone(items, level)
    lost: dict[_Pair, str] = {}
    hurt = 0
    gold = run.gold[level]
    for row in np.flatnonzero(measured) if gone else ():
        instance = int(run.instance[row])
        codes = gold.flat[gold.offsets[row] : gold.offsets[row + 1]].tolist()
        missing = {(instance, code) for code in codes} & gone.keys()
        hurt += bool(missing)
        lost.update((pair, gone[pair]) for pair in missing)
    ingest = read_table(folder, "ingest", columns=["truncated"]).column(0)
    return StoreCounts(
        stored=int((items.reason < 0).sum()),
        lost={name: int((items.reason == i).sum()) for name, i in _by_name(items.reasons)},
        lost_gold={
            name: number
            for name, _ in _by_name(items.reasons)
            if (number := sum(reason == name for reason in lost.values()))
        },
        queries_hurt=hurt,
        known=run.manifest.lineage_exported,
        truncated=None if ingest.null_count else int(np.sum(np.asarray(ingest))),
    )


def _by_name(reasons: tuple[str, ...]) -> list[tuple[str, int]]:
    return sorted((name, place) for place, name in enumerate(reasons))


def _gone(items: Items, level: Level) -> dict[_Pair, str]:
    """`(instance, code)` to the first reason, for codes of which no stored item is left."""
    codes = items.codes[level]
    lost = np.flatnonzero((items.reason >= 0) & (codes >= 0))
    # Only instances that lost something are looked at again.
    inside = np.isin(items.instance, np.unique(items.instance[lost]))
    stored = np.flatnonzero(inside & (items.reason < 0))
    alive = set(zip(items.instance[stored].tolist(), codes[stored].tolist(), strict=True))
    gone: dict[_Pair, str] = {}
    for row in lost.tolist():
        pair = (int(items.instance[row]), int(codes[row]))
        if pair not in alive:
            gone.setdefault(pair, items.reasons[items.reason[row]])
    return gone
