"""What a check against a baseline says: the record that reports, scripts and CI read."""

from typing import Literal

import msgspec

from memruler.compare.gate import Gate
from memruler.compare.record import Comparison, Difference, Refused, Verdict

__all__ = ["SCHEMA_VERSION", "BaselineCheck", "Figures", "Outcome", "exit_code"]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""

Outcome = Literal["unchanged", "moved", "unresolved", "incomparable", "broken", "no-baseline"]
"""`unchanged`, `moved`: of facts, or of draws that an interval tells apart; `unresolved`: it
cannot; `incomparable`: a difference would not mean what it looks like; `broken`: the instrument
is; `no-baseline`: none was accepted yet."""

_CODES: dict[Outcome, int] = {"broken": 3, "incomparable": 4, "no-baseline": 2}


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The headline of both sides over the same queries.

    Attributes:
        metric: Such as `recall_all@5`.
        level: What a rank is a rank of: `session` or `turn`.
        base, candidate: The two means.
        delta: Mean of the paired differences.
        counted: Queries that the three are over.
        wins, losses: Queries with a higher and a lower value in the candidate.
    """

    metric: str
    level: str
    base: float
    candidate: float
    delta: float
    counted: int
    wins: int
    losses: int


class BaselineCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A run held against the accepted baseline.

    Attributes:
        outcome: See `Outcome`. A score that moved is no fault.
        verdict: Which way; None where nothing was compared, or nothing can be said.
        baseline: What the baseline is called: the run that it was made from.
        run: The run folder's name.
        accepted: SHA-256 of the baseline's list of checksums; None where there is none.
        code: memruler's exit code for it: 0, 2 (no baseline), 3 (broken) or 4 (incomparable).
        figures: None where nothing was compared.
        changed: What differs between the two fingerprints and was allowed to.
        exact: The comparison of two deterministic runs, without the questions' texts.
        interval: The decision of two runs of which one is a draw.
        refused: Why they do not compare.
        broken: What broke, in one line.
        notes: What a reader must know, one sentence each.
    """

    outcome: Outcome
    verdict: Verdict | None
    baseline: str
    run: str
    accepted: str | None
    code: int
    figures: Figures | None = None
    changed: tuple[Difference, ...] = ()
    exact: Comparison | None = None
    interval: Gate | None = None
    refused: Refused | None = None
    broken: str | None = None
    notes: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION


def exit_code(outcome: Outcome) -> int:
    """The exit code of an outcome; 0 for every one in which the instrument is sound."""
    return _CODES.get(outcome, 0)
