"""What a memory's own test suite asserts: the candidate is no worse than the baseline.

Each way not to pass is an exception of its own, and all of them are failures of a test: nothing
that could not be decided passes, and nothing is skipped.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pytest loads this at its start, and should not wait for numpy
    from memruler.compare.load import LoadedRun
    from memruler.studies.baseline_record import BaselineCheck

__all__ = ["NotComparable", "Regressed", "Unresolved", "assert_no_regression"]

_ROUNDING = 1e-12
"""What adding floats may have moved a mean by."""

_SHOWN = 10


class Regressed(AssertionError):  # noqa: N818 - a test's result, not a fault
    """The candidate is worse than it may be."""


class Unresolved(AssertionError):  # noqa: N818 - a test's result, not a fault
    """One of the two is a draw, and the interval holds the threshold: nobody can tell."""


class NotComparable(AssertionError):  # noqa: N818 - a test's result, not a fault
    """The difference would not mean what it looks like; the message gives every reason."""


def assert_no_regression(
    baseline: str | Path,
    candidate: str | Path,
    *,
    metric: str | None = None,
    min_delta: float = 0.0,
    changed: Sequence[str] = (),
) -> "BaselineCheck":
    """Assert that the candidate is at least as good as the baseline.

    Between two deterministic runs the difference is a fact and must be at least `min_delta`. Where
    one of them is a draw, the whole 95 % interval of the paired difference must lie above it; an
    interval around nought holds 0, so that a `min_delta` of 0 asks for an improvement there.

    Args:
        baseline: The folder of an accepted baseline, or a run folder.
        candidate: A run folder.
        metric: The metric that decides, such as `ndcg@10`; None for `recall_all@5`, or the deepest
            cut-off where there is no 5.
        min_delta: The least difference that passes, in the metric's own unit: 0.0 for no loss at
            all, -0.02 for at most two percentage points. Finite.
        changed: What is under test beside the system's version, digest and settings: keys of the
            fingerprint. The embedder cannot be.

    Returns:
        What was found.

    Raises:
        Regressed: The candidate is worse than that.
        Unresolved: It cannot be told.
        NotComparable: The two must not be compared.
        InstrumentError: A run did not finish, is damaged, or a stand-in took part.
        UsageError: A path, a metric or a key is unknown.
    """
    # Late: see above.
    from math import isfinite  # noqa: PLC0415

    from memruler.compare.refusal import Incomparable  # noqa: PLC0415
    from memruler.errors import UsageError  # noqa: PLC0415
    from memruler.report.baseline_words import headline  # noqa: PLC0415
    from memruler.studies.baseline_check import against, sound_run  # noqa: PLC0415

    if not isfinite(min_delta):
        raise UsageError("min_delta is no number", where=min_delta, hint="such as -0.02")
    other = sound_run(Path(candidate))
    base = _base(Path(baseline), other)
    try:
        found = against(base, other, changed=changed, metric=metric, threshold=min_delta)
    except Incomparable as refusal:
        lines = [f"  {r.what}; {r.hint}" for r in refusal.record.reasons]
        raise NotComparable("\n".join([f"{base.name} against {other.name}:", *lines])) from None
    said = f"{headline(found)}; at least {min_delta:+g} was asked for"
    figures = found.figures
    if figures is None:
        raise NotComparable(said)
    if found.interval is None:
        if figures.delta - min_delta < -_ROUNDING:
            raise Regressed(said + _lost(found))
    elif found.interval.outcome == "fail":
        raise Regressed(said)
    elif found.interval.outcome == "unresolved":
        hint = "ask for a min_delta below 0, or measure more questions (`memruler power`)"
        raise Unresolved(f"{said}; {hint}")
    return found


def _base(path: Path, candidate: "LoadedRun") -> "LoadedRun":
    from memruler.studies.baseline_check import require_sound, sound_run  # noqa: PLC0415 - late
    from memruler.studies.baseline_folder import (  # noqa: PLC0415 - late
        exists,
        read_baseline,
        verified,
    )

    if (path / "manifest.json").exists() and not exists(path):
        return sound_run(path)
    base = read_baseline(path, verified(path), candidate)
    require_sound(base, path)
    return base


def _lost(found: "BaselineCheck") -> str:
    """The questions that got worse, by their ids."""
    queries = found.exact.queries if found.exact else ()
    lost = [f"{q.instance} #{q.query}" for q in queries if q.headline == "down"]
    if not lost:
        return ""
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return f"\n  worse: {', '.join(lost[:_SHOWN])}{more}"
