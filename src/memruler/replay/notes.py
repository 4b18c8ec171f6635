"""Sentences that stand beside the numbers of a run."""

import math
from collections.abc import Mapping
from typing import Any

from memruler.model.run import Determinism
from memruler.model.system import MemorySystem, SystemIdentity, TellsQuietReads
from memruler.replay.forms import Forms
from memruler.replay.lineage import AMBIGUOUS
from memruler.replay.settings import RunSettings
from memruler.replay.tally import Tally

__all__ = ["decay_sentence", "lineage_warnings", "reads_sentence", "run_notes", "run_warnings"]

_WAYS = {
    "reported": "by the sources that the system reported",
    "id": "by their id",
    "text": "by their text",
    "unknown": "unknown",
}
_FORMS = {"observations": "observations", "summaries": "session summaries"}


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
    floor, cap = float(settings.get("decay_floor", 0)), float(settings.get("decay_cap", 1))
    low = min(max(math.exp(-rate * span[1]), floor), cap)
    sentence = f"decay exp(-{rate:g} x days): factor {low:.3g} across the longest span"
    if floor > 0 or cap != 1:
        sentence += f", clamped to {floor:g}..{cap:g}"
    if settings.get("decay_tags"):
        sentence += "; items with these tags decay by their own rate: " + ", ".join(
            sorted(settings["decay_tags"])
        )
    if timeline == "literal":
        sentence += ", on top of the days that have passed since"
    return sentence


def reads_sentence(system: MemorySystem) -> str | None:
    """Whether being measured can have changed a memory; None where a search changes nothing."""
    if not isinstance(system, TellsQuietReads):
        return None
    quiet = system.quiet_reads()
    if quiet is not None:
        return f"searches do not reinforce what they read, says its file: {quiet}"
    return (
        "nothing tells this memory that a search only measures: `memruler systems check` says "
        "whether a search changes the next ranking"
    )


def run_notes(
    system: MemorySystem,
    identity: SystemIdentity,
    settings: RunSettings,
    span: tuple[float, float] | None,
) -> tuple[str, ...]:
    """What explains the numbers of a run."""
    told = (decay_sentence(identity.settings, settings.timeline, span), reads_sentence(system))
    return tuple(sentence for sentence in told if sentence is not None)


def lineage_warnings(tally: Tally, forms: Forms) -> tuple[str, ...]:
    """What must be known of the store: whether it was given more than turns, and how it is known.

    Args:
        tally: What was counted.
        forms: What the run gives of the corpus.
    """
    found: list[str] = []
    own = [f"{tally.counts[form]:,} {_FORMS[form]}" for form in forms if form in _FORMS]
    if own:
        turns = "" if "turns" in forms else ", and no turns"
        found.append(f"the store was given the data set's own {' and '.join(own)}{turns}")
    if tally.rootless:
        found.append(
            f"the evidence of {tally.rootless:,} of these is no turn of their session: where they "
            "come from is unknown"
        )
    return (*found, *_attribution(tally.attribution))


def _attribution(counts: Mapping[str, int]) -> tuple[str, ...]:
    """How the sources of the items became known; nothing to say where all were reported."""
    met = {way: f"{counts[way]:,} {what}" for way, what in _WAYS.items() if counts.get(way)}
    if not met.keys() - {"reported"}:
        return ()
    several = counts.get(AMBIGUOUS, 0)
    why = f" ({several:,} have the text of two or more units)" if several else ""
    return (f"attribution of stored items: {', '.join(met.values())}{why}",)


def run_warnings(
    tally: Tally, determinism: Determinism | None, doubt: str | None
) -> tuple[str, ...]:
    """What puts the numbers of a run in doubt.

    Args:
        tally: What was counted.
        determinism: As measured; None when that failed.
        doubt: Why it failed.
    """
    found: list[str] = []
    if determinism is None:
        found.append(f"determinism could not be measured: {doubt}")
    elif determinism.identical < determinism.queries:
        different = determinism.queries - determinism.identical
        found.append(
            f"not deterministic: {different} of {determinism.queries} queries ranked differently "
            "in a fresh store and another process; a single run is one draw (a usual cause: the "
            "order of a Python set of strings, which differs in each process; sort before adding)"
        )
    if tally.failed:
        kinds = ", ".join(f"{number} {kind}" for kind, number in tally.kinds.most_common())
        found.append(
            f"{tally.failed} of {tally.searched} searches failed ({kinds}): they are in "
            "no mean, and misses in the means over all queries"
        )
    if tally.said["answer_failed"]:
        found.append(
            f"the system's own answer failed at {tally.said['answer_failed']} of {tally.searched} "
            "queries; its rankings stand all the same"
        )
    if tally.cut:
        found.append(
            f"{tally.cut:,} units were cut on their way into the memory; they hold evidence of "
            f"{tally.out_of_reach:,} queries, part of which was out of reach"
        )
    if tally.left:
        found.append(f"{len(tally.left):,} namespaces may not be gone; one: {tally.left[0]}")
    return tuple(found)
