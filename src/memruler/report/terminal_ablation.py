"""An ablation on the terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memruler.report import numbers
from memruler.report.layout import (
    banner,
    facts,
    heading,
    numeric_table,
    stdout_console,
    unpadded,
)
from memruler.studies.ablation_record import Ablation, Attribution, FactorResult, Move

__all__ = ["print_ablation", "render_ablation"]

_SHOWN_CELLS = 32


def print_ablation(found: Ablation, out: str) -> None:
    """Print an ablation to stdout."""
    with unpadded(stdout_console()) as console:
        render_ablation(found, out, console)


def render_ablation(found: Ablation, out: str, console: Console) -> None:
    """Print an ablation.

    Args:
        found: What to print.
        out: Where its run folders lie.
        console: Where to print; 80 columns suffice.
    """
    if found.degraded:
        banner(console, "DEGRADED: do not trust these numbers", found.degraded)
    kind = (
        "whole design" if found.resolution is None else f"fraction of resolution {found.resolution}"
    )
    console.print(
        Text(
            f"ABLATION of {len(found.spec.factors)} factors in {len(found.cells)} cells ({kind})",
            style="bold",
        )
    )
    for one in found.attributions:
        _attribution(one, console)
    _cells(found, console)
    console.print()
    facts(console, _facts(found, out))


def _attribution(one: Attribution, console: Console) -> None:
    total = one.total
    change = (
        ""
        if total is None
        else f" {numbers.mean(one.values[0])} -> {numbers.mean(one.values[-1])} "
        f"({numbers.delta(total.delta)}), all off -> all on"
    )
    heading(console, f"{one.level} {one.metric}@{one.k}{change}")
    console.print(_factors(one))
    facts(console, _beside(one))


def _factors(one: Attribution) -> Table:
    """One row a factor: its share (or aliased effect), and what it does first and last."""
    whole = all(factor.share is not None for factor in one.factors)
    uneven = any(factor.floor is not None for factor in one.factors)
    left = ["share"] if whole else []
    second = ["floor"] if uneven else []
    # Beside a floor there is no room for the main effect; the page has both.
    main = [] if whole and uneven else ["main"]
    heads = [*left, *main, *second, "alone", "up/down", "last", "up/down", "moved"]
    table = numeric_table(["factor"], heads)
    for factor in one.factors:
        figures = [factor.share] if whole else []
        figures += [] if whole and uneven else [factor.main]
        figures += [factor.floor] if uneven else []
        table.add_row(
            Text(factor.name),
            *map(_figure, figures),
            *_move(factor.alone),
            *_move(factor.last),
            "-" if factor.moved is None else str(factor.moved),
        )
    if whole and one.total is not None:
        floor = [] if one.floor is None else [_figure(one.floor.delta)]
        blank = [] if uneven else [""]
        table.add_row("total", _figure(one.total.delta), *blank, *floor, *[""] * 4, str(one.moved))
    return table


def _figure(value: float | None) -> Text:
    if value is None:
        return Text("-")
    style = "green" if value > 0 else ("red" if value < 0 else "dim")
    return Text(numbers.delta(value), style=style)


def _move(move: Move | None) -> tuple[Text, str]:
    if move is None:
        return Text("-"), "-"
    return _figure(move.delta), f"{move.wins}/{move.losses}"


def _beside(one: Attribution) -> Iterator[tuple[str, str]]:
    total = one.total
    moves = f"{one.moved} move between some cells"
    if total is not None:
        moves = f"better {total.wins}, worse {total.losses} from all off to all on; {moves}"
    yield "queries", f"{moves}; {one.counted} of {one.of} measured"
    if one.interactions:
        yield "interactions", _interactions(one)
    for factor in one.factors:
        if factor.aliases:
            yield "aliases", _aliases(factor)
    for effect in one.contrasts:
        terms = " + ".join((" x ".join(effect.factors), *effect.aliases))
        yield "effect", f"{terms} {numbers.delta(effect.effect)}"


def _interactions(one: Attribution) -> str:
    told = [
        f"{' x '.join(pair.factors)} {numbers.delta(pair.index)}"
        for pair in one.interactions
        if pair.index
    ]
    if len(told) < len(one.interactions):
        told.append("all others =" if told else "none")
    return ", ".join(told)


def _aliases(factor: FactorResult) -> str:
    return f"main of {factor.name} includes {', '.join(factor.aliases)}"


def _cells(found: Ablation, console: Console) -> None:
    first = found.attributions[0]
    heading(console, f"cells ({first.level} {first.metric}@{first.k}; vectors of each run)")
    table = numeric_table(["run folder"], ["mean", "embedded", "from cache", "stored", "lost"])
    shown = found.cells[:_SHOWN_CELLS]
    for cell, value in zip(shown, first.values, strict=False):
        table.add_row(
            Text(cell.folder, overflow="fold"),
            numbers.mean(value),
            "-" if cell.embedded is None else str(cell.embedded),
            "-" if cell.from_cache is None else str(cell.from_cache),
            str(cell.stored),
            str(sum(cell.lost.values())),
        )
    console.print(table)
    if hidden := len(found.cells) - len(shown):
        console.print(f"... and {hidden} more in ablation.md")


def _facts(found: Ablation, out: str) -> Iterator[tuple[str, str]]:
    corpus = found.corpus
    yield "corpus", f"{corpus['name']} {corpus['version']} (sha256 {corpus['sha256'][:12]})"
    yield "population", numbers.population(found.population, found.clusters)
    yield "not measured", numbers.counts(found.population.excluded)
    if found.words:
        yield "same sign", f"in every cell: {', '.join(found.words)}"
    if found.no_shares is not None:
        yield "no shares", found.no_shares
    for note in (*found.corpus_notes, *found.notes):
        yield "note", note
    yield "page", f"{out}/ablation.md"
