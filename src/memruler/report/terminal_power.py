"""A power study on the terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.metrics.names import METRICS
from memruler.report.layout import facts, heading, numeric_table, stdout_console, unpadded
from memruler.stats.power_record import OneQuery, SmallestEffect
from memruler.studies.power_record import PowerStudy

__all__ = ["print_power", "render_power"]

_PLANTED = {
    "flips": "outcomes turned into wins (or wins into losses), item by item",
    "shift": "every difference moved by the same amount",
}
_INTERVALS = {
    "exact": "the exact bootstrap decides each simulated experiment",
    "normal": "the interval of a simulated experiment is mean - 1.96 standard errors",
}


def print_power(found: PowerStudy) -> None:
    """Print a power study to stdout."""
    with unpadded(stdout_console()) as console:
        render_power(found, console)


def render_power(found: PowerStudy, console: Console) -> None:
    """Print a power study.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    console.print(_headline(found))
    if found.curve:
        heading(console, f"power to show {_amount(found, found.effect or 0)}, by size")
        table = numeric_table([], ["clusters", "items", "power", "error", "false alarms"])
        for at in found.curve:
            counts = (str(at.clusters), str(at.items))
            table.add_row(*counts, f"{at.power:.3f}", f"{at.error:.3f}", f"{at.false_alarms:.3f}")
        console.print(table)
    if found.repeats is not None:
        heading(console, "repeats of each item, with the items of the pilot")
        table = numeric_table([], ["repeats", "standard error", "share that repeats remove"])
        for row in found.repeats.rows:
            table.add_row(str(row.repeats), _amount(found, row.error), f"{row.within:.2f}")
        console.print(table)
    if found.by_repeats:
        heading(console, "size needed, by repeats")
        table = numeric_table([], ["repeats", "clusters", "items", "power"])
        for need in found.by_repeats:
            sizes = (str(need.at.repeats), str(need.at.clusters), str(need.at.items))
            table.add_row(*sizes, f"{need.at.power:.3f}")
        console.print(table)
    console.print()
    facts(console, _facts(found))


def _headline(found: PowerStudy) -> Text:
    line = Text(f"smallest effect {_amount(found, found.smallest.effect)}", style="bold")
    if isinstance(found.smallest, OneQuery):
        about = f"one query of the {found.smallest.counted} that count: a fact, no estimate"
    else:
        about = (
            f"+-{_amount(found, found.smallest.error)}, seen with power {found.smallest.wanted:g}"
            f"\nby {found.smallest.items} items in {found.smallest.clusters} clusters"
        )
    line.append(f"  {about}", style="not bold")
    if found.effect is not None and found.needed is not None:
        need = found.needed
        line.append(f"\n{_amount(found, found.effect)} needs ")
        if isinstance(need, OneQuery):
            line.append(f"{need.counted} queries", style="bold")
            line.append("  so that one of them is no larger", style="not bold")
        else:
            line.append(f"{need.at.items} items in {need.at.clusters} clusters", style="bold")
            line.append(
                f"\nof {need.per_cluster:.4g} items each, {need.at.repeats} draws an item "
                f"(power {need.at.power:.3f} +-{need.at.error:.3f})",
                style="not bold",
            )
    return line


def _facts(found: PowerStudy) -> Iterator[tuple[str, str]]:
    by = f", by {found.cluster}" if found.cluster else ""
    yield "pilot", f"{found.base} against {found.candidate}, {found.metric}"
    yield "", f"{found.items} items in {found.clusters} clusters{by}"
    yield "difference", f"{_amount(found, found.mean)} on average"
    if isinstance(found.smallest, SmallestEffect):
        yield "planted", _PLANTED[found.smallest.planting]
        yield "interval", _INTERVALS[found.smallest.interval]
        simulated = f"{found.smallest.simulations} experiments a point"
        yield "simulated", f"{simulated}, seed {found.smallest.seed}"
        yield "success", "the lower end of the 95 % interval is above zero"
        alarms = f"{100 * found.smallest.false_alarms:.1f} % of such experiments succeed"
        yield "false alarms", f"{alarms} where there is no effect; 2.5 % is nominal"
    else:
        yield (
            "ruler",
            (
                "exact: both runs are deterministic, so there is no interval and no power; "
                "--sample asks whether other queries of the same kind would show it too"
            ),
        )
    if found.no_repeats is not None:
        yield "repeats", found.no_repeats
    elif found.repeats is not None:
        enough = found.repeats.enough
        yield (
            "repeats",
            "nothing was found that differs between items: every repeat helps like an item"
            if enough is None
            else f"{enough} of each item, then what differs between items dominates",
        )
    for warning in found.warnings:
        yield "warning", warning


def _amount(found: PowerStudy, value: float) -> str:
    """In percentage points where the metric is a share; as it is otherwise."""
    if found.metric.rpartition(":")[2].partition("@")[0] in METRICS:
        return f"{100 * value:.3g} pp"
    return f"{value:.4g}"
