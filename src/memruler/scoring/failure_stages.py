"""Where each gold turn of a run was lost, all anchors at once.

An anchor is in the context where any form that comes from it was given to the reader. Else:

* `ingest`: all that came from it was refused or evicted; or nothing of it is in a store that keeps
  what was said;
* `extraction`: the store keeps only what it made, and nothing that it made comes from the anchor;
* `graph`: only nodes come from it, and no edge or path, in a store that has such;
* `ranking`: it is stored, and was not given;
* `unknown`: the lineage does not tell.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.credit_places import places
from memruler.model.failures import STAGES, Stage
from memruler.targets.eligible import Descents, Forms, Gold
from memruler.targets.forms import VERBATIM

__all__ = ["HELD", "Anchors", "Stored", "earliest", "lost_at", "stage_code"]

_Ints = NDArray[np.int64]

HELD: Final = -1
"""Code of an anchor that the context holds a form of."""

_UNTOLD = "the system does not tell what it stores"
_SOURCELESS = "the store holds forms of which no source is known"


def stage_code(stage: Stage) -> int:
    """The place of a stage in `STAGES`."""
    return STAGES.index(stage)


class Stored(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The lineage of a run: N items.

    Attributes:
        forms: Where they come from.
        reason: Why an item is not in the store, as a place in `reasons`; -1 if it is [N].
        reasons: Names.
        exported: Whether these are all that the system ever held.
    """

    forms: Forms
    reason: NDArray[np.integer]
    reasons: tuple[str, ...]
    exported: bool


class Anchors(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What became of A anchors.

    Attributes:
        query: Row of the query of each [A].
        code: Place of its stage in `STAGES`, or `HELD` [A].
        rank: Best rank of a form of it among all hits; 0 where none was returned [A].
        lost: Why its forms are not in the store, as a place in `reasons`; -1 where none was
            lost [A].
        silent: For the unknown ones, whether that is since the system does not tell [A].
        pairs: Every anchor with every item that comes from it.
        verbatim: Of the pairs, those whose item is the anchor as it was said [D].
    """

    query: _Ints
    code: NDArray[np.int8]
    rank: _Ints
    lost: _Ints
    silent: bool
    pairs: Descents
    verbatim: NDArray[np.bool_]

    def why(self, anchor: int, stored: Stored, k: int) -> str | None:
        """One sentence about where an anchor was lost; None where it was not."""
        code = int(self.code[anchor])
        if code == HELD:
            return None
        lost, rank = int(self.lost[anchor]), int(self.rank[anchor])
        where = f"k is {k}" if rank > k else "not given to the reader"
        words = {
            "ingest": "nothing of it is stored" if lost < 0 else f"lost: {stored.reasons[lost]}",
            "extraction": "nothing that the store made comes from it",
            "graph": "only nodes come from it, and no edge or path",
            "ranking": f"stored, and at rank {rank}: {where}"
            if rank
            else "stored, and not among the hits",
            "unknown": _UNTOLD if self.silent else _SOURCELESS,
        }
        return words[STAGES[code]]


def lost_at(
    gold: Gold,
    stored: Stored,
    pairs: Descents,
    hits: NDArray[np.integer],
    given: NDArray[np.integer],
) -> Anchors:
    """File every anchor.

    Args:
        gold: The anchors of Q queries.
        stored: The lineage.
        pairs: Their descents.
        hits: All hits by rank [Q, L]; -1 is padding.
        given: What the reader was given, in any order [Q, W]; -1 is padding.
    """
    forms, number = stored.forms, int(gold.offsets[-1])
    query = np.repeat(np.arange(len(gold.offsets) - 1), np.diff(gold.offsets))
    anchor, item = pairs.anchor, pairs.item
    kept = stored.reason[item] < 0
    owner = query[anchor]
    ranks = places(hits, owner, item)
    held = _any(anchor[places(given, owner, item) > 0], number)
    there = _any(anchor[kept], number)
    node = np.array([kind == "node" for kind in forms.kinds], np.bool_)[forms.kind]
    other = _any(anchor[kept & ~node[item]], number)
    rank = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(rank, anchor[ranks > 0], ranks[ranks > 0])
    rank[rank == np.iinfo(np.int64).max] = 0
    lost = np.full(number, -1, np.int64)
    gone = np.flatnonzero(~kept)[::-1]  # the first one wins
    lost[anchor[gone]] = stored.reason[item[gone]]

    size = 1 + int(max(gold.instance.max(initial=0), forms.instance.max(initial=0)))
    alive = stored.reason < 0
    verbatim = np.array([kind in VERBATIM for kind in forms.kinds], np.bool_)[forms.kind]
    link = np.array([kind in {"edge", "path"} for kind in forms.kinds], np.bool_)[forms.kind]
    sourced = np.diff(forms.sources.session_offsets) > 0
    keeps = _any(forms.instance[verbatim & sourced], size)
    linked = _any(forms.instance[link & alive], size)
    doubtful = _any(forms.instance[alive & ~sourced], size)
    empty = ~_any(forms.instance, size)

    where = gold.instance
    code = np.select(
        [
            held,
            there & ~other & linked[where],
            there,
            lost >= 0,
            doubtful[where] | (not stored.exported),
            keeps[where] | empty[where],
        ],
        [
            HELD,
            *(stage_code(s) for s in ("graph", "ranking", "ingest", "unknown", "ingest")),
        ],
        stage_code("extraction"),
    )
    return Anchors(
        query=query,
        code=code.astype(np.int8),
        rank=rank,
        lost=lost,
        silent=not stored.exported,
        pairs=pairs,
        verbatim=pairs.exact & verbatim[item],
    )


def earliest(anchors: Anchors, queries: int) -> NDArray[np.int8]:
    """The stage of each query: the earliest among its missing anchors, or `HELD` [Q].

    An anchor of which nothing is known may have been lost anywhere, so only `ingest` can stand
    before it.
    """
    order = np.arange(len(STAGES), dtype=np.int64)
    # Just after ingest, with which the pipeline begins.
    order[1:] = np.arange(2, len(STAGES) + 1)
    order[stage_code("unknown")] = 1
    missing = anchors.code != HELD
    first = np.full(queries, len(STAGES) + 1)
    np.minimum.at(first, anchors.query[missing], order[anchors.code[missing]])
    back = np.full(len(STAGES) + 2, HELD, np.int8)
    back[order] = np.arange(len(STAGES))
    found: NDArray[np.int8] = back[first]
    return found


def _any(places_: NDArray[np.integer], number: int) -> NDArray[np.bool_]:
    return np.bincount(places_, minlength=number) > 0
