"""Who wins under each target, and which systems change places."""

from typing import Literal

import msgspec

__all__ = ["CategoryWinners", "Choice", "Recommendation", "SystemGap", "TargetGap"]


class TargetGap(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems under one target.

    Attributes:
        target: Its name.
        gap: The mean of `b` minus that of `a`.
        winner: The one with the higher mean; None for a tie.
    """

    target: str
    gap: float
    winner: str | None


class SystemGap(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems on one metric, under every target.

    Attributes:
        a, b: The two systems.
        metric, k: Which mean.
        gaps: One a target.
        flips: Pairs of targets under which different ones of the two win. A tie flips nothing.
        ties: Targets under which neither wins, where one does under another target.
    """

    a: str
    b: str
    metric: str
    k: int
    gaps: tuple[TargetGap, ...]
    flips: tuple[tuple[str, str], ...]
    ties: tuple[str, ...]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What one would choose under one target.

    Attributes:
        target: Its name.
        winners: The systems with the highest mean; several where they tie.
        value: That mean.
        means: System to its mean.
        gap: What decides: the mean of the winner minus the next one; None for a tie, and where
            there is only one system.
    """

    target: str
    winners: tuple[str, ...]
    value: float
    means: dict[str, float]
    gap: float | None


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """Which system wins on one metric, under each target.

    Attributes:
        metric, k: Which mean.
        outcome: `same`: the same system under every target (or the same that tie). `tied`: not
            so, but one system is among the winners under every target. `changed`: none is.
        choices: One a target.
    """

    metric: str
    k: int
    outcome: Literal["same", "tied", "changed"]
    choices: tuple[Choice, ...]


class CategoryWinners(msgspec.Struct, frozen=True, kw_only=True):
    """The queries of one category.

    Attributes:
        name: Its name.
        queries: Those of the shared population.
        recommendations: Every metric and cut-off.
        flips: The pairs of systems that flip somewhere; the others do not.
    """

    name: str
    queries: int
    recommendations: tuple[Recommendation, ...]
    flips: tuple[SystemGap, ...]
