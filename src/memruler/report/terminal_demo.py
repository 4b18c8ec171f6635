"""The first look on the terminal: what was planted, what the ruler saw, and where to go next."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import facts, heading, stdout_console, unpadded
from memruler.report.table import print_table
from memruler.report.view import category_rows
from memruler.studies.demo_record import Demo

__all__ = ["print_demo", "render_demo"]


def print_demo(found: Demo, commands: Sequence[tuple[str, str]]) -> None:
    """Print to stdout; see `render_demo`."""
    with unpadded(stdout_console()) as console:
        render_demo(found, commands, console)


def render_demo(found: Demo, commands: Sequence[tuple[str, str]], console: Console) -> None:
    """Print a first look.

    Args:
        found: What was measured.
        commands: What to call next, each with what it is for; printed unwrapped, to be pasted.
        console: Where to print; 80 columns suffice.
    """
    head = found.comparison.headline
    line = Text(found.comparison.verdict.upper(), style="bold red")
    line.append(
        f"  {head.metric}@{head.k} {numbers.mean(head.base)} -> {numbers.mean(head.candidate)} "
        f"({numbers.delta(head.delta)})",
        style="bold",
    )
    line.append(f"  {head.level} level, exact", style="not bold")
    console.print(line)
    same = head.counted - head.wins - head.losses
    moves = f"better {head.wins}, worse {head.losses}, the same {same}"
    over = f"{head.counted} of {head.of} measured"
    facts(
        console,
        [
            ("questions", f"{moves}; {over}, {found.comparison.clusters} conversations"),
            ("base", f"builtin:lexical, in {found.base}"),
            ("candidate", f"the same, made to forget: {found.planted}, in {found.candidate}"),
            ("it lost", numbers.losses(found.comparison.candidate)),
            ("SYNTHETIC", "an invented corpus: no number here says anything about a real memory"),
        ],
    )
    heading(console, f"{head.metric}@{head.k} by kind of question: all evidence in the first 5")
    rows = [
        (
            row.slice,
            numbers.mean(row.base),
            numbers.mean(row.candidate),
            numbers.delta(row.delta),
            str(row.wins),
            str(row.losses),
            numbers.share(row.counted, row.of),
        )
        for row in category_rows(found.comparison)
    ]
    heads = ["base", "cand", "delta", "better", "worse", "n/N"]
    print_table(console, ["kind"], heads, rows)
    heading(console, "next")
    for what, command in commands:
        console.print(Text(f"# {printable(what)}", style="dim"))
        # Unwrapped, so that it can be pasted.
        console.print(Text(printable(command, 4096)), soft_wrap=True)
