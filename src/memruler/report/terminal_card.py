"""A capability card on the terminal: what breaks first, then the rest, then what was checked."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.errors import printable
from memruler.model.card import Card, Claim, Probe
from memruler.report.layout import facts, heading, numeric_table, stdout_console, unpadded

__all__ = ["print_card", "render_card"]

_WORDS = {True: "yes", False: "no", None: "not known"}


def print_card(card: Card) -> None:
    """Print a card to stdout."""
    with unpadded(stdout_console()) as console:
        render_card(card, console)


def render_card(card: Card, console: Console) -> None:
    """Print a card.

    Args:
        card: It.
        console: Where to print; 80 columns suffice.
    """
    console.print(_headline(card))
    _table(console, "breaks measurement", card.failed("breaks measurement"), "bold red")
    declared = card.failed("must be declared")
    _table(console, "must be declared beside every result", declared, "yellow")
    _claims(console, [claim for claim in card.claims if claim.holds is False])
    _table(console, "good to know", card.failed("information"), "")
    # What needs no thought is kept short: the sentence alone.
    unknown = [one for one in card.probes if one.outcome in {"unknown", "not applicable"}]
    _table(console, "not known, or not asked", unknown, None)
    _table(console, "as it should be", [one for one in card.probes if one.outcome == "yes"], None)
    console.print()
    facts(console, _facts(card))


def _headline(card: Card) -> Text:
    broken, declared = card.failed("breaks measurement"), card.failed("must be declared")
    name = f"  {card.identity.name} {card.identity.version}"
    if card.fitness == "unfit":
        line = Text("UNFIT", style="bold white on red")
        said = f": {len(broken)} of {len(card.probes)} probes say that its results mean nothing"
    elif card.fitness == "declare":
        line = Text("FIT, WITH WORDS", style="bold yellow")
        refuted = sum(claim.holds is False for claim in card.claims)
        things = len(declared) + refuted + bool(card.left)
        said = f": {things} thing{'s' * (things != 1)} to tell beside its results"
    else:
        line = Text("FIT", style="bold green")
        said = f": nothing in {len(card.probes)} probes speaks against measuring it"
    line.append(printable(name) + said, style="not bold default on default")
    return line


def _table(console: Console, title: str, probes: Sequence[Probe], style: str | None) -> None:
    """A table of probes; without a style the questions are left out."""
    if not probes:
        return
    heading(console, title)
    head = "what was seen" if style is None else "question, and what was seen"
    table = numeric_table(["probe", "answer", head], [])
    for probe in probes:
        said = Text("" if style is None else f"{probe.question} ", style="dim")
        said.append(printable(probe.found, 600), style="not dim")
        for line in probe.log:
            said.append(f"\n| {printable(line, 200)}", style="dim")
        cells = (probe.name, probe.outcome)
        table.add_row(*(Text(printable(cell), style=style or "") for cell in cells), said)
    console.print(table)


def _claims(console: Console, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    heading(console, "its file claims otherwise")
    for claim in claims:
        said = f"  {claim.what}: its file says {claim.said}, measured was {claim.measured}"
        console.print(Text(printable(said), style="yellow"))


def _facts(card: Card) -> Iterator[tuple[str, str]]:
    own = card.identity
    yield "system", " ".join((card.system, *(f"--set {word}" for word in card.assignments)))
    yield "version", f"{own.name} {own.version}"
    yield "digest", own.digest or "none"
    if own.server is not None:
        yield "server", f"{own.server.name} {own.server.version}, protocol {own.server.protocol}"
    if own.embedder is not None:
        yield "embedder", own.embedder
    for reason in own.degraded:
        yield "degraded", reason
    yield "repeats", _WORDS[card.deterministic]
    yield "reads change it", _WORDS[card.reads_change]
    if card.quiet_reads is not None:
        yield "quiet reads", card.quiet_reads
    yield "tells times", _WORDS[card.event_time]
    yield "erases", _WORDS[card.erases]
    if card.left:
        yield "left behind", f"{card.left} namespaces; call memruler systems gc"
