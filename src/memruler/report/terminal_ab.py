"""An A/B run on the terminal."""

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.errors import printable
from memruler.report import ab_words as words
from memruler.report.layout import banner, facts, heading, stdout_console, unpadded
from memruler.report.table import print_table
from memruler.studies.ab_record import Ab

__all__ = ["print_ab", "render_ab"]

_STYLES = {"better": "bold green", "worse": "bold red", "refused": "bold red"}
_LONGEST = 2000
_MOST_CHANGES = 6


def print_ab(found: Ab, out: str) -> None:
    """Print an A/B run to stdout."""
    with unpadded(stdout_console()) as console:
        render_ab(found, out, console)


def render_ab(found: Ab, out: str, console: Console) -> None:
    """Print an A/B run.

    Args:
        found: What to print.
        out: Where its run folders lie.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    line = Text(words.verdict(found), style=_STYLES.get(found.verdict, "bold"))
    line.append(f"  {printable(words.headline(found), _LONGEST)}", style="not bold")
    console.print(line)
    if found.refused is not None:
        facts(console, [("-", reason) for reason in found.refused.reasons])
        console.print(Text("what to do:", style="bold"))
        facts(console, [("-", hint) for hint in found.refused.hints])
    heading(console, "both sides, each question asked of one and then of the other")
    print_table(console, ["what"], ["A", "B", "B - A", "over"], words.lines(found))
    console.print()
    more = found.comparison or found.gate
    changed = [shown(difference) for difference in (more.changed if more else ())]
    if len(changed) > _MOST_CHANGES:
        changed[_MOST_CHANGES:] = [f"and {len(changed) - _MOST_CHANGES} more in ab.md"]
    pages = ("page", f"{out}/ab.md; the runs: {out}/a and {out}/b")
    facts(console, [*words.notes(found), *(("changed", one) for one in changed), pages])
