"""From a stored item to the one id it earns credit for, at a level.

An item is credited only where its origin is beyond doubt:

* at turn level if it comes from exactly one turn;
* at session level if all its sources lie in exactly one session;
* otherwise it is unattributed at that level. Crediting a summary of ten sessions for each of them
  would let one vague item answer every question.

`credit` is the definition for one item; `item_codes` does the same for a whole lineage.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.model.summary import Level

__all__ = [
    "PADDING",
    "TARGETS",
    "UNATTRIBUTED",
    "ItemSources",
    "credit",
    "item_codes",
    "session_code",
    "turn_code",
    "turn_codes",
]

UNATTRIBUTED: Final = -1
"""Code of an item or hit that earns no credit at a level."""

PADDING: Final = -2
"""Fills the rows of a matrix of codes beyond the end of their lists."""

_TURN_BITS: Final = 32
_SESSION_LIMIT: Final = 2**31  # keeps session << 32 within a signed 64-bit number

# Which kinds of item a target admits. Raw: what was said, stored as it was said; a system that
# names no kind but names one of our units as the only source is taken at its word.
_ADMITS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"raw": frozenset({"turn", "session", "unknown"})}
)

TARGETS: Final = tuple(_ADMITS)
"""Names of the targets."""


def session_code(session: int) -> int:
    """Credit id of a session, unique within its instance: its position.

    Raises:
        ValueError: The position is negative or not below 2**31.
    """
    if not 0 <= session < _SESSION_LIMIT:
        raise ValueError(f"{session} is not the position of a session")
    return session


def turn_code(session: int, turn: int) -> int:
    """Credit id of a turn, unique within its instance: `session << 32 | turn`.

    Raises:
        ValueError: A position is negative or too large (sessions 2**31, turns 2**32).
    """
    if not 0 <= turn < 2**_TURN_BITS:
        raise ValueError(f"{turn} is not the position of a turn")
    return session_code(session) << _TURN_BITS | turn


def turn_codes(sessions: NDArray[np.integer], turns: NDArray[np.integer]) -> NDArray[np.int64]:
    """`turn_code` of many turns; both arrays have the same shape.

    Raises:
        ValueError: A position is negative or too large.
    """
    sessions, turns = sessions.astype(np.int64), turns.astype(np.int64)
    if np.any((sessions < 0) | (sessions >= _SESSION_LIMIT) | (turns < 0) | (turns >> _TURN_BITS)):
        raise ValueError("a position is negative or too large for a code")
    return sessions << _TURN_BITS | turns


def credit(
    level: Level,
    kind: str,
    sessions: Iterable[int],
    turns: Iterable[tuple[int, int]],
    target: str = "raw",
) -> int:
    """The code that one item earns credit for; the definition.

    Args:
        level: What a rank is a rank of.
        kind: The item's kind.
        sessions: Positions of the sessions it comes from; repeats do not matter.
        turns: `(session, turn)` of the turns it comes from; none for a whole session.
        target: The rule for which kinds earn credit, one of `TARGETS`.

    Returns:
        A session or turn code, or `UNATTRIBUTED`.

    Raises:
        UsageError: There is no such target.
        ValueError: A position is negative or too large.
    """
    distinct = set(turns)
    origins = {*sessions, *(session for session, _ in distinct)}
    if kind not in _admits(target) or len(origins) != 1:
        return UNATTRIBUTED
    if level == "session":
        return session_code(origins.pop())
    return turn_code(*distinct.pop()) if len(distinct) == 1 else UNATTRIBUTED


@dataclass(frozen=True, eq=False)
class ItemSources:
    """The sources of N items, flat: item i owns `flat[offsets[i]:offsets[i + 1]]`.

    Attributes:
        session_offsets: [N + 1], from 0 up to the length of `sessions`.
        sessions: Positions of source sessions.
        turn_offsets: [N + 1], from 0 up to the length of `turn_sessions`.
        turn_sessions: Session positions of source turns.
        turn_turns: Their positions in those sessions.
    """

    session_offsets: NDArray[np.integer]
    sessions: NDArray[np.integer]
    turn_offsets: NDArray[np.integer]
    turn_sessions: NDArray[np.integer]
    turn_turns: NDArray[np.integer]


def item_codes(
    level: Level, kinds: Sequence[str], sources: ItemSources, target: str = "raw"
) -> NDArray[np.int64]:
    """`credit` of every item of a lineage.

    Args:
        level: What a rank is a rank of.
        kinds: The kind of each of the N items.
        sources: Where they come from.
        target: The rule for which kinds earn credit, one of `TARGETS`.

    Returns:
        [N], session or turn codes, or `UNATTRIBUTED`.

    Raises:
        UsageError: There is no such target.
        ValueError: A position is negative or too large, or the arrays do not fit together.
    """
    admits = _admits(target)
    admitted = np.fromiter((kind in admits for kind in kinds), np.bool_, len(kinds))
    turns = turn_codes(sources.turn_sessions, sources.turn_turns)
    # A code for turn 0 of a session checks its position, and shifting it back gives it again.
    sessions = turn_codes(sources.sessions, np.zeros_like(sources.sessions))

    low_turn, high_turn = _extremes(turns, sources.turn_offsets, len(kinds))
    low, high = _extremes(sessions, sources.session_offsets, len(kinds))
    low = np.minimum(low, low_turn) >> _TURN_BITS
    high = np.maximum(high, high_turn) >> _TURN_BITS
    certain = admitted & (low == high)
    if level == "session":
        return np.where(certain, high, UNATTRIBUTED)
    return np.where(certain & (low_turn == high_turn), high_turn, UNATTRIBUTED)


def _extremes(
    values: NDArray[np.int64], offsets: NDArray[np.integer], items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest value of each item; equal only for one distinct value."""
    if (
        len(offsets) != items + 1
        or offsets[0] != 0
        or offsets[-1] != len(values)
        or np.any(np.diff(offsets) < 0)
    ):
        raise ValueError("offsets do not fit the items or the values")
    low = np.full(items, np.iinfo(np.int64).max)
    high = np.full(items, -1)
    # Without the empty items, each start ends the item before it, as reduceat needs.
    filled = np.flatnonzero(np.diff(offsets))
    low[filled] = np.minimum.reduceat(values, offsets[filled])
    high[filled] = np.maximum.reduceat(values, offsets[filled])
    return low, high


def _admits(target: str) -> frozenset[str]:
    if target not in _ADMITS:
        raise UsageError(f"unknown target '{target}'", hint=f"known: {', '.join(TARGETS)}")
    return _ADMITS[target]
