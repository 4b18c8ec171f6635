"""Targets of one's own: how far each item supports the anchor that it comes from."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.model.credit import Supports
from memruler.store.folder import RunFolder
from memruler.store.tables import batches
from memruler.targets.eligible import Descents, Forms, Gold
from memruler.targets.forms import Composes, Grades, StoredForm

__all__ = ["OwnTarget", "graded"]

_PAIR = 2
_HINT = "docs/targets.md has an example"


class _GradesAndComposes(Grades, Composes, Protocol):
    """A target that always has sets, if only none."""


class OwnTarget(msgspec.Struct, frozen=True):
    """A target that a file or a package declares.

    Attributes:
        name: As printed.
        grades: Asks it; plain numbers come back, or a UsageError.
        source: Its file, for messages.
        digest: SHA-256 of that file.
        aside: Inside it, what the target prints is kept apart from the scores.
    """

    name: str
    grades: _GradesAndComposes
    source: str
    digest: str
    aside: AbstractContextManager[None]


def graded(
    target: OwnTarget, gold: Gold, folder: RunFolder, stored: Forms, found: Descents
) -> Supports:
    """The gold of every query under a target of one's own.

    It is asked once for each pair of an anchor and an item that comes from it. Pairs of grade 0
    are no support; anchors without a support are left out.

    Args:
        target: The target.
        gold: The anchors.
        folder: The run, for ids and texts.
        stored: Its items.
        found: The pairs.

    Raises:
        UsageError: The target's code failed, or gave what is no grade or no set.
    """
    forms = _forms(folder, stored, np.unique(found.item))
    starts = np.flatnonzero(np.diff(found.anchor, prepend=-1))
    ends = np.append(starts[1:], len(found.anchor))
    supports: list[tuple[float, list[int]]] = []
    sizes = np.zeros(int(gold.offsets[-1]), np.int64)
    with target.aside:
        for lo, hi in zip(starts.tolist(), ends.tolist(), strict=True):
            anchor = int(found.anchor[lo])
            rows = found.item[lo:hi].tolist()
            place = (
                int(gold.session[anchor]),
                None if gold.turn is None else int(gold.turn[anchor]),
            )
            mine = _supports(target, rows, [forms[row] for row in rows], place)
            sizes[anchor] = len(mine)
            supports += mine
    of = np.diff(gold.offsets).astype(np.int64)
    query_of = np.repeat(np.arange(len(of)), of)
    return Supports(
        target=target.name,
        of=of,
        anchor_offsets=_ends(np.bincount(query_of[sizes > 0], minlength=len(of))),
        support_offsets=_ends(sizes[sizes > 0]),
        items=np.array([row for _, rows in supports for row in rows], np.int64),
        grades=np.array([grade for grade, _ in supports], np.float64),
        set_offsets=_ends(np.array([len(rows) for _, rows in supports], np.int64))
        if any(len(rows) > 1 for _, rows in supports)
        else None,
        place=np.flatnonzero(sizes),
    )


def _ends(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _supports(
    target: OwnTarget, rows: list[int], forms: list[StoredForm], place: tuple[int, int | None]
) -> list[tuple[float, list[int]]]:
    found: list[tuple[float, list[int]]] = []
    for row, form in zip(rows, forms, strict=True):
        grade = target.grades.grade(form, *place)
        if not 0 <= grade <= 1:  # NaN too
            raise _wrong(target, f"grade gave {grade!r}, which is not from 0 to 1")
        if grade:
            found.append((grade, [row]))
    for one in target.grades.sets(forms, *place):
        if len(set(one)) < _PAIR or not all(0 <= at < len(rows) for at in one):
            raise _wrong(target, f"sets gave {one!r}: not two or more places of the forms")
        found.append((1.0, [rows[at] for at in sorted(set(one))]))
    return found


def _wrong(target: OwnTarget, what: str) -> UsageError:
    return UsageError(f"the target {target.name} failed: {what}", where=target.source, hint=_HINT)


def _forms(folder: RunFolder, stored: Forms, rows: NDArray[np.int64]) -> dict[int, StoredForm]:
    """What the target is told of some items; those that the run has never seen have no text."""
    told: dict[int, dict[str, Any]] = {}
    start = 0
    for batch in batches(folder, "lineage", columns=["id", "text"]):
        here = rows[(rows >= start) & (rows < start + batch.num_rows)]
        told.update(zip(here.tolist(), batch.take(here - start).to_pylist(), strict=True))
        start += batch.num_rows
    forms = {}
    for row in rows.tolist():
        sessions, turns = stored.origin(row)
        forms[row] = StoredForm(
            kind=stored.kinds[stored.kind[row]],
            sessions=sessions,
            turns=turns,
            **told.get(row, {"id": "", "text": None}),
        )
    return forms
