"""A look at the machine on the terminal: the verdict, a line a thing, and what to do."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memruler.errors import printable
from memruler.report.layout import heading, stdout_console, unpadded
from memruler.studies.doctor_record import Diagnosis, Finding

__all__ = ["print_diagnosis", "render_diagnosis", "terminal_findings"]

_STYLES = {"ok": "green", "missing": "yellow", "broken": "bold red"}
_LONGEST = 600
_NARROW = 80
_NAME = 14


def print_diagnosis(found: Diagnosis) -> None:
    """Print to stdout; see `render_diagnosis`."""
    with unpadded(stdout_console()) as console:
        render_diagnosis(found, console)


def render_diagnosis(found: Diagnosis, console: Console) -> None:
    """Print what was found.

    Args:
        found: What to print.
        console: Where to print; 80 columns suffice.
    """
    broken = len(found.broken)
    line = Text(f"{broken} BROKEN" if broken else "NOTHING BROKEN")
    line.stylize("bold red" if broken else "bold green")
    line.append(
        f"  {found.count('ok')} ok, {found.count('missing')} missing; memruler {found.version}",
        style="not bold default",
    )
    console.print(line)
    console.print()
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(2):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold", max_width=_NAME)
    table.add_column(overflow="fold")
    area = ""
    for one in found.findings:
        table.add_row(
            Text("" if one.area == area else printable(one.area, 14), style="dim"),
            Text(one.state, style=_STYLES[one.state]),
            Text(printable(one.name, 24)),
            Text(printable(one.found, _LONGEST), overflow="fold"),
        )
        area = one.area
    console.print(table)
    remedies = [one for one in found.findings if one.do is not None]
    for state, title in (("broken", "to mend"), ("missing", "to add, if you want it")):
        chosen = [one for one in remedies if one.state == state]
        if not chosen:
            continue
        heading(console, title)
        for one in chosen:
            console.print(Text(f"# {printable(one.name)}", style="dim"))
            # Unwrapped, so that it can be pasted.
            console.print(Text(printable(one.do, 4096)), soft_wrap=True)


def terminal_findings(encoding: str | None) -> Iterator[Finding]:
    """What the terminal (or file) that stdout leads to can show.

    Args:
        encoding: Of stdout; None where it has none.
    """
    console = Console()
    kind = "a terminal" if console.is_terminal else "no terminal"
    colour = "without colour" if console.color_system is None or console.no_color else "in colour"
    wide = console.width >= _NARROW
    yield Finding(
        area="terminal",
        name="stdout",
        state="ok",
        found=f"{kind}, {console.width} columns, {colour}",
        do=None if wide else "widen it to 80 columns; tables wrap until then",
    )
    unicode = (encoding or "").lower().replace("-", "").startswith("utf")
    yield Finding(
        area="terminal",
        name="encoding",
        state="ok" if unicode else "missing",
        found=f"{encoding or 'none'}"
        + ("" if unicode else "; what it lacks is written as escapes"),
        do=None if unicode else "set PYTHONUTF8=1",
    )
