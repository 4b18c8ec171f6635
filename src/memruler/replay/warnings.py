"""Sentences that a reader of a run must see beside its numbers."""

import math
from typing import Any

from memruler.model.run import Determinism
from memruler.model.system import SystemIdentity
from memruler.replay.settings import RunSettings

__all__ = ["decay_sentence", "run_warnings"]


def decay_sentence(
    settings: dict[str, Any], timeline: str, span: tuple[float, float] | None
) -> str | None:
    """How far dates can have mattered; None for a system without a decay setting.

    Args:
        settings: The system's settings in force.
        timeline: The run's timeline.
        span: Shortest and longest span of an instance in days.
    """
    if "decay" not in settings or "decay_rate" not in settings:
        return None
    if not settings["decay"]:
        return "decay is off: dates do not touch a score"
    if timeline == "now":
        return "decay is neutral on the timeline `now`: every age is 0, its factor is 1"
    if span is None:
        return "decay is on but nothing is dated: its factor is 1"
    rate = float(settings["decay_rate"])
    low = math.exp(-rate * span[1])
    sentence = f"decay exp(-{rate:g} x days): factor {low:.3g} across the longest span"
    if timeline == "literal":
        sentence += ", on top of the days that have passed since"
    return sentence


def run_warnings(
    identity: SystemIdentity,
    settings: RunSettings,
    span: tuple[float, float] | None,
    determinism: Determinism,
) -> tuple[str, ...]:
    """The warnings of a sealed run, in order of weight."""
    found: list[str] = []
    if determinism.identical < determinism.queries:
        found.append(
            f"not deterministic: {determinism.queries - determinism.identical} of "
            f"{determinism.queries} queries ranked differently in a second fresh store; "
            "a single run is one draw"
        )
    decay = decay_sentence(identity.settings, settings.timeline, span)
    if decay is not None:
        found.append(decay)
    if settings.granularity == "session":
        found.append("a session is one item: there is no turn level")
    return tuple(found)
