"""Targets by name: which kinds of stored items may earn credit.

* `raw`: only what was said, stored as it was said, and only where it comes from exactly the anchor.
* `source`: everything that comes from the anchor, whatever else it also comes from.
* `canonical`: of that, only the transformed forms: facts, summaries, timelines, nodes, ...
* `node`, `edge`, `path`: of that, only this kind.
* `kind:fact`, `kind:summary+timeline`: of that, only the kinds named.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError

__all__ = [
    "NAMED",
    "VERBATIM",
    "Admits",
    "Composes",
    "Grades",
    "StoredForm",
    "named_target",
    "transformed",
]

VERBATIM: Final = frozenset({"turn", "session", "unknown"})
"""Kinds that hold what was said as it was said. A system that names no kind, but one of our units
as the only source, is taken at its word."""

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")


def transformed(kind: str) -> bool:
    """Whether a kind is a form that a system made out of what was said."""
    return kind not in VERBATIM


class Admits(msgspec.Struct, frozen=True):
    """A target by kinds.

    Attributes:
        name: As typed and printed.
        rule: Whether a kind is admitted.
        exact: Whether the item must come from the anchor and from nothing else.
    """

    name: str
    rule: Callable[[str], bool]
    exact: bool = False

    def admits(self, kinds: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the kinds may earn credit."""
        return np.array([self.rule(kind) for kind in kinds], dtype=np.bool_)


NAMED: Final = {
    target.name: target
    for target in (
        Admits("raw", lambda kind: kind in VERBATIM, exact=True),
        Admits("source", lambda kind: True),  # noqa: ARG005 - whatever it is
        Admits("canonical", transformed),
        *(Admits(kind, kind.__eq__) for kind in ("node", "edge", "path")),
    )
}
"""The targets that have a name of their own."""


def named_target(name: str) -> Admits | None:
    """The target of a name or of `kind:A+B`; None for what looks like a plug-in.

    Raises:
        UsageError: `kind:` is followed by something that is no kind.
    """
    if name in NAMED:
        return NAMED[name]
    head, colon, listed = name.partition(":")
    if head != "kind" or not colon:
        return None
    kinds = frozenset(listed.split("+"))
    bad = sorted(kind for kind in kinds if not _KIND.fullmatch(kind))
    if bad:
        raise UsageError(
            f"'{bad[0]}' is not a kind of stored item",
            where=name,
            hint="write kind:fact or kind:fact+summary",
        )
    return Admits("kind:" + "+".join(sorted(kinds)), lambda kind: kind in kinds)


class StoredForm(msgspec.Struct, frozen=True, kw_only=True):
    """What a target plug-in is told about an item that comes from an anchor.

    Attributes:
        id: The system's own id; empty for an item that only a lineage file names.
        kind: As the system calls it.
        sessions: Positions of the sessions it comes from.
        turns: `(session, turn)` positions; empty for whole sessions.
        text: What is stored; None when not known.
    """

    id: str
    kind: str
    sessions: tuple[int, ...]
    turns: tuple[tuple[int, int], ...]
    text: str | None


@runtime_checkable
class Grades(Protocol):
    """A target of one's own. Plain functions of what is stored: never of questions or answers."""

    name: str

    def grade(self, form: StoredForm, session: int, turn: int | None) -> float:
        """How far an item supports an anchor that it comes from.

        Args:
            form: The item.
            session: The anchor's session position.
            turn: Its turn position; None at session level.

        Returns:
            0 for not at all, 1 for fully.
        """


@runtime_checkable
class Composes(Protocol):
    """A target that also credits items which support an anchor only together."""

    def sets(
        self, forms: Sequence[StoredForm], session: int, turn: int | None
    ) -> Sequence[Sequence[int]]:
        """Sets of at least two places in `forms`, all of which come from the anchor."""
