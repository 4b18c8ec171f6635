"""What must be said of a run before its credit is read: doubts, slips and oddities."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memruler.errors import Refusal
from memruler.model.run import Manifest
from memruler.scoring.traced import Notice
from memruler.targets.eligible import Descents, Forms, Gold
from memruler.targets.forms import Admits

__all__ = ["doubts", "of_hits", "of_no_kind", "one_draw"]


def one_draw(manifest: Manifest) -> Iterator[Notice]:
    """Whether a repetition gave the same rankings; otherwise no difference here is a fact."""
    probe = manifest.determinism
    if probe is None:
        yield Notice(kind="one-draw", what="instances were replayed again: not measured", count=0)
    elif probe.identical < probe.queries:
        yield Notice(
            kind="one-draw",
            what=f"of {probe.queries} queries ranked otherwise in fresh stores: every value here "
            "is one draw",
            count=probe.queries - probe.identical,
        )


def doubts(gold: Gold, forms: Forms, found: Descents, *, known: bool) -> Iterator[Notice]:
    """What is taken at its word, or cannot be known."""
    unnamed = np.array([kind == "unknown" for kind in forms.kinds], dtype=np.bool_)
    if unnamed.any():
        rows = found.item[found.exact & unnamed[forms.kind[found.item]]]
        used = np.zeros(len(forms.kind), dtype=np.bool_)
        used[rows] = True
        if used.any():
            yield Notice(
                kind="unknown-kind",
                what="items of which the system does not name the kind come from one gold turn or "
                "session alone: raw takes them for what was said",
                count=int(used.sum()),
            )
    if not known:
        bare = np.bincount(found.anchor, minlength=int(gold.offsets[-1])) == 0
        yield Notice(
            kind="silent-store",
            what="anchors of which no item is known: the system does not export its lineage, so "
            "they stay in as misses",
            count=int(bare.sum()),
        )


def of_no_kind(target: Admits, forms: Forms) -> Iterator[Notice]:
    """Whether a store has no item of a kind that a target admits: often a slip of the keyboard."""
    if not target.admits(forms.kinds).any():
        stored = ", ".join(sorted(forms.kinds)) or "none"
        yield Notice(
            kind="no-such-kind",
            what=f"target, {target.name}, admits no kind that is stored here: {stored}",
            count=1,
        )


def of_hits(
    hits: NDArray[np.int32], twice: NDArray[np.bool_], forms: Forms, counts: NDArray[np.bool_]
) -> tuple[Notice, ...]:
    """What is odd about the hits of the queries that count.

    Args:
        hits: Rows of the lineage by rank, -1 behind the end of a list [Q, L].
        twice: Which lists have an item twice [Q].
        forms: The stored items.
        counts: Which queries do [Q].

    Raises:
        Refusal: Items came back, and of none of them is a source known.
    """
    found = []
    if np.any(twice & counts):
        found.append(
            Notice(
                kind="item-twice",
                what="queries were answered with one item twice; it counts where it stands first",
                count=int((twice & counts).sum()),
            )
        )
    bare = np.diff(forms.sources.session_offsets) == 0
    if not bare.any():
        return tuple(found)
    # One entry more: the row -1 of short lists falls there.
    used = np.zeros(len(forms.kind) + 1, dtype=np.bool_)
    used[hits if counts.all() else hits[counts]] = True
    unknown = int((used[:-1] & bare).sum())
    if 0 < unknown == int(used[:-1].sum()):
        raise Refusal(
            [f"none of {unknown} returned items comes from a turn or session that is known"],
            hint="a zero would say that they all missed; tell where they come from: --lineage FILE",
        )
    if unknown:
        found.append(
            Notice(
                kind="unknown-source",
                what="returned items come from nowhere that is known, and never earn credit",
                count=unknown,
            )
        )
    return tuple(found)
