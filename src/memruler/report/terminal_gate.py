"""A gate's decision, or one's own band, on the terminal."""

from collections.abc import Iterator
from math import ceil

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.compare.gate import Band, Gate
from memruler.compare.judge_calibration import scaled
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import banner, facts, heading, numeric_table, stdout_console, unpadded
from memruler.stats.interval import Interval

__all__ = [
    "gate_facts",
    "interval_facts",
    "print_band",
    "print_gate",
    "render_band",
    "render_gate",
    "size",
]

_STYLES = {"pass": "bold green", "fail": "bold red", "unresolved": "bold yellow"}
_MOST_REASONS = 8
_SLACK = 1e-6
_WHY = {
    "noise_floor": "a difference within the null band may be seen where nothing was changed: do "
    "not read it as a change",
    "under_powered": "the difference is outside the null band, but the interval holds the "
    "threshold: more items or clusters would tell (memruler power)",
}


def print_gate(found: Gate, *, show_moved: bool = False) -> None:
    """Print a decision to stdout."""
    with unpadded(stdout_console()) as console:
        render_gate(found, console, show_moved=show_moved)


def print_band(found: Band) -> None:
    """Print a band to stdout."""
    with unpadded(stdout_console()) as console:
        render_band(found, console)


def render_gate(found: Gate, console: Console, *, show_moved: bool = False) -> None:
    """Print a decision.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
        show_moved: Also list the items that moved.
    """
    _degraded(found, console)
    line = Text(found.outcome.upper(), style=_STYLES[found.outcome])
    line.append(f"  {printable(found.metric)} ", style="bold")
    delta, deciding = found.delta, found.interval
    if deciding is not None and found.corrected is not None:
        deciding = scaled(deciding, found.corrected)
        delta = deciding.mean
    line.append(_difference(delta, deciding), style="bold")
    if found.corrected is not None:
        line.append(" (corrected)", style="bold")
    console.print(line)
    if found.slices:
        _slices(found, console)
    if show_moved:
        heading(console, "items that moved, the greatest losses first")
        facts(console, ((numbers.delta(item.delta), item.id) for item in found.moved))
    if found.slices or show_moved:
        console.print()
    facts(console, gate_facts(found))


def _slices(found: Gate, console: Console) -> None:
    heading(console, f"by {printable(found.by, 60)}")
    columns = ["items", "up", "down", "delta"]
    if found.test is not None:
        columns += ["p", "adjusted p"]
    table = numeric_table(["slice"], columns)
    for row in found.slices:
        cells = [str(row.n), str(row.wins), str(row.losses), numbers.delta(row.delta)]
        if found.test is not None:
            cells += ["-" if p is None else f"{p:.3g}" for p in (row.p, row.adjusted)]
        table.add_row(printable(row.name, 24), *cells)
    console.print(table)


def render_band(found: Band, console: Console) -> None:
    """Print a band; as for `render_gate`."""
    _degraded(found, console)
    # Rounded up: a band that is too narrow calls noise a change.
    wide = f"{ceil(found.band * 10_000 - _SLACK) / 10_000:.4f}"
    line = Text(f"band {wide}", style="bold")
    line.append(f"  {printable(found.metric)} ", style="not bold")
    line.append(_difference(found.interval.mean, found.interval), style="not bold")
    console.print(line)
    facts(
        console,
        [
            ("between", f"{found.base} and {found.candidate}"),
            *interval_facts(found.interval, found.cluster),
            *(("note", note) for note in found.notes),
            ("next", f"memruler gate BASE CANDIDATE --band {wide}"),
        ],
    )


def _degraded(found: Gate | Band, console: Console) -> None:
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)


def _difference(delta: float, interval: Interval | None) -> str:
    if interval is None:
        return f"{numbers.delta(delta)} (exact)"
    return f"{size(delta)}, 95 % {size(interval.low)} to {size(interval.high)}"


def size(value: float) -> str:
    """As `numbers.delta`, where `=` would not read as a number."""
    return numbers.delta(value) if value else "0"


def gate_facts(found: Gate) -> Iterator[tuple[str, str]]:
    """What a decision rests on: labels and what they say, in order."""
    yield "base", found.base
    yield "candidate", found.candidate
    if found.why is not None:
        yield "unresolved", _WHY[found.why]
    yield "items", f"{found.counted}: {found.wins} up, {found.ties} the same, {found.losses} down"
    ranked = sorted(found.absent.items(), key=lambda one: (-one[1], one[0]))
    for reason, number in ranked[:_MOST_REASONS]:
        yield "no value", f"{number} items: {reason}"
    if len(ranked) > _MOST_REASONS:
        rest = sum(number for _, number in ranked[_MOST_REASONS:])
        yield "no value", f"{rest} items: {len(ranked) - _MOST_REASONS} other reasons (--json)"
    yield "must exceed", size(found.threshold)
    if found.band is not None:
        yield "null band", f"within {found.band:.4f} of zero"
    yield from _corrected_facts(found)
    if found.interval is None:
        yield "ruler", "both sides are deterministic: a fact, without an interval"
    else:
        yield from interval_facts(found.interval, found.cluster)
    if found.test is not None:
        rate = found.test.net_win_rate
        what = "cluster means" if found.cluster else "items"
        yield "test", f"{found.test.test} over {found.test.n} {what}: p {found.test.p:.3g}"
        yield "net wins", f"{_difference(rate.mean, rate)} of the items"
    if found.slices and found.test is not None:
        tested = sum(row.p is not None for row in found.slices)
        many = f"{tested} of {len(found.slices)} have more than one item or cluster"
        yield "slices", f"{many} and were tested; the adjusted p is for that many (Holm)"
    for difference in found.changed:
        yield "changed", shown(difference)
    for note in found.notes:
        yield "note", note


def _corrected_facts(found: Gate) -> Iterator[tuple[str, str]]:
    if found.corrected is None or found.interval is None:
        return
    one = found.corrected
    yield "observed", _difference(found.delta, found.interval)
    told = f"by J {one.j:.4f} of the judge, which makes it {one.widening:.2f} times as wide"
    yield "corrected", f"{told}; the band is divided by J, slices and tests are as observed"
    for warning in one.warnings:
        if warning not in found.interval.warnings:
            yield "warning", warning


def interval_facts(interval: Interval, cluster: str | None) -> Iterator[tuple[str, str]]:
    """What stands beside an interval: its clusters, how it was found, and its warnings."""
    yield "clusters", f"{interval.clusters} ({cluster or 'each item stands alone'})"
    if interval.method == "exact":
        yield "interval", "exact bootstrap distribution, no draws"
    else:
        errors = f"{interval.low_error:.2g} and {interval.high_error:.2g}"
        drawn = f"{interval.resamples} resamples, seed {interval.seed}"
        yield "interval", f"{drawn}; standard errors of the ends {errors}"
    for warning in interval.warnings:
        yield "warning", warning
