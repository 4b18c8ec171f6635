"""A comparison on the terminal, or its refusal."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from memruler.compare.comparable import shown
from memruler.compare.record import (
    ChangedQuery,
    Comparison,
    Delta,
    MacroDelta,
    PaddedDelta,
    Refused,
)
from memruler.compare.target_part import turned
from memruler.errors import printable
from memruler.model.summary import Level
from memruler.report import numbers
from memruler.report.layout import banner, column_head, facts, heading, numeric_table
from memruler.report.table import print_table
from memruler.report.view import category_rows, deltas_at, headline_moves, levels_of, macro_of

__all__ = ["render_comparison", "render_refusal"]

_STYLES = {"better": "bold green", "worse": "bold red", "unchanged": "bold"}
_LONGEST_NAME = 24
_LONGEST_TEXT = 300


def render_comparison(
    comparison: Comparison, console: Console, *, queries: int | None = 10
) -> None:
    """Print a comparison.

    Args:
        comparison: What to print.
        console: Where to print; 80 columns suffice.
        queries: How many of the queries that moved on the headline are listed; None for all.
    """
    if comparison.degraded:
        banner(console, "DEGRADED: do not trust these numbers", comparison.degraded)
    _headline(comparison, console)
    for told in turned(comparison.by_target):
        console.print(Text(printable(told), style="bold"))
    for level in levels_of(comparison.deltas):
        _level(comparison, level, console)
    _by_target(comparison, console)
    _categories(comparison, console)
    _queries(headline_moves(comparison), comparison, console, queries)
    console.print()
    facts(console, _facts(comparison))


def render_refusal(refused: Refused, console: Console) -> None:
    """Print why two runs do not compare, a reason a line, and what to do about each."""
    console.print(
        Text(
            f"refused: {printable(refused.base)} and {printable(refused.candidate)} do not compare",
            style="bold red",
        )
    )
    facts(console, [("-", reason.what) for reason in refused.reasons])
    # Several reasons can share one way out: it is said once.
    hints = dict.fromkeys(reason.hint for reason in refused.reasons)
    console.print(Text("what to do:", style="bold"))
    facts(console, [("-", hint) for hint in hints])


def _by_target(comparison: Comparison, console: Console) -> None:
    """Both runs under every target, where one of them stores transformed forms."""
    if not comparison.by_target:
        return
    first = comparison.by_target[0]
    heading(
        console,
        f"which form earns the credit (per anchor, {comparison.cards[0].level} level, k = "
        f"{first.k}; the {first.queries} queries that every target serves in both)",
    )
    rows = []
    for one in comparison.by_target:
        row = [one.target]
        for name in ("ndcg", "recall_any"):
            left, right = one.base.get(name), one.candidate.get(name)
            row += [numbers.mean(left), numbers.mean(right)]
            row.append("-" if left is None or right is None else numbers.delta(right - left))
        rows.append(row)
    heads = [f"{name}\n{side}" for name in ("nDCG", "hit") for side in ("base", "cand.", "delta")]
    print_table(console, ["target"], heads, rows)


def _headline(comparison: Comparison, console: Console) -> None:
    head = comparison.headline
    line = Text(comparison.verdict.upper(), style=_STYLES[comparison.verdict])
    if comparison.shared_only:
        line.append(" (shared queries only)")
    line.append(
        f"  {head.metric}@{head.k} {numbers.mean(head.base)} -> {numbers.mean(head.candidate)} "
        f"({numbers.delta(head.delta)})",
        style="bold",
    )
    apart = "\n" if comparison.shared_only else "  "
    line.append(f"{apart}{head.level} level, target {comparison.target}, exact", style="not bold")
    console.print(line)
    same = head.counted - head.wins - head.losses
    moves = (
        f"better {head.wins}, worse {head.losses}, the same {same}; {head.counted} of {head.of} "
        f"measured, {comparison.clusters} clusters, {comparison.population.name}"
    )
    facts(
        console,
        [
            ("queries", moves),
            *_over_all(comparison),
            ("base", comparison.base.name),
            ("candidate", comparison.candidate.name),
            *(("changed", shown(difference)) for difference in comparison.changed),
        ],
    )


def _over_all(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The headline over all measurable queries, where some lists are shorter than its cut-off."""
    head, padded, floor = comparison.headline, comparison.padded, comparison.floor
    if floor is not None:
        base, candidate, both = _own_counts(head)
        yield "counted", f"{base} in the base, {candidate} in the candidate, {both} in both"
    if padded is not None and min(head.base_counted, head.candidate_counted) < padded.of:
        yield "padded", f"{_means(padded)} over all {padded.of}, missing ranks counted as misses"
    if floor is not None:
        short = f"a list shorter than {floor.k} scores 0, whatever it holds"
        yield "floor", f"{_means(floor)} over all {floor.of}, {short}"


def _means(row: Delta | PaddedDelta) -> str:
    means = f"{numbers.mean(row.base)} -> {numbers.mean(row.candidate)}"
    return f"{means} ({numbers.delta(row.delta)})"


def _level(comparison: Comparison, level: Level, console: Console) -> None:
    grid = deltas_at(comparison, level)
    shared = comparison.shared_only
    heading(
        console,
        f"{level} level (means over both; n: found k distinct {level}s, of {grid[0][0].of})"
        if shared
        else f"{level} level (n/N: queries that found k distinct {level}s, of all)",
    )
    metrics = [column_head(d.metric) for d in grid[0]]
    table = numeric_table(["k", ""], [*metrics, "n" if shared else "n/N"])
    for row in grid:
        counts = _three_counts(row[0]) if shared else _one_count(row[0])
        table.add_row(str(row[0].k), "base", *(numbers.mean(d.base) for d in row), counts[0])
        table.add_row("", "cand", *(numbers.mean(d.candidate) for d in row), counts[1])
        table.add_row("", "delta", *(_delta(d) for d in row), counts[2])
    console.print(table)


def _one_count(delta: Delta) -> tuple[str, str, str]:
    return numbers.share(delta.counted, delta.of), "", ""


def _three_counts(delta: Delta) -> tuple[str, str, str]:
    """Who counts in the base, in the candidate, and in both, which is what all means are over."""
    base, candidate, both = _own_counts(delta)
    return f"{base} base", f"{candidate} cand", f"{both} both"


def _delta(delta: Delta) -> Text:
    style = "green" if delta.delta > 0 else ("red" if delta.delta < 0 else "dim")
    return Text(numbers.delta(delta.delta), style=style)


def _categories(comparison: Comparison, console: Console) -> None:
    head = comparison.headline
    heading(console, f"{head.metric}@{head.k}, {head.level} level, by category")
    counts = ["n\nbase", "n\ncand", "n\nboth", "of"] if comparison.shared_only else ["n/N"]
    table = numeric_table(["category"], ["base", "cand", "delta", "better", "worse", *counts])
    for d in category_rows(comparison):
        table.add_row(
            Text(printable(d.slice, _LONGEST_NAME)),
            numbers.mean(d.base),
            numbers.mean(d.candidate),
            _delta(d),
            str(d.wins),
            str(d.losses),
            *(
                (*_own_counts(d), str(d.of))
                if comparison.shared_only
                else (numbers.share(d.counted, d.of),)
            ),
        )
    mean = macro_of(comparison)
    if mean is not None:
        table.add_row(
            f"macro mean of {mean.categories}",
            numbers.mean(mean.base),
            numbers.mean(mean.candidate),
            numbers.delta(mean.delta),
            *(("", "", *_own_counts(mean)) if comparison.shared_only else ()),
        )
    console.print(table)


def _own_counts(row: Delta | MacroDelta) -> tuple[str, str, str]:
    return str(row.base_counted), str(row.candidate_counted), str(row.counted)


def _queries(
    moves: list[ChangedQuery], comparison: Comparison, console: Console, most: int | None
) -> None:
    heading(console, f"queries that moved ({len(moves)})")
    facts(console, [(q.headline or "", _query(q, comparison)) for q in moves[:most]])
    hidden = len(moves) - len(moves[:most])
    if hidden:
        console.print(f"... and {hidden} more: --all-queries")


def _query(query: ChangedQuery, comparison: Comparison) -> str:
    head = comparison.headline
    base, candidate = query.changes[head.level][f"{head.metric}@{head.k}"]
    return (
        f"{printable(query.instance, _LONGEST_NAME)} #{query.query} "
        f"[{printable(query.category, _LONGEST_NAME)}] {base:.2g} -> {candidate:.2g} "
        f"{printable(query.text, _LONGEST_TEXT)}"
    )


def _facts(comparison: Comparison) -> Iterator[tuple[str, str]]:
    corpus = comparison.corpus
    yield "corpus", f"{corpus['name']} {corpus['version']} (sha256 {corpus['sha256'][:12]})"
    yield "population", numbers.population(comparison.population, comparison.clusters)
    yield "not measured", numbers.counts(comparison.population.excluded)
    for gone in comparison.omitted:
        depth = "" if gone.k is None else f" k={gone.k}"
        yield "left out", f"{gone.level} level{depth}: {gone.reason}"
    for name, run in (("base", comparison.base), ("cand", comparison.candidate)):
        yield f"{name} context", numbers.context(run.context)
        yield f"{name} lost", numbers.losses(run)
    for note in (*comparison.corpus_notes, *comparison.notes):
        yield "note", note
