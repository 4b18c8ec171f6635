"""Targets on the terminal: what changes when only the target does."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.target_card import TargetCard
from memruler.errors import printable
from memruler.report import numbers
from memruler.report import targets_view as view
from memruler.report import targets_words as words
from memruler.report.layout import facts, heading, stdout_console, unpadded
from memruler.report.table import print_table

__all__ = ["print_targets", "render_card", "render_targets"]

_SHOWN = 24


def print_targets(found: Sensitivity) -> None:
    """Print a sensitivity to stdout."""
    with unpadded(stdout_console()) as console:
        render_targets(found, console)


def render_targets(found: Sensitivity, console: Console) -> None:
    """Print a sensitivity.

    Args:
        found: What to print.
        console: Where to print; 80 columns suffice.
    """
    several = len(found.systems) > 1
    console.print(Text(printable(words.headline(found)), style="bold"))
    console.print(Text(printable(words.what(found))))
    name = words.metric_name(found.metric, found.k)
    heading(console, f"{name} over the shared queries{' (* wins)' if several else ''}")
    print_table(console, ["system"], found.targets, _means(found, several=several))
    decided = words.decided_by(found)
    if decided is not None:
        console.print(Text(printable(decided)))
    for told in words.anchor_words(found):
        console.print(Text(printable(told), style="bold red"))
    if several:
        heading(console, "who wins, metric by metric")
        facts(console, view.winner_rows(found.recommendations))
    deepest = found.cutoffs[-1]
    heading(console, f"what changes from one target to another, k = {deepest}")
    heads = view.shift_heads(len(found.systems))
    print_table(console, ["pair"], heads, view.shift_rows(found.shifts, deepest))
    # A pair on two lines, to save width.
    pairs = [*(f"{pair.a} >\n{pair.b}" for pair in found.shifts), *(["winner"] if several else [])]
    metric = words.leading(found)
    if len(found.cutoffs) > 1:
        heading(console, f"by depth: queries whose {metric} changes")
        print_table(console, ["k"], pairs, view.depth_rows(found))
    if any(pair.categories for pair in found.shifts):
        heading(console, f"by query type: queries whose {metric}@{deepest} changes")
        print_table(
            console, ["type"], [view.unit(len(found.systems)), *pairs], view.category_rows(found)
        )
    heading(console, "against target-set size: shift of nDCG with each further eligible item")
    counted = view.unit(len(found.systems))
    heads = ["k", counted, "slope", "t", "r2", "mean at same size (n)"]
    sizes = [one for one in found.cardinality if one.k == deepest]
    print_table(console, ["pair"], heads, view.size_rows(sizes))
    if several:
        console.print(Text("t is clustered by query, as systems share queries", style="dim"))
    parts = list(view.anchor_rows(sizes))
    if parts:
        heading(console, "shift of nDCG where no target drops an anchor | where one does")
        heads = ["k", *[counted, "changed", "mean"] * 2]
        print_table(console, ["pair"], heads, parts)
    heading(console, "does anything remove it" if several else "and where the targets agree")
    facts(console, _facts(found))
    if several:
        heading(console, "coverage of every system")
        # Names need the room of a column that says nothing.
        known = any(one.gold.whole is not None for card in found.cards for one in card.targets)
        figures = len(view.COVERAGE) if known else len(view.COVERAGE) - 1
        rows = (
            (card.name, *row[: figures + 1])
            for card in found.cards[:_SHOWN]
            for row in view.coverage_rows(card.targets)
        )
        print_table(console, ["system", "target"], view.COVERAGE[:figures], rows)
    render_card(found.cards[0], console)


def render_card(card: TargetCard, console: Console) -> None:
    """Print a target card: part of every report of a transformed store."""
    heading(console, f"target card of {card.name}: what each target admits, at every k")
    rows = list(view.coverage_rows(card.targets))
    print_table(console, ["target"], view.COVERAGE, (row[:-1] for row in rows))
    console.print()
    facts(console, _card_facts(card))


def _card_facts(card: TargetCard) -> Iterator[tuple[str, str]]:
    for one in card.targets:
        told = "" if one.forms is None else f"; here {numbers.counts(one.forms)}"
        yield one.target, f"{one.admits}{told}"
    for pair in card.pairs:
        shares = (pair.ndcg, pair.mrr, pair.recall, pair.top1)
        named = zip(("nDCG", "MRR", "recall", "top-1"), map(words.percent, shares), strict=True)
        told = ", ".join(f"{name} {share}" for name, share in named)
        changed = f"changed at k = {card.k} on {pair.queries} queries: {told}; "
        yield f"{pair.a} to {pair.b}", f"{changed}{pair.hit_flips} hit flips"
    for statement in card.statements:
        yield statement.point, statement.says
    for told in words.order_words(card):
        yield "other rule", told
    for target, reason in card.unserved.items():
        yield f"not {target}", reason


def _means(found: Sensitivity, *, several: bool) -> Iterator[tuple[str, ...]]:
    choices = found.headline.choices
    for name in found.systems[:_SHOWN]:
        yield (
            name,
            *(
                numbers.mean(choice.means[name])
                + ("" if not several else "*" if name in choice.winners else " ")
                for choice in choices
            ),
        )
    if len(found.systems) > _SHOWN:
        yield (f"... and {len(found.systems) - _SHOWN} more (--json)", *[""] * len(choices))


def _facts(found: Sensitivity) -> Iterator[tuple[str, str]]:
    yield from view.robust_rows(found)
    for one in found.rules:
        if (one.metric, one.k) == (found.metric, found.k) or one.reason:
            yield "other rule", words.rule_words(one)
    if len(found.cards) > 1:
        for card in found.cards:
            for told in words.order_words(card):
                yield "other rule", f"in {card.name}, {told}"
    for told in words.line_words(found.cardinality):
        yield "no line", told
    for target, whys in found.left_out.items():
        for name, why in whys.items():
            yield f"without {target}", f"{name}: {why}"
    for note in found.notes:
        yield "note", note
