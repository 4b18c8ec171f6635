"""What a check against a baseline comes to, in one plain sentence; the caller escapes it."""

from memruler.report import numbers
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["TITLES", "headline", "title"]

TITLES = {
    "better": "better",
    "worse": "worse",
    "unchanged": "unchanged",
    "unresolved": "cannot be told",
    "incomparable": "NOT COMPARABLE",
    "broken": "THE INSTRUMENT IS BROKEN",
    "no-baseline": "no baseline yet",
    "moved": "single questions moved",
}
"""What a verdict, or an outcome without one, is called."""


def title(check: BaselineCheck) -> str:
    """The shortest form: the verdict, or why there is none."""
    if check.outcome == "moved" and check.verdict == "unchanged":
        return TITLES["moved"]
    return TITLES[check.verdict or check.outcome]


def headline(check: BaselineCheck) -> str:
    """The headline with its denominator, or what stands in its place."""
    figures = check.figures
    if check.broken is not None:
        return check.broken
    if check.refused is not None and check.refused.reasons:
        first, *others = check.refused.reasons
        return first.what + (f" (and {len(others)} more reasons)" if others else "")
    if figures is None:
        return "; ".join(check.notes)
    interval = check.interval.interval if check.interval else None
    said = "exact" if interval is None else f"95 % interval {interval.low:+.4f} to "
    return (
        f"{figures.metric} at the {figures.level} level {numbers.mean(figures.base)} -> "
        f"{numbers.mean(figures.candidate)} ({numbers.delta(figures.delta)}, {said}"
        f"{'' if interval is None else f'{interval.high:+.4f}'}) over {figures.counted} queries; "
        f"better {figures.wins}, worse {figures.losses}"
    )
