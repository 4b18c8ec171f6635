"""A canary on the terminal: the outcome, every control, and the smallest effect."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report.layout import banner, facts, heading, numeric_table, stdout_console, unpadded
from memruler.studies.canary_record import Canary, Check, LevelChecks

__all__ = ["print_canary", "render_canary"]

_MARKS = {True: "yes", False: "NO", None: "not asked"}


def print_canary(found: Canary) -> None:
    """Print a canary to stdout."""
    with unpadded(stdout_console()) as console:
        render_canary(found, console)


def render_canary(found: Canary, console: Console) -> None:
    """Print a canary.

    Args:
        found: It.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    console.print(_headline(found))
    heading(console, "controls")
    table = numeric_table(["seen", "control", "expected", "found"], [])
    for check in found.checks:
        style = "bold red" if check.seen is False else ""
        cells = (_MARKS[check.seen], check.name, check.expected, check.found)
        table.add_row(*(Text(printable(cell), style=style) for cell in cells))
    console.print(table)
    if any(level.steps for level in found.levels):
        heading(console, "every gold hit taken from so many queries, and scored again")
        _steps(console, found.levels)
    console.print()
    facts(console, _facts(found))


def _headline(found: Canary) -> Text:
    failed = [check for check in found.checks if check.seen is False]
    if not failed:
        asked = sum(check.seen is True for check in found.checks)
        line = Text("SEES", style="bold green")
        line.append(f"  all {asked} controls that could be asked, at {found.metric}", style="none")
        return line
    line = Text("BLIND", style="bold white on red")
    line.append(f"  {len(failed)} controls failed: {_names(failed)}", style="not bold")
    line.append("\nno result of this ruler means anything until that is mended", style="none")
    return line


def _names(checks: list[Check]) -> str:
    return "; ".join(printable(check.name) for check in checks)


def _steps(console: Console, levels: Sequence[LevelChecks]) -> None:
    table = numeric_table(["level"], ["queries", "of", "expected", "found"])
    for level in levels:
        for step in level.steps:
            found = "none" if step.found is None else f"{step.found:+.6f}"
            counts = (str(step.queries), str(level.counted))
            table.add_row(level.level, *counts, f"{step.expected:+.6f}", found)
    console.print(table)


def _facts(found: Canary) -> Iterator[tuple[str, str]]:
    for level in found.levels:
        if level.smallest is not None:
            yield (
                "smallest",
                (
                    f"{100 * level.smallest.effect:.3g} pp at the {level.level} level: one query "
                    f"of the {level.counted} that count (of {level.of}); a fact, no estimate"
                ),
            )
        yield (
            "can lose",
            (
                f"{level.degradable} of {level.counted} queries at the {level.level} level have "
                f"{found.metric} of 1 (mean {level.mean:.4f})"
            ),
        )
    if found.noisy is not None and found.noise is not None:
        noisy = found.noisy
        yield (
            "if noisy",
            (
                f"{100 * noisy.effect:.1f} pp (+-{100 * noisy.error:.1f}) with power "
                f"{noisy.wanted:g}, if {100 * found.noise:g} % of the labels flipped by chance; "
                f"{noisy.simulations} simulations, seed {noisy.seed}"
            ),
        )
    if (arm := found.planted) is not None:
        yield (
            "planted",
            (
                f"{arm.turns} gold turns of {arm.queries} queries never reached the store; "
                f"{arm.zero} of these at 0, {arm.others} other queries changed"
            ),
        )
    yield "corpus", f"{found.corpus['name']} {found.corpus['version']}"
    yield "system", f"{found.system['name']} {found.system['version']}"
    yield "population", found.population
    yield "seed", str(found.seed)
    for note in found.corpus_notes:
        yield "note", note
    for warning in (*found.warnings, *(found.noisy.warnings if found.noisy else ())):
        yield "warning", warning
