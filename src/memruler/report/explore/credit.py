"""Which hits of a run earn credit, under every target and at every level; one bit a hit."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_places import places
from memruler.model.summary import Level
from memruler.scoring.failures import Filed
from memruler.scoring.load import RunArrays
from memruler.targets.eligible import Gold, descents, eligible
from memruler.targets.forms import NAMED

__all__ = ["SHOWN", "UNTOLD", "Credit", "credit_of"]

SHOWN: Final = ("raw", "source", "canonical")
"""The targets that a hit is shown under."""

UNTOLD: Final = "the system does not tell what it stores"

Credit = dict[tuple[str, Level], NDArray[np.bool_]]
"""Target and level to whether each hit earns credit [Q, L]."""


def credit_of(filed: Filed) -> Credit:
    """Look up every item that may earn credit among the hits of its query.

    `memruler.scoring.from_run` makes the same gold of the same evidence; what it scores is here
    asked of each hit.

    Args:
        filed: A run, whose evidence and lineage are read already.

    Returns:
        `canonical` is left out where the system does not tell what it stores.
    """
    run, forms = filed.run, filed.stored.forms
    known = filed.stored.exported
    levels: tuple[Level, ...] = ("session",) if filed.level == "session" else ("turn", "session")
    made: Credit = {}
    for level in levels:
        gold = filed.gold if level == filed.level else _gold(run)
        found = filed.anchors.pairs if level == filed.level else descents(gold, forms)
        owner = np.repeat(np.arange(len(run.hits)), np.diff(gold.offsets))
        ranks = places(run.hits, owner[found.anchor], found.item)
        for name in SHOWN if known else SHOWN[:2]:
            supports = eligible(NAMED[name], gold, forms, found, keep=not known, ranks=ranks)
            at = np.asarray(supports.ranks)
            there = at > 0
            earns = np.zeros(run.hits.shape, np.bool_)
            earns[supports.query_of_support()[there], at[there] - 1] = True
            made[name, level] = earns
    return made


def _gold(run: RunArrays) -> Gold:
    """The gold sessions of every query."""
    found = run.gold["session"]
    return Gold(
        offsets=found.offsets,
        instance=np.repeat(run.instance, found.lengths()),
        session=found.flat,
        turn=None,
    )
