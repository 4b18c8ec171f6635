"""Repeated draws on the terminal: what each side says, and what is left between two."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.compare.repeats import Repeats
from memruler.errors import printable
from memruler.report import numbers
from memruler.report.layout import facts, heading, numeric_table, stdout_console, unpadded
from memruler.report.terminal_gate import interval_facts, size
from memruler.stats.repeats import Flips, RepeatedSide
from memruler.stats.repeats_pair import Discordance, PairedShares, RepeatedPair

__all__ = ["print_repeats", "render_repeats"]

_NONE = "-"


def print_repeats(found: Repeats) -> None:
    """Print repeats to stdout."""
    with unpadded(stdout_console()) as console:
        render_repeats(found, console)


def render_repeats(found: Repeats, console: Console) -> None:
    """Print repeats.

    Args:
        found: Of one side, or of two.
        console: Where to print; 80 columns suffice.
    """
    console.print(_headline(found))
    if found.pair is not None:
        facts(console, [("base", found.base), ("candidate", str(found.candidate))])
        heading(console, "Each side")
        _sides(["base", "candidate"], [found.pair.base, found.pair.candidate], console)
        _between(found.pair, found.cluster, console)
    elif found.side is not None:
        facts(console, [("file", found.base)])
        console.print()
        _sides([""], [found.side], console)
    more = [("changed", shown(difference)) for difference in found.changed]
    more += [("note", note) for note in found.notes]
    if more:
        console.print()
        facts(console, more)


def _headline(found: Repeats) -> Text:
    line = Text(f"{printable(found.label)} ", style="bold")
    if found.side is not None:
        return line.append(_accuracy(found.side))
    if found.pair is not None:
        full = found.pair.full
        line.append(_NONE if full.delta is None else size(full.delta))
        if full.interval is not None:
            line.append(f", 95 % {size(full.interval.low)} to {size(full.interval.high)}")
        line.append(f" over {full.of} of {found.pair.items} items", style="not bold")
    return line


def _accuracy(side: RepeatedSide) -> str:
    return _rate(side.accuracy, side.right, side.labelled)


def _rate(value: float | None, number: int, of: int) -> str:
    return f"{numbers.mean(value)} ({numbers.share(number, of)})"


def _sides(heads: Sequence[str], sides: Sequence[RepeatedSide], console: Console) -> None:
    table = numeric_table([""], heads)
    table.show_header = any(heads)
    for name, cells in _rows(sides):
        table.add_row(name, *cells)
    console.print(table)
    told = [
        (f"{head} erred".strip(), f"draws: {numbers.counts(side.erred)}")
        for head, side in zip(heads, sides, strict=True)
        if side.erred
    ]
    told += [
        (f"{head} flips".strip(), f"none: {side.no_flips}")
        for head, side in zip(heads, sides, strict=True)
        if side.no_flips is not None
    ]
    if told:
        facts(console, told)


def _rows(sides: Sequence[RepeatedSide]) -> Iterator[tuple[str, list[str]]]:
    yield "right by majority", [_accuracy(side) for side in sides]
    yield "ties, counted as wrong", [numbers.share(side.ties, side.even) for side in sides]
    yield "every draw erred", [numbers.share(side.errors, side.items) for side in sides]
    yield "draws an item", [_drawn(side.repeats) for side in sides]
    flips = [side.flips for side in sides]
    yield "flip rate", [_flipped(one) for one in flips]
    yield (
        "two draws disagree",
        [_NONE if one is None else numbers.mean(one.pairwise) for one in flips],
    )
    for moved in ("reader", "retrieval", "unknown"):
        yield f"  moved: {moved}", [_NONE if one is None else _moved(one, moved) for one in flips]
    yield (
        "items with the same top",
        [_NONE if one is None else numbers.share(one.same_top, one.known) for one in flips],
    )
    yield (
        "pairs with the same top",
        [_NONE if one is None else numbers.share(one.pairs.same, one.pairs.known) for one in flips],
    )
    yield (
        "  of these flipped",
        [
            _NONE if one is None else numbers.share(one.pairs.flipped_same, one.pairs.same)
            for one in flips
        ],
    )
    yield "other pairs flipped", [_NONE if one is None else _other(one) for one in flips]


def _flipped(flips: Flips | None) -> str:
    return _NONE if flips is None else _rate(flips.rate, flips.items, flips.of)


def _moved(flips: Flips, kind: str) -> str:
    return numbers.share(getattr(flips, kind), flips.items)


def _other(flips: Flips) -> str:
    pairs = flips.pairs
    return numbers.share(pairs.flipped_other, pairs.known - pairs.same)


def _drawn(repeats: dict[int, int]) -> str:
    """How many draws the items have: `3`, or from the fewest to the most."""
    few, many = min(repeats), max(repeats)
    return str(few) if few == many else f"{few} to {many}"


def _between(pair: RepeatedPair, cluster: str | None, console: Console) -> None:
    heading(console, "Candidate minus base, right by majority")
    heads = ["items", "clusters", "base", "cand.", "delta", "95 % low", "high", "up/down"]
    table = numeric_table([""], heads)
    shares = {
        "full": pair.full,
        "stable": pair.stable,
        "errors wrong": pair.errors_wrong,
    }
    for name, one in shares.items():
        # On two lines, to save width.
        table.add_row(name.replace(" ", "\n"), *_cells(one))
    console.print(table)
    console.print()
    facts(console, [*_disagreement(pair), *_basis(shares, cluster)])


def _cells(one: PairedShares) -> list[str]:
    found = one.interval
    return [
        str(one.of),
        _NONE if found is None else str(found.clusters),
        str(one.base),
        str(one.candidate),
        _NONE if one.delta is None else size(one.delta),
        _NONE if found is None else size(found.low),
        _NONE if found is None else size(found.high),
        f"{one.wins}/{one.losses}",
    ]


def _disagreement(pair: RepeatedPair) -> Iterator[tuple[str, str]]:
    found: Discordance = pair.discordance
    moved = {kind: getattr(found, kind) for kind in ("reader", "retrieval", "unknown")}
    told = numbers.counts({kind: number for kind, number in moved.items() if number})
    yield "discordance", f"{_rate(found.rate, found.items, found.of)}; what moved: {told}"
    erred = pair.errors
    if any(erred.values()):
        told = (
            f"items: {erred['base']} in the base only, {erred['candidate']} in the candidate only, "
            f"{erred['both']} in both"
        )
        yield "no label", told


def _basis(shares: dict[str, PairedShares], cluster: str | None) -> Iterator[tuple[str, str]]:
    """What the intervals rest on; said once where several rest on the same."""
    yield "clustered by", cluster or "each item stands alone"
    said: list[tuple[str, str]] = []
    for name, one in shares.items():
        if one.interval is None:
            said.append(("no interval", f"{name}: {one.no_interval}"))
        else:
            # Their numbers differ from row to row, and stand there.
            said += [fact for fact in interval_facts(one.interval, None) if fact[0] != "clusters"]
    yield from dict.fromkeys(said)
