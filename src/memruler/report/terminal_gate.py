"""A gate's decision, or one's own band, on the terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.compare.gate import Band, Gate
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import facts, stdout_console, unpadded
from memruler.stats.interval import Interval

__all__ = ["print_band", "print_gate", "render_band", "render_gate"]

_STYLES = {"pass": "bold green", "fail": "bold red", "unresolved": "bold yellow"}
_WHY = {
    "noise_floor": "a difference within the null band is seen where nothing was changed: do not "
    "read it as a change",
    "under_powered": "the difference is outside the null band, but the interval holds the "
    "threshold: more items or clusters would tell (memruler power)",
}


def print_gate(found: Gate) -> None:
    """Print a decision to stdout."""
    with unpadded(stdout_console()) as console:
        render_gate(found, console)


def print_band(found: Band) -> None:
    """Print a band to stdout."""
    with unpadded(stdout_console()) as console:
        render_band(found, console)


def render_gate(found: Gate, console: Console) -> None:
    """Print a decision.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    line = Text(found.outcome.upper(), style=_STYLES[found.outcome])
    line.append(f"  {printable(found.metric)} ", style="bold")
    line.append(_difference(found.delta, found.interval), style="bold")
    console.print(line)
    facts(console, _gate_facts(found))


def render_band(found: Band, console: Console) -> None:
    """Print a band; as for `render_gate`."""
    line = Text(f"band {found.band:.4f}", style="bold")
    line.append(f"  {printable(found.metric)} ", style="not bold")
    line.append(_difference(found.interval.mean, found.interval), style="not bold")
    console.print(line)
    facts(
        console,
        [
            ("between", f"{found.base} and {found.candidate}"),
            *_interval_facts(found.interval, found.cluster),
            *(("note", note) for note in found.notes),
            ("next", f"memruler gate BASE CANDIDATE --band {found.band:.4f}"),
        ],
    )


def _difference(delta: float, interval: Interval | None) -> str:
    if interval is None:
        return f"{numbers.delta(delta)} (exact)"
    low, high = numbers.delta(interval.low), numbers.delta(interval.high)
    return f"{numbers.delta(delta)}, 95 % {low} to {high}"


def _gate_facts(found: Gate) -> Iterator[tuple[str, str]]:
    yield "base", found.base
    yield "candidate", found.candidate
    if found.why is not None:
        yield "unresolved", _WHY[found.why]
    yield "items", f"{found.counted}: {found.wins} up, {found.ties} the same, {found.losses} down"
    for reason, number in found.absent.items():
        yield "no value", f"{number} items: {reason}"
    yield "must exceed", f"{found.threshold:+.4f}" if found.threshold else "0"
    if found.band is not None:
        yield "null band", f"within {found.band:.4f} of zero"
    if found.interval is None:
        yield "ruler", "both sides are deterministic: a fact, without an interval"
    else:
        yield from _interval_facts(found.interval, found.cluster)
    for difference in found.changed:
        yield "changed", shown(difference)
    for note in found.notes:
        yield "note", note


def _interval_facts(interval: Interval, cluster: str | None) -> Iterator[tuple[str, str]]:
    yield "clusters", f"{interval.clusters} ({cluster or 'each item stands alone'})"
    if interval.method == "exact":
        yield "interval", "exact bootstrap distribution, no draws"
    else:
        errors = f"{interval.low_error:.2g} and {interval.high_error:.2g}"
        drawn = f"{interval.resamples} resamples, seed {interval.seed}"
        yield "interval", f"{drawn}; standard errors of the ends {errors}"
    for warning in interval.warnings:
        yield "warning", warning
