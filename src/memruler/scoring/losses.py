"""What a store refused or evicted, and which gold turns went with it."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from memruler.model.summary import StoreCounts
from memruler.scoring.load import RunArrays

__all__ = ["store_counts"]


def store_counts(run: RunArrays, measured: NDArray[np.bool_]) -> StoreCounts:
    """Count items kept and lost, and the gold that was lost with them.

    A gold turn is lost when every item that came from it was refused or evicted; its reason is
    that of the first such item.

    Args:
        run: A sealed run.
        measured: Which queries count [Q].
    """
    kept = run.item_status == "stored"
    reasons = [reason or "unknown" for reason in run.item_reason[~kept]]
    gone = _gone(run, kept)
    lost_gold: Counter[str] = Counter()
    hurt = 0
    counted: set[tuple[int, int]] = set()
    offsets, flat = run.gold_turns.offsets, run.gold_turns.flat
    for row in np.flatnonzero(measured) if gone else ():
        instance = int(run.instance[row])
        keys = {(instance, int(turn)) for turn in flat[offsets[row] : offsets[row + 1]]}
        missing = keys & gone.keys()
        hurt += bool(missing)
        for key in missing - counted:
            lost_gold[gone[key]] += 1
        counted |= missing
    return StoreCounts(
        stored=int(kept.sum()),
        lost=dict(sorted(Counter(reasons).items())),
        lost_gold=dict(sorted(lost_gold.items())),
        queries_hurt=hurt,
        known=run.manifest.lineage_exported,
    )


def _gone(run: RunArrays, kept: NDArray[np.bool_]) -> dict[tuple[int, int], str]:
    """`(instance, turn code)` to the reason, for turns of which no stored item is left."""
    if kept.all():
        return {}
    lengths = run.item_turns.lengths()
    owner = np.repeat(np.arange(len(kept)), lengths)
    alive: set[tuple[int, int]] = set()
    gone: dict[tuple[int, int], str] = {}
    instances = run.item_instance[owner].tolist()
    for item, instance, turn in zip(
        owner.tolist(), instances, run.item_turns.flat.tolist(), strict=True
    ):
        if kept[item]:
            alive.add((instance, turn))
        else:
            gone.setdefault((instance, turn), run.item_reason[item] or "unknown")
    return {key: reason for key, reason in gone.items() if key not in alive}
